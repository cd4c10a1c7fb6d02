package provider

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// secretProvider configures credentials from an ephemeral variable, which core
// keeps out of plan and state: what is found there came from the provider.
func secretProvider(prefix string) string {
	return fmt.Sprintf("variable \"secret\" {\n  type = map(string)\n  sensitive = true\n  ephemeral = true\n}\nprovider \"gitpin\" {\n  credentials = [{ url = %q, secret = var.secret }]\n}\n", prefix)
}

// secret hands the secret to the CLI.
func (w *workspace) secret(values map[string]string) {
	w.t.Helper()
	raw, err := json.Marshal(values)
	if err != nil {
		w.t.Fatal(err)
	}
	w.env = append(w.env, "TF_VAR_secret="+string(raw))
}

// TestI6_NoSecretInStatePlanOrLog runs plan, apply, a refresh and a failing
// refresh with each kind of credentials, and searches all that is left behind.
func TestI6_NoSecretInStatePlanOrLog(t *testing.T) {
	const password, token = "s3cr3t/Pa$$+w%rd-0123456789", "tok3n-ABCDEFGHIJKLMNOPQRSTUVWXYZ012345"
	root := gittest.Repos(t)
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	client, err := ca.Issue(gittest.CertOptions{Client: true})
	if err != nil {
		t.Fatal(err)
	}
	for name, setUp := range map[string]func(t *testing.T) (url string, secret map[string]string, stop func()){
		"basic": func(t *testing.T) (string, map[string]string, func()) {
			s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: password})
			return s.URL + "/a.git", map[string]string{"username": "acme", "password": password}, s.Down
		},
		"bearer": func(t *testing.T) (string, map[string]string, func()) {
			s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Bearer: token})
			return s.URL + "/a.git", map[string]string{"bearerToken": token}, s.Down
		},
		"client certificate": func(t *testing.T) (string, map[string]string, func()) {
			s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: password, TLS: &gittest.TLSOptions{CA: ca, ClientCert: true}})
			return s.URL + "/a.git", map[string]string{"username": "acme", "password": password, "ca.crt": s.CA.PEM, "tls.crt": client.Chain, "tls.key": client.Key}, s.Down
		},
		"ssh": func(t *testing.T) (string, map[string]string, func()) {
			s := gittest.ServeSSH(t, root, gittest.SSHOptions{})
			key, err := s.Client.Encrypted(password)
			if err != nil {
				t.Fatal(err)
			}
			return s.URL("a.git"), map[string]string{"identity": key, "password": password, "known_hosts": s.KnownHosts()}, s.Down
		},
	} {
		t.Run(name, func(t *testing.T) {
			url, secret, stop := setUp(t)
			w := newWorkspace(t)
			trace := filepath.Join(w.dir, "trace.log")
			w.env = append(w.env, "TF_LOG=TRACE", "TF_LOG_PATH="+trace)
			w.write(secretProvider(url), strictPin(url, `branch = "main"`, ""), "resource \"gitpin_pin\" \"q\" {\n  url = \""+url+"\"\n  tag = \"v1.1.0\"\n}\n")
			w.secret(secret)
			var printed []byte
			keep := func(r result) { printed = append(append(printed, r.stdout...), r.stderr...) }
			keep(w.must(0, "plan", "-no-color", "-out=p"))
			keep(w.must(0, "show", "-json", "p"))
			keep(w.must(0, "apply", "-no-color", "p"))
			want(t, "commit", w.state(thePin)["commit"], commitMain)
			stop()
			keep(w.run("plan", "-no-color"))
			keep(w.run("apply", "-refresh-only", "-auto-approve", "-no-color"))

			var secrets []string
			for key, value := range secret {
				if key == "password" || key == "bearerToken" || key == "identity" || key == "tls.key" {
					secrets = append(secrets, value)
				}
			}
			if len(secrets) == 0 {
				t.Fatal("there is no secret to search for")
			}
			for _, file := range []string{trace, filepath.Join(w.dir, "p"), filepath.Join(w.dir, "terraform.tfstate")} {
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				gittest.AssertNoSecrets(t, file, data, secrets...)
			}
			gittest.AssertNoSecrets(t, "what was printed", printed, secrets...)
		})
	}
}
