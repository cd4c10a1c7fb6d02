package gittest

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// file writes text into a file of the test's own and returns its path.
func file(t *testing.T, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "file.pem")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func issue(t *testing.T, ca *CA, o CertOptions) Cert {
	t.Helper()
	cert, err := ca.Issue(o)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

func TestTLSIsReadByGit(t *testing.T) {
	for name, o := range map[string]HTTPOptions{
		"HTTP/1.1": {TLS: &TLSOptions{}},
		"HTTP/2.0": {TLS: &TLSOptions{HTTP2: true}, IPv6: true},
	} {
		t.Run(name, func(t *testing.T) {
			s := ServeHTTP(t, Repos(t), o)
			out, err := lsRemote(t, nil, "-c", "http.sslCAInfo="+file(t, s.CA.PEM), s.URL+"/a.git")
			wantMain(t, out, err)
			if got := s.Requests()[0].Proto; got != name {
				t.Errorf("git spoke %s, want %s", got, name)
			}
			_, err = lsRemote(t, nil, s.URL+"/a.git")
			wantError(t, err, "certificate")
		})
	}
}

func TestTLSServerCertificates(t *testing.T) {
	for _, tt := range []struct {
		name string
		cert CertOptions
		want string
	}{
		{"expired", CertOptions{NotAfter: time.Now().Add(-time.Hour)}, "expired"},
		{"not yet valid", CertOptions{NotBefore: time.Now().Add(time.Hour)}, "certificate"},
		{"another host", CertOptions{Hosts: []string{"git.example.com"}}, "127.0.0.1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ServeHTTP(t, Repos(t), HTTPOptions{TLS: &TLSOptions{Cert: tt.cert}})
			_, err := lsRemote(t, nil, "-c", "http.sslCAInfo="+file(t, s.CA.PEM), s.URL+"/a.git")
			wantError(t, err, tt.want)
		})
	}
}

func TestTLSClientCertificate(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{TLS: &TLSOptions{ClientCert: true}})
	ca := file(t, s.CA.PEM)
	between, err := s.CA.Intermediate()
	if err != nil {
		t.Fatal(err)
	}
	other, err := NewCA()
	if err != nil {
		t.Fatal(err)
	}
	read := func(cert Cert) (string, error) {
		return lsRemote(t, nil, "-c", "http.sslCAInfo="+ca, "-c", "http.sslCert="+file(t, cert.Chain),
			"-c", "http.sslKey="+file(t, cert.Key), s.URL+"/a.git")
	}
	out, err := read(issue(t, s.CA, CertOptions{Client: true, Name: "me"}))
	wantMain(t, out, err)
	out, err = read(issue(t, between, CertOptions{Client: true}))
	wantMain(t, out, err)
	_, err = read(issue(t, other, CertOptions{Client: true}))
	wantError(t, err, "unable to access")
	_, err = lsRemote(t, nil, "-c", "http.sslCAInfo="+ca, s.URL+"/a.git")
	wantError(t, err, "unable to access")
}

// TestEncryptedKeys lets ssh-keygen, which comes with sshd, read them: it
// derives the public key only if the passphrase and the format are right.
func TestEncryptedKeys(t *testing.T) {
	ca, err := NewCA()
	if err != nil {
		t.Fatal(err)
	}
	cert := issue(t, ca, CertOptions{Client: true})
	plain := publicKey(t, cert.Key, "")
	for name, encrypt := range map[string]func(string) (string, error){
		"ENCRYPTED PRIVATE KEY": cert.EncryptedKey,
		"EC PRIVATE KEY":        cert.LegacyEncryptedKey,
	} {
		text, err := encrypt("secret")
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(text, "-----BEGIN "+name+"-----") {
			t.Errorf("%s is written as %q", name, text[:30])
		}
		if got := publicKey(t, text, "secret"); got != plain || got == "" {
			t.Errorf("%s: public key %q, want %q", name, got, plain)
		}
		if got := publicKey(t, text, "nope"); got != "" {
			t.Errorf("%s: read with a wrong passphrase", name)
		}
	}
}

// publicKey returns the public half of a key, "" if the passphrase is wrong.
func publicKey(t *testing.T, text, passphrase string) string {
	t.Helper()
	cmd := exec.Command("ssh-keygen", "-y", "-P", passphrase, "-f", file(t, text))
	cmd.Env = Env()
	out, err := cmd.Output()
	if err != nil {
		return ""
	}
	return string(out)
}
