package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

const (
	markedPassword = "M4rked/Pa$$+w%rd-0123456789"
	markedToken    = "M4rkedT0ken-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

// badPlace is a remote that cannot be read, its credentials, and a part of the
// error that it must come to.
type badPlace struct {
	url    string
	secret map[string]string
	says   string
}

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
	root := gittest.Repos(t)
	basic, bearer := map[string]string{"username": "acme", "password": markedPassword}, map[string]string{"bearerToken": markedToken}
	web := func(h http.Handler, secret map[string]string, says string) badPlace {
		return badPlace{gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git", secret, says}
	}
	closed := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: "other"})
	private := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{}})
	mutual := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{ClientCert: true}})
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	stranger, err := ca.Issue(gittest.CertOptions{Client: true})
	if err != nil {
		t.Fatal(err)
	}
	sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	encrypted, err := key.Encrypted(markedPassword)
	if err != nil {
		t.Fatal(err)
	}
	identity := func(identity, password, knownHosts string) map[string]string {
		return map[string]string{"identity": identity, "password": password, "known_hosts": knownHosts}
	}
	// Prefixes tell the entries for one server apart.
	at := func(repo string) string { return sshd.URL(repo) }
	rsa := gittest.MakeSSHKey(t, gittest.RSA)
	appKey, err := rsa.Legacy("")
	if err != nil {
		t.Fatal(err)
	}
	api := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.WriteHeader(http.StatusUnauthorized)
		fmt.Fprintf(w, `{"message":%q}`, r.Header.Get("Authorization"))
	})})
	app := map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": appKey, "githubAppBaseURL": api.URL}
	return map[string]badPlace{
		"401":        web(sayBack(status(401)), basic, "401"),
		"401_bearer": {closed.URL + "/a.git", bearer, "it wants Basic"},
		"403":        web(sayBack(status(403)), bearer, "403"),
		"404":        web(sayBack(status(404)), basic, "404"),
		"500":        web(sayBack(status(500)), basic, "500"),
		"redirected": web(gittest.RedirectBase(302, strings.Replace(closed.URL, "127.0.0.1", "localhost", 1)), basic, "withheld"),
		"login":      web(sayBack(func(said string) http.Handler { return gittest.Redirect(302, "/login/"+url.PathEscape(said)) }), basic, "login page"),
		"page":       web(sayBack(gittest.HTML), basic, "web page"),
		"err_packet": web(sayBack(func(said string) http.Handler {
			return gittest.Answer(gittest.ResultType, gittest.PktLines("ERR "+said))
		}), basic, "refused"),
		"silent":      web(gittest.Silence(), basic, "ran out"),
		"unknown_ca":  {private.URL + "/a.git", basic, "not trusted"},
		"client_cert": {mutual.URL + "/a.git", map[string]string{"ca.crt": mutual.CA.PEM, "tls.crt": stranger.Chain, "tls.key": stranger.Key}, "tls.crt and tls.key"},
		"ssh_refused": {at("a.git"), identity(encrypted, markedPassword, sshd.KnownHosts()), "refused the login"},
		"ssh_phrase":  {at("s.git"), identity(encrypted, markedPassword+"x", sshd.KnownHosts()), "does not match"},
		"ssh_damaged": {at("e.git"), identity(strings.ReplaceAll(key.Private, "\n", " "), markedPassword, sshd.KnownHosts()), "line breaks are missing"},
		"ssh_host":    {at("x.git"), identity(key.Private, "", key.KnownHost(sshd.Addr())), "showed the host key"},
		"app":         {closed.URL + "/s.git", app, "GitHub App 1"},
	}
}

// TestI6_NoSecretOnErrorPaths takes the errors through the real provider: as
// recorded in the state, as diagnostics of data sources and pins, and as
// warnings of pins that are held.
func TestI6_NoSecretOnErrorPaths(t *testing.T) {
	places := badPlaces(t)
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	var credentials []map[string]any
	var recorded, failing strings.Builder
	secrets := []string{markedPassword, markedToken}
	for _, name := range slices.Sorted(maps.Keys(places)) {
		place := places[name]
		credentials = append(credentials, map[string]any{"url": place.url, "secret": place.secret})
		for _, key := range []string{"identity", "tls.key", "githubAppPrivateKey"} {
			if value := place.secret[key]; value != "" {
				secrets = append(secrets, value)
			}
		}
		fmt.Fprintf(&recorded, "data \"gitpin_ref\" %q {\n  url = %q\n  branch = \"main\"\n  on_error = \"record\"\n}\n", "r_"+name, place.url)
		fmt.Fprintf(&failing, "data \"gitpin_ref\" %q {\n  url = %q\n  branch = \"main\"\n}\nresource \"gitpin_pin\" %q {\n  url = %q\n  branch = \"main\"\n}\n", "d_"+name, place.url, "p_"+name, place.url)
	}
	raw, err := json.Marshal(credentials)
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "TF_VAR_credentials="+string(raw))
	const provider = `variable "credentials" {
  type      = list(object({ url = string, secret = map(string) }))
  sensitive = true
  ephemeral = true
}
provider "gitpin" {
  credentials = var.credentials
  timeout     = "3s"
  retry       = { max_attempts = 1 }
}
`
	var printed []string
	keep := func(r result) string { printed = append(printed, r.stdout, r.stderr); return r.all() }
	w.write(provider, recorded.String())
	keep(w.must(0, "plan", "-no-color", "-out=p"))
	keep(w.must(0, "show", "-json", "p"))
	keep(w.must(0, "apply", "-no-color", "p"))
	for name, place := range places {
		if got := fmt.Sprint(w.state("data.gitpin_ref.r_" + name)["error"]); !strings.Contains(got, place.says) {
			t.Errorf("%s: %q is not in: %s", name, place.says, got)
		}
	}
	w.write(provider, failing.String())
	all := keep(w.must(1, "plan", "-no-color"))
	for name, place := range places {
		if !strings.Contains(all, place.says) {
			t.Errorf("%s: %q is not in the diagnostics", name, place.says)
		}
	}
	for _, file := range []string{trace, filepath.Join(w.dir, "p"), filepath.Join(w.dir, "terraform.tfstate")} {
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		gittest.AssertNoSecrets(t, filepath.Base(file), data, secrets...)
	}
	gittest.AssertNoSecrets(t, "what was printed", []byte(strings.Join(printed, "\n")), secrets...)
}

// TestI6_NoSecretInConfigurationErrors: what is wrong is found before any
// request, and quoted by nobody.
func TestI6_NoSecretInConfigurationErrors(t *testing.T) {
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	const declare = "variable \"s\" {\n  type = string\n  sensitive = true\n  ephemeral = true\n}\n"
	const use = "data \"gitpin_ref\" \"d\" {\n  url = \"https://git.example.invalid/r\"\n  ref = \"HEAD\"\n}\n"
	w.env = append(w.env, "TF_VAR_s="+markedPassword)
	var printed []string
	for config, says := range map[string]string{
		`credentials = [{ url = "https://acme:${var.s}@git.example.invalid", secret = {} }]`:                            "credentials[0].url",
		`credentials = [{ url = "https://git.example.invalid/?t=${var.s}", secret = {} }]`:                              "credentials[0].url",
		`credentials = [{ url = "https://git.example.invalid", secret = { "${var.s}" = "x" } }]`:                        "not a key of a Flux Git secret",
		`credentials = [{ url = "https://git.example.invalid", secret = { passwrod = var.s } }]`:                        "password",
		`credentials = [{ url = "https://git.example.invalid", secret = { "tls.key" = var.s } }]`:                       "no tls.crt",
		`credentials = [{ url = "https://git.example.invalid", secret = { password = var.s } }]`:                        "no username",
		`credentials = [{ url = "https://git.example.invalid", secret = { "ca.crt" = var.s } }]`:                        "no certificate found",
		`credentials = [{ url = "https://git.example.invalid", secret = { username = "a", password = "${var.s}\n" } }]`: "line break",
		`proxy = { url = "http://acme:${var.s}@proxy.example.invalid:x" }`:                                              "proxy.url",
		`proxy = { url = "${var.s}" }`: "proxy.url",
		`proxy = { url = "http://127.0.0.1:1", username = "acme", password = var.s }`: "no connection through the proxy",
	} {
		w.write(declare, "provider \"gitpin\" {\n"+config+"\n}\n", use)
		r := w.must(1, "plan", "-no-color")
		wantText(t, r.all(), says)
		printed = append(printed, r.stdout, r.stderr)
	}
	data, err := os.ReadFile(trace)
	if err != nil {
		t.Fatal(err)
	}
	for where, text := range map[string][]byte{"the log": data, "what was printed": []byte(strings.Join(printed, "\n"))} {
		gittest.AssertNoSecrets(t, where, text, markedPassword, base64.StdEncoding.EncodeToString([]byte("acme:"+markedPassword)))
	}
}
