package provider

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// TestI6_NoSecretOnErrorPaths takes the errors through the real provider: as
// recorded in the state by each data source that can, and as diagnostics of
// every data source and resource.
func TestI6_NoSecretOnErrorPaths(t *testing.T) {
	places := badPlaces(t)
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	var recorded, failing, targets strings.Builder
	for _, name := range slices.Sorted(maps.Keys(places)) {
		at := fmt.Sprintf("url = %q\n  %s", places[name].url, places[name].selector())
		fmt.Fprintf(&targets, "    %q = { url = %q, %s }\n", name, places[name].url, places[name].selector())
		fmt.Fprintf(&recorded, "data \"gitpin_ref\" %q {\n  %s\n  on_error = \"record\"\n}\n", "r_"+name, at)
		fmt.Fprintf(&failing, "data \"gitpin_ref\" %q {\n  %s\n}\nresource \"gitpin_pin\" %q {\n  %s\n}\ndata \"gitpin_refs\" %q {\n  url = %q\n}\n",
			"d_"+name, at, "p_"+name, at, "l_"+name, places[name].url)
	}
	fmt.Fprintf(&recorded, "data \"gitpin_snapshot\" \"r\" {\n  on_error = \"record\"\n  targets = {\n%s  }\n}\n", targets.String())
	fmt.Fprintf(&failing, "data \"gitpin_snapshot\" \"d\" {\n  targets = {\n%s  }\n}\nresource \"gitpin_pin_set\" \"p\" {\n  pins = {\n%s  }\n}\n", targets.String(), targets.String())
	provider := w.credentials(places)

	var printed []string
	keep := func(r result) string { printed = append(printed, r.stdout, r.stderr); return r.all() }
	w.write(provider, recorded.String())
	keep(w.must(0, "plan", "-no-color", "-out=p"))
	keep(w.must(0, "show", "-json", "p"))
	keep(w.must(0, "apply", "-no-color", "p"))
	errors, _ := w.state("data.gitpin_snapshot.r")["errors"].(map[string]any)
	for name, place := range places {
		for where, got := range map[string]any{"ref": w.state("data.gitpin_ref.r_" + name)["error"], "snapshot": errors[name]} {
			if !strings.Contains(fmt.Sprint(got), place.says) {
				t.Errorf("%s, %s: %q is not in: %s", where, name, place.says, got)
			}
		}
	}
	w.write(provider, failing.String())
	all := keep(w.must(1, "plan", "-no-color"))
	for name, place := range places {
		if !strings.Contains(all, place.says) {
			t.Errorf("%s: %q is not in the diagnostics", name, place.says)
		}
	}
	w.noSecrets(places, strings.Join(printed, "\n"), trace, filepath.Join(w.dir, "p"))
}

// TestI6_NoSecretInWarningsOfHeldPins: what was recorded stays, and the warnings
// say why.
func TestI6_NoSecretInWarningsOfHeldPins(t *testing.T) {
	root := gittest.Repos(t)
	var failing atomic.Bool
	s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: markedPassword, Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if failing.Load() {
				sayBack(status(403)).ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}})
	url := s.URL + "/a.git"
	places := map[string]badPlace{"held": {url: url, secret: basicSecret}}
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	w.write(w.credentials(places), selfPin(url, "main", `freshness_threshold = "1000h"`), pinSet(url, "", "one", "main"))
	w.must(0, "apply", "-auto-approve", "-no-color")
	failing.Store(true)
	var printed []string
	for _, args := range [][]string{{"plan", "-no-color"}, {"plan", "-no-color", "-refresh-only"}, {"apply", "-no-color", "-refresh-only", "-auto-approve"}, {"show", "-json"}, {"plan", "-no-color", "-destroy"}} {
		r := w.must(0, args...)
		printed = append(printed, r.stdout, r.stderr)
	}
	wantText(t, strings.Join(printed, " "), "403 Forbidden", "***")
	w.noSecrets(places, strings.Join(printed, "\n"), trace)
}

// credentials hands the places' secrets to the CLI by an ephemeral variable, and
// returns the provider block that takes them.
func (w *workspace) credentials(places map[string]badPlace) string {
	w.t.Helper()
	var entries []map[string]any
	for _, name := range slices.Sorted(maps.Keys(places)) {
		// Places on one repository share its entry.
		if !slices.ContainsFunc(entries, func(e map[string]any) bool { return e["url"] == places[name].url }) {
			entries = append(entries, map[string]any{"url": places[name].url, "secret": places[name].secret})
		}
	}
	raw, err := json.Marshal(entries)
	if err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "TF_VAR_credentials="+string(raw))
	return `variable "credentials" {
  type      = list(object({ url = string, secret = map(string) }))
  sensitive = true
  ephemeral = true
}
provider "gitpin" {
  credentials = var.credentials
  timeout     = "3s"
  retry       = { max_attempts = 1 }
  # What is too large is too large soon.
  max_advertisement_bytes = 1000000
}
`
}

// noSecrets searches what was printed, the files and the state for the places'
// secrets.
func (w *workspace) noSecrets(places map[string]badPlace, printed string, files ...string) {
	w.t.Helper()
	// A secret that was cut in two is still one.
	secrets := []string{markedPassword, markedPassword[:12], markedToken, markedToken[:12], base64.StdEncoding.EncodeToString([]byte("acme:" + markedPassword))}
	for _, place := range places {
		for _, key := range []string{"identity", "tls.key", "githubAppPrivateKey"} {
			if value := place.secret[key]; value != "" {
				secrets = append(secrets, value)
			}
		}
	}
	for _, file := range append(files, filepath.Join(w.dir, "terraform.tfstate")) {
		data, err := os.ReadFile(file)
		if err != nil {
			w.t.Fatal(err)
		}
		gittest.AssertNoSecrets(w.t, filepath.Base(file), data, secrets...)
	}
	gittest.AssertNoSecrets(w.t, "what was printed", []byte(printed), secrets...)
}

// TestI6_NoSecretInConfigurationErrors: what is wrong is found before any
// request, and quoted by nobody.
func TestI6_NoSecretInConfigurationErrors(t *testing.T) {
	w := newWorkspace(t)
	trace := filepath.Join(w.dir, "trace.log")
	w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
	const unknown = "resource \"terraform_data\" \"later\" {\n  input = \"acme\"\n}\n"
	const declare = unknown + "variable \"s\" {\n  type = string\n  sensitive = true\n  ephemeral = true\n}\n"
	const use = "data \"gitpin_ref\" \"d\" {\n  url = \"https://git.example.invalid/r\"\n  ref = \"HEAD\"\n}\n"
	w.env = append(w.env, "TF_VAR_s="+markedPassword)
	var printed []string
	for config, says := range map[string]string{
		`credentials = [{ url = "https://acme:${var.s}@git.example.invalid", secret = {} }]`:                                             "credentials[0].url",
		`credentials = [{ url = "https://git.example.invalid/?t=${var.s}", secret = {} }]`:                                               "credentials[0].url",
		`credentials = [{ url = "https://git.example.invalid", secret = { "${var.s}" = "x" } }]`:                                         "not a key of a Flux Git secret",
		`credentials = [{ url = "https://git.example.invalid", secret = { passwrod = var.s } }]`:                                         "password",
		`credentials = [{ url = "https://git.example.invalid", secret = { "tls.key" = var.s } }]`:                                        "no tls.crt",
		`credentials = [{ url = "https://git.example.invalid", secret = { password = var.s } }]`:                                         "no username",
		`credentials = [{ url = "https://git.example.invalid", secret = { "ca.crt" = var.s } }]`:                                         "no certificate found",
		`credentials = [{ url = "https://git.example.invalid", secret = { username = "a", password = "${var.s}\n" } }]`:                  "line break",
		`proxy = { url = "http://acme:${var.s}@proxy.example.invalid:x" }`:                                                               "proxy.url",
		`credentials = [{ url = "https://git.example.invalid", secret = { username = terraform_data.later.output, password = var.s } }]`: "is not known yet",
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
