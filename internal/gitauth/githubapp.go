package gitauth

import (
	"context"
	"crypto/rsa"
	"crypto/tls"
	"crypto/x509"
	"encoding/pem"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const (
	githubAPI = "https://api.github.com"
	// tokenUser is the user name that GitHub wants beside an installation token.
	tokenUser = "x-access-token"
	// renewBefore is how long before its end a token is replaced: longer than a
	// reading takes with all its retries.
	renewBefore = 5 * time.Minute
	// leastLife is how long a token is used however early it ends by our clock,
	// so that a wrong clock does not mint one for each reading.
	leastLife = time.Minute
)

// app mints installation tokens for a GitHub App. One serves all readings that
// use the same App; no token outlives the process.
type app struct {
	id           string
	installation string // "" to look it up by owner
	owner        string
	key          *rsa.PrivateKey
	base         string // without a trailing slash
	client       *http.Client
	now          func() time.Time

	token shared[appToken]

	mu     sync.Mutex
	minted []string     // all tokens of this run, to be hidden
	dead   *fault.Error // GitHub's final word: asking again would not change it
}

// appToken is an installation token.
type appToken struct {
	value  string
	useBy  time.Time
	second bool // minted because a server refused the one before
}

// sharedApps holds the Apps of a Keychain: entries with the same App and trust
// share one, and thus its token.
type sharedApps struct{ byID sync.Map }

// get returns the App of e. t is the secret's TLS material, which counts for the
// API too. Errors are problems.
func (s *sharedApps) get(o Options, e *entry, t *TLS) (*app, error) {
	made, err := newApp(o, e, t)
	if err != nil {
		return nil, err
	}
	kept, _ := s.byID.LoadOrStore(appID(e.Secret), made)
	shared, _ := kept.(*app)
	return shared, nil
}

// appID tells Apps apart; "" when secret has none.
func appID(secret map[string]string) string {
	if len(present(secret, appKeys)) == 0 {
		return ""
	}
	var parts []string
	for _, key := range append([]string{keyTLSCert, keyTLSKey, keyCACert, keyCAFile}, appKeys...) {
		parts = append(parts, secret[key])
	}
	return opaqueID("app", parts...)
}

func newApp(o Options, e *entry, t *TLS) (*app, error) {
	a := &app{id: e.Secret[keyAppID], installation: e.Secret[keyAppInstallationID], owner: e.Secret[keyAppInstallationOwner], now: o.Now}
	for key, number := range map[string]string{keyAppID: a.id, keyAppInstallationID: a.installation} {
		if strings.Trim(number, "0123456789") != "" {
			return nil, &problem{key: key, what: "is not a number", advice: "GitHub shows it on the App's and the installation's settings page; it has digits only and no line break."}
		}
	}
	if a.owner != strings.TrimSpace(a.owner) {
		return nil, &problem{key: keyAppInstallationOwner, what: "begins or ends with white space", advice: "Take it off with trimspace(…)."}
	}
	var err error
	if a.key, err = parseAppKey(e.Secret[keyAppPrivateKey]); err != nil {
		return nil, err
	}
	if a.base, err = parseAppBase(e.Secret[keyAppBaseURL], e.AllowHTTP); err != nil {
		return nil, err
	}
	config := &tls.Config{MinVersion: tls.VersionTLS12}
	if t != nil {
		config.RootCAs, config.Certificates = t.Roots, t.Certificates
	}
	a.client = &http.Client{
		// One or two requests an hour: no connection is worth keeping.
		Transport: &http.Transport{Proxy: o.Proxy, TLSClientConfig: config, DisableKeepAlives: true, ForceAttemptHTTP2: true},
		// A redirect would carry the App's JWT elsewhere.
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	return a, nil
}

// parseAppKey reads an RSA key in PKCS#1 (as GitHub gives it) or PKCS#8.
func parseAppKey(text string) (*rsa.PrivateKey, error) {
	wrong := func(what, advice string) error { return &problem{key: keyAppPrivateKey, what: what, advice: advice} }
	text = normalize(text)
	block, _ := pem.Decode([]byte(text))
	if block == nil {
		if what, advice := pemDamage(text); what != "" {
			return nil, wrong(what, advice)
		}
		return nil, wrong("is not a PEM key", "Give the .pem file that GitHub made for the App.")
	}
	if key, err := x509.ParsePKCS1PrivateKey(block.Bytes); err == nil {
		return key, nil
	}
	if key, err := x509.ParsePKCS8PrivateKey(block.Bytes); err == nil {
		if rsaKey, ok := key.(*rsa.PrivateKey); ok {
			return rsaKey, nil
		}
	}
	return nil, wrong("is not an unencrypted RSA private key", "Give the .pem file that GitHub made for the App, as PKCS#1 or PKCS#8.")
}

// parseAppBase checks the address of the API, which gets the App's JWT.
func parseAppBase(text string, allowHTTP bool) (string, error) {
	if text == "" {
		return githubAPI, nil
	}
	wrong := func(what string) error {
		return &problem{key: keyAppBaseURL, what: what, advice: "For a GitHub Enterprise Server write https://github.example.com/api/v3."}
	}
	u, err := url.Parse(text)
	switch {
	case err != nil, u.Host == "", u.Opaque != "", u.Scheme != "https" && u.Scheme != "http":
		return "", wrong("is not an https URL")
	case u.User != nil, u.RawQuery != "", u.Fragment != "":
		return "", wrong("has a user, a query or a fragment")
	case u.Scheme == "http" && !allowHTTP && !isLoopback(u.Hostname()):
		return "", wrong("is plain http, and the token would come over it for anyone to read")
	}
	return strings.TrimRight(text, "/"), nil
}

// String names the App in messages: "GitHub App 12 (installation 34)".
func (a *app) String() string {
	if a.installation != "" {
		return fmt.Sprintf("GitHub App %s (installation %s)", a.id, a.installation)
	}
	return fmt.Sprintf("GitHub App %s (installed on %q)", a.id, a.owner)
}

func (a *app) scheme() string { return "Basic" }

func (a *app) header(ctx context.Context) (string, error) {
	t, err := a.fresh(ctx, "")
	if err != nil {
		return "", err
	}
	return t.header(), nil
}

// renew mints another token after a server refused a header: once. If the
// second one is refused too, the token is not what is wrong.
func (a *app) renew(ctx context.Context, rejected string) (bool, error) {
	if t, ok := a.token.peek(); ok && t.header() == rejected && t.second {
		return false, nil
	}
	if _, err := a.fresh(ctx, rejected); err != nil {
		return false, err
	}
	return true, nil
}

// fresh returns a token whose header is not rejected and that will last.
func (a *app) fresh(ctx context.Context, rejected string) (appToken, error) {
	return a.token.get(ctx,
		func(t appToken) bool { return a.now().Before(t.useBy) && t.header() != rejected },
		func(ctx context.Context) (appToken, error) {
			if err := a.refused(); err != nil {
				return appToken{}, err
			}
			t, err := a.mint(ctx)
			t.second = rejected != ""
			return t, a.remember(t, err)
		})
}

func (t appToken) header() string { return basic(tokenUser, t.value) }

func (a *app) refused() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.dead == nil {
		return nil
	}
	return a.dead
}

// remember keeps what the rest of the run needs: tokens to hide, and a refusal
// that is final, so that a hundred readings do not ask a hundred times.
func (a *app) remember(t appToken, err error) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if t.value != "" {
		a.minted = append(a.minted, t.value)
	}
	switch f := asFault(err); {
	case f == nil:
	case f.Kind == fault.Authentication, f.Kind == fault.Forbidden:
		a.dead = f
	}
	return err
}

func (a *app) secrets() []login {
	a.mu.Lock()
	defer a.mu.Unlock()
	var all []login
	for _, token := range a.minted {
		all = append(all, login{tokenUser, token})
	}
	return all
}
