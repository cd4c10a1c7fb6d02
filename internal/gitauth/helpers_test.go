package gitauth

import (
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// remote parses a URL that a test knows to be good.
func remote(t testing.TB, text string) giturl.Remote {
	t.Helper()
	r, err := giturl.Parse(text)
	if err != nil {
		t.Fatalf("Parse(%q): %v", text, err)
	}
	return r
}

func keychain(t testing.TB, o Options, entries ...Entry) *Keychain {
	t.Helper()
	k, err := NewKeychain(entries, o)
	if err != nil {
		t.Fatalf("NewKeychain: %v", err)
	}
	return k
}

// authFor returns what one entry with secret gives for url.
func authFor(t testing.TB, url string, secret map[string]string) (*Auth, error) {
	t.Helper()
	r := remote(t, url)
	prefix := string(r.Scheme) + "://" + r.Address()
	return keychain(t, Options{}, Entry{URL: prefix, Secret: secret}).For(r)
}

func mustAuth(t testing.TB, url string, secret map[string]string) *Auth {
	t.Helper()
	a, err := authFor(t, url, secret)
	if err != nil {
		t.Fatalf("For(%q): %v", url, err)
	}
	return a
}

func header(t testing.TB, a *Auth) string {
	t.Helper()
	h, err := a.Header(t.Context())
	if err != nil {
		t.Fatalf("Header: %v", err)
	}
	return h
}

// wantFault checks kind and that the error's text has every one of parts.
func wantFault(t testing.TB, err error, kind fault.Kind, parts ...string) {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("error %v (%T) is no *fault.Error", err, err)
	}
	if f.Kind != kind {
		t.Errorf("kind %q, want %q: %v", f.Kind, kind, err)
	}
	if f.Advice == "" {
		t.Errorf("no advice in: %v", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("error lacks %q: %v", part, err)
		}
	}
}

// wantProblem checks a problem's text.
func wantProblem(t testing.TB, err error, parts ...string) {
	t.Helper()
	var p *problem
	if !errors.As(err, &p) {
		t.Fatalf("error %v (%T) is no *problem", err, err)
	}
	text := p.Error() + ". " + p.advice
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("problem lacks %q: %s", part, text)
		}
	}
}

// sshKey is a key pair made by ssh-keygen.
type sshKey struct{ private, public string }

func (k sshKey) key(t testing.TB) ssh.PublicKey {
	t.Helper()
	key, _, _, _, err := ssh.ParseAuthorizedKey([]byte(k.public))
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// line returns the known_hosts line for hosts.
func (k sshKey) line(hosts string) string {
	fields := strings.Fields(k.public)
	return hosts + " " + fields[0] + " " + fields[1] + "\n"
}

func (k sshKey) fingerprint(t testing.TB) string { return ssh.FingerprintSHA256(k.key(t)) }

func (k sshKey) signer(t testing.TB) ssh.Signer {
	t.Helper()
	s, err := ssh.ParsePrivateKey([]byte(k.private))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

var keyCache sync.Map

// keygen returns a key that ssh-keygen made with args. The same name gives the
// same key for the life of the process: making them is what costs time here.
func keygen(t testing.TB, name string, args ...string) sshKey {
	t.Helper()
	if key, ok := keyCache.Load(name); ok {
		return key.(sshKey)
	}
	file := filepath.Join(t.TempDir(), "key")
	run(t, "", "ssh-keygen", append([]string{"-q", "-C", "test", "-f", file}, args...)...)
	key, _ := keyCache.LoadOrStore(name, sshKey{read(t, file), read(t, file+".pub")})
	return key.(sshKey)
}

func ed25519Key(t testing.TB, name string) sshKey {
	return keygen(t, name, "-t", "ed25519", "-N", "")
}

func rsaKey(t testing.TB) sshKey {
	return keygen(t, "rsa", "-t", "rsa", "-b", "2048", "-N", "")
}

func ecdsaKey(t testing.TB) sshKey {
	return keygen(t, "ecdsa", "-t", "ecdsa", "-N", "")
}

func run(t testing.TB, stdin, name string, args ...string) string {
	t.Helper()
	out, err := tryRun(stdin, name, args...)
	if err != nil {
		t.Fatalf("%s %q: %v\n%s", name, args, err, out)
	}
	return out
}

func tryRun(stdin, name string, args ...string) (string, error) {
	cmd := exec.Command(name, args...)
	cmd.Stdin = strings.NewReader(stdin)
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	return out.String(), err
}

func read(t testing.TB, file string) string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func write(t testing.TB, text string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}
