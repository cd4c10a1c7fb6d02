package gitauth

import (
	"context"
	"crypto/rsa"
	"encoding/json"
	"encoding/pem"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/golang-jwt/jwt/v5"
	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// fakeGitHub is the part of the API that an App needs. Its App is 12, installed
// as 34 on the organisation acme and the user jo.
type fakeGitHub struct {
	*httptest.Server
	ca     string
	public *rsa.PublicKey

	mu     sync.Mutex
	now    time.Time
	count  int                                               // of all requests
	asked  []string                                          // method and path of each request
	answer func(w http.ResponseWriter, r *http.Request) bool // true: it answered
}

func newFakeGitHub(t testing.TB, key sshKey) *fakeGitHub {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey([]byte(key.private))
	if err != nil {
		t.Fatal(err)
	}
	g := &fakeGitHub{now: time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC), public: &raw.(*rsa.PrivateKey).PublicKey}
	g.Server = httptest.NewUnstartedServer(http.HandlerFunc(g.serve))
	g.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // refused handshakes are tested
	g.StartTLS()
	t.Cleanup(g.Close)
	g.ca = string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: g.Certificate().Raw}))
	return g
}

func (g *fakeGitHub) serve(w http.ResponseWriter, r *http.Request) {
	g.mu.Lock()
	g.asked = append(g.asked, r.Method+" "+strings.TrimPrefix(r.URL.Path, "/api/v3"))
	g.count++
	n, now, answer := g.count, g.now, g.answer
	g.mu.Unlock()
	if answer != nil && answer(w, r) {
		return
	}
	say := func(status int, value any) {
		w.WriteHeader(status)
		_ = json.NewEncoder(w).Encode(value)
	}
	token, err := jwt.ParseWithClaims(strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "), &jwt.RegisteredClaims{},
		func(*jwt.Token) (any, error) { return g.public, nil },
		jwt.WithValidMethods([]string{"RS256"}), jwt.WithTimeFunc(func() time.Time { return now }), jwt.WithIssuedAt(), jwt.WithExpirationRequired(), jwt.WithIssuer("12"))
	if err != nil {
		say(401, map[string]string{"message": "A JSON web token could not be decoded"})
		return
	}
	claims := token.Claims.(*jwt.RegisteredClaims)
	if claims.ExpiresAt.Sub(claims.IssuedAt.Time) > 10*time.Minute {
		say(401, map[string]string{"message": "'Expiration time' claim ('exp') is too far in the future"})
		return
	}
	switch strings.TrimPrefix(r.URL.Path, "/api/v3") {
	case "/orgs/acme/installation", "/users/jo/installation":
		say(200, map[string]any{"id": 34})
	case "/app/installations/34/access_tokens":
		say(201, map[string]any{"token": fmt.Sprintf("ghs_t0ken%d", n), "expires_at": now.Add(time.Hour)})
	default:
		say(404, map[string]string{"message": "Not Found"})
	}
}

// requests returns what was asked since the last call.
func (g *fakeGitHub) requests() string {
	g.mu.Lock()
	defer g.mu.Unlock()
	all := strings.Join(g.asked, ", ")
	g.asked = nil
	return all
}

func (g *fakeGitHub) clock() time.Time {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.now
}

func (g *fakeGitHub) pass(d time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.now = g.now.Add(d)
}

func (g *fakeGitHub) instead(answer func(w http.ResponseWriter, r *http.Request) bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.answer = answer
}

func (g *fakeGitHub) status(status int, header, message string) {
	g.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		if name, value, ok := strings.Cut(header, ": "); ok {
			w.Header().Set(name, value)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"message": %q}`, message)
		return true
	})
}

func (g *fakeGitHub) secret(key sshKey) map[string]string {
	return map[string]string{keyAppID: "12", keyAppInstallationID: "34", keyAppPrivateKey: key.private, keyAppBaseURL: g.URL + "/api/v3/", keyCACert: g.ca}
}

func appRSAKey(t testing.TB) sshKey {
	return keygen(t, "rsa pem", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PEM")
}

// app returns the Auth of one entry with secret.
func (g *fakeGitHub) app(t testing.TB, secret map[string]string) *Auth {
	t.Helper()
	a, err := keychain(t, Options{Now: g.clock}, Entry{URL: "https://git.example.com", Secret: secret}).For(remote(t, "https://git.example.com/acme/r"))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

const mintRequest = "POST /app/installations/34/access_tokens"

func TestAppMintsOncePerRun(t *testing.T) {
	key := appRSAKey(t)
	g := newFakeGitHub(t, key)
	secret := g.secret(key)
	k := keychain(t, Options{Now: g.clock}, Entry{URL: "https://git.example.com", Secret: secret}, Entry{URL: "https://git.example.org", Secret: secret})
	var wg sync.WaitGroup
	for i := range 40 {
		wg.Go(func() {
			a, err := k.For(remote(t, []string{"https://git.example.com/acme/r", "https://me@git.example.org/acme/s"}[i%2]))
			if err != nil {
				t.Error(err)
				return
			}
			if h, err := a.Header(t.Context()); err != nil || h != basic("x-access-token", "ghs_t0ken1") {
				t.Errorf("header %q, %v", h, err)
			}
		})
	}
	wg.Wait()
	if got := g.requests(); got != mintRequest {
		t.Errorf("requests: %s", got)
	}
	a, _ := k.For(remote(t, "https://git.example.com/acme/r"))
	if want := `credentials[0] (url "https://git.example.com"), GitHub App 12 (installation 34)`; a.Source != want || a.Scheme() != "Basic" {
		t.Errorf("source %q, scheme %q", a.Source, a.Scheme())
	}
	if got := a.Scrub("ghs_t0ken1 " + basic(tokenUser, "ghs_t0ken1")); strings.Contains(got, "t0ken") || strings.Contains(got, header(t, a)) {
		t.Errorf("Scrub left %q", got)
	}
}

func TestAppRenews(t *testing.T) {
	key := appRSAKey(t)
	g := newFakeGitHub(t, key)
	a := g.app(t, g.secret(key))
	first := header(t, a)
	g.pass(54 * time.Minute)
	if header(t, a) != first {
		t.Error("renewed too early")
	}
	g.pass(2 * time.Minute)
	second := header(t, a)
	if second == first {
		t.Error("not renewed before its end")
	}
	if got := g.requests(); got != mintRequest+", "+mintRequest {
		t.Errorf("requests: %s", got)
	}

	// A hundred readings that were refused cause one new token.
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			if renewed, err := a.Renew(t.Context(), second); !renewed || err != nil {
				t.Errorf("Renew: %t, %v", renewed, err)
			}
		})
	}
	wg.Wait()
	third := header(t, a)
	if third == second {
		t.Error("the refused header is still in use")
	}
	// The new one is refused too: the token is not to blame.
	if renewed, err := a.Renew(t.Context(), third); renewed || err != nil {
		t.Errorf("second Renew: %t, %v", renewed, err)
	}
	if got := g.requests(); got != mintRequest {
		t.Errorf("requests: %s", got)
	}
	g.pass(time.Hour)
	if header(t, a) == third {
		t.Error("not renewed after its end")
	}
	for _, h := range []string{first, second, third} {
		if a.Scrub(h) == h {
			t.Errorf("%q is not hidden any more", h)
		}
	}
}

func TestAppFindsItsInstallation(t *testing.T) {
	key := keygen(t, "rsa pkcs8", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PKCS8")
	g := newFakeGitHub(t, key)
	secret := g.secret(key)
	delete(secret, keyAppInstallationID)
	for owner, want := range map[string]string{
		"acme": "GET /orgs/acme/installation, " + mintRequest,
		"jo":   "GET /orgs/jo/installation, GET /users/jo/installation, " + mintRequest,
	} {
		secret[keyAppInstallationOwner] = owner
		a := g.app(t, secret)
		header(t, a)
		if got := g.requests(); got != want {
			t.Errorf("%s: requests %s", owner, got)
		}
		if !strings.Contains(a.Source, fmt.Sprintf("GitHub App 12 (installed on %q)", owner)) {
			t.Errorf("source %q", a.Source)
		}
	}
	secret[keyAppInstallationOwner] = "no/body"
	_, err := g.app(t, secret).Header(t.Context())
	wantFault(t, err, fault.Authentication, `GitHub App 12 is not installed on "no/body"`, "githubAppInstallationOwner")
}

func TestAppErrors(t *testing.T) {
	key := appRSAKey(t)
	wrongKey := rsaKey(t)
	for name, tc := range map[string]struct {
		spoil func(g *fakeGitHub, secret map[string]string)
		kind  fault.Kind
		want  []string
		final bool // not asked again
		check func(f *fault.Error) bool
	}{
		"wrong key": {func(_ *fakeGitHub, s map[string]string) {
			s[keyAppPrivateKey] = pkcs1(t, wrongKey)
		}, fault.Authentication, []string{"401", "githubAppPrivateKey", "could not be decoded"}, true, nil},
		"wrong app": {func(_ *fakeGitHub, s map[string]string) { s[keyAppID] = "13" }, fault.Authentication, []string{"GitHub App 13", "401", "clock"}, true, nil},
		"wrong installation": {func(_ *fakeGitHub, s map[string]string) { s[keyAppInstallationID] = "35" },
			fault.Authentication, []string{"GitHub App 12 has no installation 35"}, true, func(f *fault.Error) bool { return f.Status == 404 }},
		"suspended": {func(g *fakeGitHub, _ map[string]string) { g.status(403, "", "This installation has been suspended") },
			fault.Forbidden, []string{"suspended"}, true, nil},
		"limited": {func(g *fakeGitHub, _ map[string]string) { g.status(429, "Retry-After: 7", "slow down") },
			fault.RateLimited, []string{"429", "slow down"}, false, func(f *fault.Error) bool { return f.Transient && f.RetryAfter == 7*time.Second }},
		"limited by 403": {func(g *fakeGitHub, _ map[string]string) { g.status(403, "X-RateLimit-Remaining: 0", "limit exceeded") },
			fault.RateLimited, nil, false, func(f *fault.Error) bool { return f.Transient }},
		"down":       {func(g *fakeGitHub, _ map[string]string) { g.status(502, "", "") }, fault.Unavailable, []string{"502"}, false, func(f *fault.Error) bool { return f.Transient && f.Status == 502 }},
		"a redirect": {func(g *fakeGitHub, _ map[string]string) { g.status(302, "Location: https://evil.example.com/", "") }, fault.Protocol, []string{"302"}, false, nil},
		"not JSON": {func(g *fakeGitHub, _ map[string]string) {
			g.instead(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, "<html>ghs_t0ken")
				return true
			})
		}, fault.Protocol, []string{"did not answer with JSON"}, false, nil},
		"no token": {func(g *fakeGitHub, _ map[string]string) {
			g.instead(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, `{}`)
				return true
			})
		}, fault.Protocol, []string{"without a usable token"}, false, nil},
		"a token of two lines": {func(g *fakeGitHub, _ map[string]string) {
			g.instead(func(w http.ResponseWriter, _ *http.Request) bool {
				w.WriteHeader(http.StatusCreated)
				fmt.Fprint(w, `{"token": "ghs_t0ken\nX: y"}`)
				return true
			})
		}, fault.Protocol, []string{"without a usable token"}, false, nil},
		"hangs up": {func(g *fakeGitHub, _ map[string]string) {
			g.instead(func(http.ResponseWriter, *http.Request) bool { panic(http.ErrAbortHandler) })
		}, fault.Unavailable, []string{"cannot be reached"}, false, func(f *fault.Error) bool { return f.Transient && f.HostWide }},
		"authority": {func(_ *fakeGitHub, s map[string]string) { delete(s, keyCACert) }, fault.TLS, []string{"not trusted", "ca.crt"}, false, func(f *fault.Error) bool { return f.HostWide }},
		"echoes": {func(g *fakeGitHub, _ map[string]string) {
			g.instead(func(w http.ResponseWriter, r *http.Request) bool {
				w.WriteHeader(http.StatusUnauthorized)
				fmt.Fprintf(w, `{"message": %q}`, "bad "+r.Header.Get("Authorization"))
				return true
			})
		}, fault.Authentication, []string{"bad Bearer ***"}, true, nil},
	} {
		t.Run(name, func(t *testing.T) {
			g := newFakeGitHub(t, key)
			secret := g.secret(key)
			tc.spoil(g, secret)
			a := g.app(t, secret)
			for range 3 {
				_, err := a.Header(t.Context())
				wantFault(t, err, tc.kind, append(tc.want, "GitHub App 1")...)
				f := asFault(err)
				if f.Asked != "" {
					t.Error("two callers share one error value")
				}
				if tc.check != nil && !tc.check(f) {
					t.Errorf("wrong fields in %+v", f)
				}
				if strings.Contains(err.Error(), "t0ken") || strings.Contains(err.Error(), "eyJ") {
					t.Errorf("error shows a token: %v", err)
				}
				f.Asked = "mine" // must not be seen by the next one
			}
			if n := strings.Count(g.requests(), "access_tokens"); tc.kind != fault.TLS && (n == 1) != tc.final {
				t.Errorf("%d requests, final: %t", n, tc.final)
			}
		})
	}
}

// pkcs1 rewrites an OpenSSH key as PEM.
func pkcs1(t testing.TB, key sshKey) string {
	t.Helper()
	file := write(t, key.private)
	run(t, "", "ssh-keygen", "-q", "-p", "-N", "", "-m", "PEM", "-f", file)
	return read(t, file)
}

func TestAppRefused(t *testing.T) {
	key := appRSAKey(t)
	for name, tc := range map[string]struct{ key, value, want string }{
		"id":             {keyAppID, "12\n", "githubAppID: is not a number"},
		"client id":      {keyAppID, "Iv1.abc", "githubAppID: is not a number"},
		"installation":   {keyAppInstallationID, "acme", "githubAppInstallationID: is not a number"},
		"a public key":   {keyAppPrivateKey, key.public, "githubAppPrivateKey: is not a PEM key"},
		"escaped":        {keyAppPrivateKey, strings.ReplaceAll(key.private, "\n", `\n`), "line breaks are missing"},
		"elliptic":       {keyAppPrivateKey, keygen(t, "ecdsa pem", "-t", "ecdsa", "-N", "", "-m", "PEM").private, "not an unencrypted RSA"},
		"encrypted":      {keyAppPrivateKey, keygen(t, "rsa pem secret", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "secret").private, "not an unencrypted RSA"},
		"no URL":         {keyAppBaseURL, "github.example.com", "githubAppBaseURL: is not an https URL"},
		"plain http":     {keyAppBaseURL, "http://github.example.com/api/v3", "plain http"},
		"with a user":    {keyAppBaseURL, "https://me:s3cr3t@github.example.com/api/v3", "has a user"},
		"with a query":   {keyAppBaseURL, "https://github.example.com/api/v3?s3cr3t", "has a user, a query"},
		"not a URL":      {keyAppBaseURL, "https://s3cr3t:%zz@h", "githubAppBaseURL: is not an https URL"},
		"junk authority": {keyCACert, "junk", "ca.crt: no certificate found"},
	} {
		t.Run(name, func(t *testing.T) {
			secret := map[string]string{keyAppID: "12", keyAppInstallationID: "34", keyAppPrivateKey: key.private}
			secret[tc.key] = tc.value
			_, err := authFor(t, "https://git.example.com/r", secret)
			wantFault(t, err, fault.Credentials, "credentials[0]", tc.want)
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Error(err)
			}
		})
	}
	secret := map[string]string{keyAppID: "12", keyAppInstallationOwner: "acme\n", keyAppPrivateKey: key.private}
	_, err := authFor(t, "https://git.example.com/r", secret)
	wantFault(t, err, fault.Credentials, "githubAppInstallationOwner", "white space")
	secret[keyAppInstallationOwner] = "acme"
	_, err = authFor(t, "http://git.example.com/r", secret)
	wantFault(t, err, fault.Credentials, "plain http")
	if _, err = authFor(t, "https://git.example.com/r", secret); err != nil {
		t.Errorf("GitHub's own address: %v", err)
	}
}

func TestAppContext(t *testing.T) {
	key := appRSAKey(t)
	g := newFakeGitHub(t, key)
	a := g.app(t, g.secret(key))
	entered := make(chan struct{}, 10)
	g.instead(func(_ http.ResponseWriter, r *http.Request) bool {
		entered <- struct{}{}
		<-r.Context().Done()
		panic(http.ErrAbortHandler) // or the answer could overtake the client's giving up
	})
	// One waits for the API, another for the first one's answer.
	first, cancelFirst := context.WithCancel(t.Context())
	firstErr := make(chan error, 1)
	go func() { _, err := a.Header(first); firstErr <- err }()
	<-entered
	short, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := a.Header(short)
	wantFault(t, err, fault.Timeout)
	// A third one waits and takes over when the first gives up.
	third := make(chan error, 1)
	go func() { _, err := a.Header(t.Context()); third <- err }()
	g.instead(nil)
	cancelFirst()
	if err := <-firstErr; fault.KindOf(err) != fault.Canceled {
		t.Errorf("first: %v", err)
	}
	if err := <-third; err != nil {
		t.Errorf("third: %v", err)
	}
}

func TestAppUsesTheProxy(t *testing.T) {
	key := appRSAKey(t)
	g := newFakeGitHub(t, key)
	var asked []string
	var mu sync.Mutex
	proxy := func(r *http.Request) (*url.URL, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, r.URL.Host)
		return nil, nil
	}
	a, err := keychain(t, Options{Now: g.clock, Proxy: proxy}, Entry{URL: "https://git.example.com", Secret: g.secret(key)}).For(remote(t, "https://git.example.com/r"))
	if err != nil {
		t.Fatal(err)
	}
	header(t, a)
	if len(asked) != 1 || "https://"+asked[0] != g.URL {
		t.Errorf("proxy was asked for %q", asked)
	}
}

func TestAppClockFarAhead(t *testing.T) {
	key := appRSAKey(t)
	g := newFakeGitHub(t, key)
	g.instead(func(w http.ResponseWriter, _ *http.Request) bool {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token": "ghs_x", "expires_at": %q}`, g.clock().Add(-time.Hour).Format(time.RFC3339))
		return true
	})
	a := g.app(t, g.secret(key))
	for range 5 {
		header(t, a)
	}
	if got := g.requests(); got != mintRequest {
		t.Errorf("requests: %s", got)
	}
}
