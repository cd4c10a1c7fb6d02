package field

import (
	"crypto/rsa"
	"crypto/x509"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// gitHub is an API that mints tokens for App 12, installed as 34 on acme, and
// a git server that takes the tokens; both have certificates of a private CA.
type gitHub struct {
	api, web *gittest.HTTP
	secret   map[string]string
	pkcs8    string
	public   *rsa.PublicKey

	mu     sync.Mutex
	passed time.Duration        // what the tests have let go by
	good   map[string]time.Time // tokens, and when they end
	minted int
	all    []string
}

func newGitHub(t *testing.T) *gitHub {
	t.Helper()
	key, err := gittest.ClientKey(gittest.RSA)
	if err != nil {
		t.Fatal(err)
	}
	raw, err := ssh.ParseRawPrivateKey([]byte(key.Private))
	if err != nil {
		t.Fatal(err)
	}
	private := raw.(*rsa.PrivateKey)
	pkcs1, err := key.Legacy("")
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	ca := newCA(t)
	g := &gitHub{public: &private.PublicKey, good: map[string]time.Time{},
		pkcs8: string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der}))}
	g.api = gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca}, Handler: http.HandlerFunc(g.answer)})
	g.web = gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca}, Middleware: g.guard})
	g.secret = map[string]string{"githubAppID": "12", "githubAppInstallationID": "34", "githubAppPrivateKey": pkcs1, "githubAppBaseURL": g.api.URL, "ca.crt": ca.PEM}
	return g
}

// answer is the API.
func (g *gitHub) answer(w http.ResponseWriter, r *http.Request) {
	say := func(status int, value any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value)
	}
	_, err := jwt.Parse(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), func(*jwt.Token) (any, error) { return g.public, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(g.clock), jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithIssuer("12"))
	switch {
	case err != nil:
		say(http.StatusUnauthorized, map[string]string{"message": "A JSON web token could not be decoded"})
	case r.URL.Path == "/orgs/acme/installation":
		say(http.StatusOK, map[string]int{"id": 34})
	case r.URL.Path == "/app/installations/34/access_tokens":
		g.mu.Lock()
		defer g.mu.Unlock()
		g.minted++
		token, end := fmt.Sprintf("ghs_t0kenOfTheApp%d", g.minted), g.time().Add(time.Hour)
		g.good[token], g.all = end, append(g.all, token)
		say(http.StatusCreated, map[string]any{"token": token, "expires_at": end})
	default:
		say(http.StatusNotFound, map[string]string{"message": "Not Found"})
	}
}

// guard is GitHub's git server: 401 for a bad token, 404 for what the App may
// not see.
func (g *gitHub) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		user, token, _ := r.BasicAuth()
		g.mu.Lock()
		end, ok := g.good[token]
		ok = ok && user == "x-access-token" && g.time().Before(end)
		g.mu.Unlock()
		switch {
		case !ok:
			w.Header().Set("WWW-Authenticate", `Basic realm="GitHub"`)
			http.Error(w, "Bad credentials", http.StatusUnauthorized)
		case strings.HasPrefix(r.URL.Path, "/s.git"):
			http.Error(w, "Repository not found.", http.StatusNotFound)
		default:
			next.ServeHTTP(w, r)
		}
	})
}

func (g *gitHub) clock() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.time()
}

// time is the server's time, while g is locked. It goes on by itself: rows run
// beside each other, and most clients have the real clock.
func (g *gitHub) time() time.Time { return time.Now().Add(g.passed) }

// pass lets time go by, or, with revoke, ends all tokens at once.
func (g *gitHub) pass(d time.Duration, revoke bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.passed += d
	if revoke {
		clear(g.good)
	}
}

// githubApps: minted once per run, renewed before the end and once on a 401.
func githubApps(t *testing.T) []row {
	g := newGitHub(t)
	url := g.web.URL + "/a.git"
	app := func(what string, kind fault.Kind, secret map[string]string, says ...string) row {
		return row{id: 35, what: what, url: url, secret: secret, kind: kind, says: says, hides: []string{"ghs_t0kenOfTheApp"}, alone: true}
	}
	wrongKey, err := gittest.NewSSHKey(gittest.RSA)
	if err != nil {
		t.Fatal(err)
	}
	wrong, err := wrongKey.Legacy("")
	if err != nil {
		t.Fatal(err)
	}
	hidden := app("a repository that the App cannot see", fault.NotFound, g.secret, "404", "GitHub App 12 (installation 34)", "may not see it")
	hidden.url = g.web.URL + "/s.git"
	overSSH := app("an ssh URL", fault.Credentials, g.secret, "works over https only")
	overSSH.url = "ssh://git@git.example.com/acme/app.git"
	owner := with(g.secret, "githubAppInstallationOwner", "acme")
	delete(owner, "githubAppInstallationID")
	noCA := with(g.secret)
	delete(noCA, "ca.crt")
	return []row{
		app("PKCS#1 key, API and git on a private CA", "", g.secret),
		app("PKCS#8 key", "", with(g.secret, "githubAppPrivateKey", g.pkcs8)),
		app("found by its owner", "", owner),
		hidden, overSSH,
		app("a stale installation", fault.Authentication, with(g.secret, "githubAppInstallationID", "99"), "GitHub App 12 has no installation 99"),
		app("an App that is not there", fault.Authentication, with(g.secret, "githubAppID", "13"), "401", "belong together"),
		app("another App's key", fault.Authentication, with(g.secret, "githubAppPrivateKey", wrong), "401", "belong together"),
		app("API on a private CA that is not given", fault.TLS, noCA, "not trusted", "ca.crt"),
		app("a key that is none", fault.Credentials, with(g.secret, "githubAppPrivateKey", "junk"), "githubAppPrivateKey"),
		newGitHub(t).run("100 readings mint once", 1, func(_ *gitHub, read func() error) error {
			var all sync.WaitGroup
			errs := make(chan error, 100)
			for range 100 {
				all.Go(func() { errs <- read() })
			}
			all.Wait()
			close(errs)
			for err := range errs {
				if err != nil {
					return err
				}
			}
			return nil
		}),
		newGitHub(t).run("renewed before it expires", 2, func(g *gitHub, read func() error) error {
			err := read()
			g.pass(56*time.Minute, false)
			return err
		}),
		newGitHub(t).run("renewed once on a 401", 2, func(g *gitHub, read func() error) error {
			err := read()
			g.pass(0, true)
			return err
		}),
	}
}

// run is a row in which more is done before the reading, by one provider with
// a clock of the test's own, and then mints must have been made.
func (g *gitHub) run(what string, mints int, before func(g *gitHub, read func() error) error) row {
	r := row{id: 35, what: what, url: g.web.URL + "/a.git", secret: g.secret, alone: true}
	r.ours = func(t *testing.T, _ *stack) (gitpoll.Observation, error) {
		s, err := newStack(t, r.config, r.entries(), gitauth.Options{Now: g.clock})
		if err != nil {
			return gitpoll.Observation{}, err
		}
		read := func() error {
			_, err := s.Observe(t.Context(), branchMain(r.url), reading.Want{Fresh: true}, true)
			return err
		}
		start := g.minted
		if err := before(g, read); err != nil {
			return gitpoll.Observation{}, err
		}
		o, err := s.Observe(t.Context(), branchMain(r.url), reading.Want{Fresh: true}, true)
		if got := g.minted - start; got != mints {
			t.Errorf("%d tokens were minted, want %d", got, mints)
		}
		gittest.AssertNoSecrets(t, "log", []byte(s.logged()), "ghs_t0kenOfTheApp")
		return o, err
	}
	return r
}
