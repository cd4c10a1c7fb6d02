package provider

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

const (
	markedPassword = "M4rked/Pa$$+w%rd-0123456789"
	markedToken    = "M4rkedT0ken-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// badPlace is a remote that cannot be read, or has nothing of what is asked for,
// its credentials, and a part of the error that it must come to.
type badPlace struct {
	url    string
	secret map[string]string
	says   string
	ask    string // the selector, branch = "main" if empty
}

func (p badPlace) selector() string {
	if p.ask == "" {
		return `branch = "main"`
	}
	return p.ask
}

var (
	basicSecret  = map[string]string{"username": "acme", "password": markedPassword}
	bearerSecret = map[string]string{"bearerToken": markedToken}
)

// sayBack answers with what it was given, in the forms in which a server has
// it: as it came, and decoded.
func sayBack(answer func(said string) http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		header := r.Header.Get("Authorization")
		_, password, _ := r.BasicAuth()
		answer(header+" "+password+" "+url.QueryEscape(password)).ServeHTTP(w, r)
	})
}

func status(code int) func(string) http.Handler {
	return func(said string) http.Handler { return gittest.Status(code, said) }
}

// badPlaces has one of each kind of error that a reading with credentials can
// come to.
func badPlaces(t *testing.T) map[string]badPlace {
	t.Helper()
	places := placesThatAnswer(t)
	for _, more := range []map[string]badPlace{placesWithoutTheRef(t), placesBehindTLS(t), placesOverSSH(t), placesOfAnApp(t)} {
		maps.Copy(places, more)
	}
	return places
}

// placesThatAnswer say back what they were given, in every way to refuse.
func placesThatAnswer(t *testing.T) map[string]badPlace {
	t.Helper()
	web := func(h http.Handler, secret map[string]string, says string) badPlace {
		return badPlace{url: gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git", secret: secret, says: says}
	}
	result := func(lines ...string) func(string) http.Handler {
		return func(said string) http.Handler {
			body := strings.ReplaceAll(string(gittest.PktLines(lines...)), "SAID", said)
			return gittest.Instead(gittest.IsPost, gittest.Answer(gittest.ResultType, []byte(body)))(gittest.Status(404, said))
		}
	}
	closed := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(401, "no", "WWW-Authenticate", `Basic realm="x"`)})
	broken := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		conn, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			return
		}
		_, password, _ := r.BasicAuth()
		fmt.Fprintf(conn, "HTTP/1.1 200 OK\r\nContent-Length: %s%s\r\n\r\n", strings.Repeat("x", 212), password)
		_ = conn.Close()
	})
	endless := gittest.HTTPSteps(gittest.ResultType, gittest.Endless(gittest.Pkt(commitMain+" refs/heads/x\n")))
	return map[string]badPlace{
		"401":        web(sayBack(status(401)), basicSecret, "401"),
		"401_bearer": {url: closed.URL + "/b.git", secret: bearerSecret, says: "it wants Basic"},
		"403":        web(sayBack(status(403)), bearerSecret, "403"),
		"404":        web(sayBack(status(404)), basicSecret, "404"),
		"429":        web(sayBack(status(429)), basicSecret, "429"),
		"500":        web(sayBack(status(500)), basicSecret, "500"),
		"407":        web(sayBack(status(407)), basicSecret, "407"),
		"redirected": web(gittest.RedirectBase(302, strings.Replace(closed.URL, "127.0.0.1", "localhost", 1)), basicSecret, "withheld"),
		"login":      web(sayBack(func(said string) http.Handler { return gittest.Redirect(302, "/login/"+url.PathEscape(said)) }), basicSecret, "login page"),
		"loop":       web(gittest.RedirectLoop(302), bearerSecret, "more than 20 times"),
		"page":       web(sayBack(gittest.HTML), basicSecret, "web page"),
		"err_packet": web(sayBack(func(said string) http.Handler {
			return gittest.Answer(gittest.ResultType, gittest.PktLines("ERR "+said))
		}), basicSecret, "refused"),
		"bad_line":  web(sayBack(result("SAID")), basicSecret, "is no ref of a"),
		"bad_http":  web(broken, basicSecret, "bad Content-Length"),
		"too_large": web(endless, bearerSecret, "is larger than the allowed"),
		"silent":    web(gittest.Silence(), basicSecret, "ran out"),
		"reset":     web(gittest.ResetConnection(), bearerSecret, "connection broke"),
	}
}

// placesWithoutTheRef let the credentials in.
func placesWithoutTheRef(t *testing.T) map[string]badPlace {
	t.Helper()
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{User: "acme", Password: markedPassword})
	at := func(repo, ask, says string) badPlace {
		return badPlace{url: s.URL + "/" + repo, secret: basicSecret, ask: ask, says: says}
	}
	return map[string]badPlace{
		"no_ref":   at("a.git", `tag = "v9"`, "refs/tags/v9"),
		"no_match": at("s.git", `semver = ">=99"`, "no tag"),
		"empty":    at("e.git", `branch = "main"`, "is empty"),
		"no_head":  at("u.git", `ref = "HEAD"`, "no HEAD"),
	}
}

func placesBehindTLS(t *testing.T) map[string]badPlace {
	t.Helper()
	private := gittest.ServeHTTP(t, t.TempDir(), gittest.HTTPOptions{TLS: &gittest.TLSOptions{}})
	mutual := gittest.ServeHTTP(t, t.TempDir(), gittest.HTTPOptions{TLS: &gittest.TLSOptions{ClientCert: true}})
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := ca.Issue(gittest.CertOptions{Client: true})
	if err != nil {
		t.Fatal(err)
	}
	return map[string]badPlace{
		"unknown_ca":  {url: private.URL + "/a.git", secret: basicSecret, says: "not trusted"},
		"client_cert": {url: mutual.URL + "/a.git", secret: map[string]string{"ca.crt": mutual.CA.PEM, "tls.crt": stranger.Chain, "tls.key": stranger.Key}, says: "tls.crt and tls.key"},
		"pair":        {url: mutual.URL + "/b.git", secret: map[string]string{"ca.crt": mutual.CA.PEM, "tls.crt": mutual.CA.PEM, "tls.key": stranger.Key}, says: "do not belong together"},
	}
}

func placesOverSSH(t *testing.T) map[string]badPlace {
	t.Helper()
	sshd := gittest.ServeSSH(t, gittest.Repos(t), gittest.SSHOptions{})
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	encrypted, err := key.Encrypted(markedPassword)
	if err != nil {
		t.Fatal(err)
	}
	identity := func(identity, password, knownHosts string) map[string]string {
		return map[string]string{"identity": identity, "password": password, "known_hosts": knownHosts}
	}
	known, own := sshd.KnownHosts(), key.KnownHost(sshd.Addr())
	// Paths tell the entries for one server apart.
	at := func(repo string, secret map[string]string, says string) badPlace {
		return badPlace{url: sshd.URL(repo), secret: secret, says: says}
	}
	return map[string]badPlace{
		"ssh_refused": at("a.git", identity(encrypted, markedPassword, known), "refused the login"),
		"ssh_phrase":  at("s.git", identity(encrypted, markedPassword+"x", known), "does not match"),
		"ssh_damaged": at("e.git", identity(strings.ReplaceAll(key.Private, "\n", " "), markedPassword, known), "line breaks are missing"),
		"ssh_host":    at("x.git", identity(key.Private, "", own), "showed the host key"),
		"ssh_unknown": at("u.git", identity(key.Private, "", strings.Replace(own, "127.0.0.1", "git.example.com", 1)), "has no entry for"),
		"ssh_revoked": at("d.git", identity(key.Private, "", "@revoked * "+sshd.HostKeys[0].Public), "is revoked"),
		"ssh_known":   at("g.git", identity(key.Private, markedPassword, markedPassword), "known_hosts: line 1"),
		"ssh_missing": at("h.git", map[string]string{"username": "acme", "password": markedPassword}, "lacks identity"),
		"ssh_gone":    at("gone.git", identity(sshd.Client.Private, markedPassword, known), "does not appear to be a git repository"),
	}
}

// placesOfAnApp: the API says back the App's JWT, or gives a token that the git
// server says back.
func placesOfAnApp(t *testing.T) map[string]badPlace {
	t.Helper()
	rsa := gittest.MakeSSHKey(t, gittest.RSA)
	appKey, err := rsa.Legacy("")
	if err != nil {
		t.Fatal(err)
	}
	app := func(answer http.HandlerFunc) map[string]string {
		api := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: answer})
		return map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": appKey, "githubAppBaseURL": api.URL}
	}
	refuses := app(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":%q}`, r.Header.Get("Authorization"))
	})
	mints := app(func(w http.ResponseWriter, _ *http.Request) {
		w.WriteHeader(http.StatusCreated)
		fmt.Fprintf(w, `{"token":%q,"expires_at":"2099-01-01T00:00:00Z"}`, markedToken)
	})
	echo := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: sayBack(status(404))})
	return map[string]badPlace{
		"app":       {url: echo.URL + "/s.git", secret: refuses, says: "GitHub App 1"},
		"app_token": {url: echo.URL + "/a.git", secret: mints, says: "GitHub App 1 (installation 2)"},
		"app_ssh":   {url: "ssh://git@git.example.invalid/a.git", secret: mints, says: "works over https only"},
	}
}
