package gitauth

import (
	"encoding/base64"
	"strings"
	"testing"
)

func base64Of(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }

// identities returns keys of each kind that Flux reads, as OpenSSH writes them.
func identities(t *testing.T) map[string]sshKey {
	t.Helper()
	return map[string]sshKey{
		"ed25519":        ed25519Key(t, "user"),
		"rsa":            rsaKey(t),
		"rsa, PEM":       keygen(t, "rsa pem", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PEM"),
		"rsa, PKCS#8":    keygen(t, "rsa pkcs8", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PKCS8"),
		"ecdsa":          ecdsaKey(t),
		"ecdsa, PEM":     keygen(t, "ecdsa pem", "-t", "ecdsa", "-N", "", "-m", "PEM"),
		"ecdsa, nist521": keygen(t, "ecdsa 521", "-t", "ecdsa", "-b", "521", "-N", ""),
	}
}

func TestIdentityForgives(t *testing.T) {
	for kind, key := range identities(t) {
		for name, text := range map[string]string{
			"as is":            key.private,
			"no final newline": strings.TrimSuffix(key.private, "\n"),
			"CRLF":             strings.ReplaceAll(key.private, "\n", "\r\n"),
			"trailing blanks":  strings.ReplaceAll(key.private, "\n", " \t\n"),
			"blank lines":      "\n" + key.private + "\n\n",
			"byte order mark":  "\ufeff" + key.private,
		} {
			signer, err := parseIdentity(text, "")
			if err != nil {
				t.Errorf("%s, %s: %v", kind, name, err)
				continue
			}
			if !equalKeys(signer.PublicKey(), key.key(t)) {
				t.Errorf("%s, %s: another key", kind, name)
			}
		}
		if _, err := parseIdentity(key.private, "not needed"); err != nil {
			t.Errorf("%s with a passphrase that it does not need: %v", kind, err)
		}
	}
}

// TestIdentityOfOpenSSL reads what `openssl ecparam -genkey` writes, the curve
// before the key, as OpenSSH does.
func TestIdentityOfOpenSSL(t *testing.T) {
	key := keygen(t, "ecdsa pem", "-t", "ecdsa", "-N", "", "-m", "PEM")
	prime256v1 := pemOf("EC PARAMETERS", []byte("\x06\x08\x2a\x86\x48\xce\x3d\x03\x01\x07"))
	signer, err := parseIdentity(prime256v1+key.private, "")
	if err != nil || !equalKeys(signer.PublicKey(), key.key(t)) {
		t.Errorf("got %v", err)
	}
	_, err = parseIdentity(prime256v1, "")
	wantProblem(t, err, "identity: ", "is not a private key")
}

// TestIdentityCiphers: a key under a cipher that x/crypto does not know is not
// taken for one with a wrong passphrase.
func TestIdentityCiphers(t *testing.T) {
	for cipher, want := range map[string]string{"aes256-cbc": "", "aes128-ctr": "not supported", "chacha20-poly1305@openssh.com": "not supported"} {
		key := keygen(t, "ed25519 "+cipher, "-t", "ed25519", "-N", "secret", "-a", "1", "-Z", cipher)
		_, err := parseIdentity(key.private, "secret")
		if want == "" {
			if err != nil {
				t.Errorf("%s: %v", cipher, err)
			}
			continue
		}
		wantProblem(t, err, "identity: the private key is encrypted in a way that is ", want)
	}
}

func TestIdentityNamesTheDamage(t *testing.T) {
	for kind, key := range identities(t) {
		for name, tc := range map[string]struct{ text, want string }{
			"public":           {key.public, "looks like a public key"},
			"on one line":      {strings.ReplaceAll(key.private, "\n", ""), "line breaks are missing"},
			"joined by blanks": {strings.ReplaceAll(key.private, "\n", " "), "line breaks are missing"},
			"escaped":          {strings.ReplaceAll(key.private, "\n", `\n`), "line breaks are missing"},
			"indented":         {"    " + strings.ReplaceAll(key.private, "\n", "\n    "), "indented"},
			"base64":           {base64Of(key.private), "base64-encoded"},
			"cut":              {key.private[:len(key.private)/2], "the end is missing"},
		} {
			_, err := parseIdentity(tc.text, "")
			wantProblem(t, err, "identity: ", tc.want)
			for line := range strings.Lines(key.private) {
				if line = strings.TrimSpace(line); line != "" && strings.Contains(err.Error(), line) {
					t.Errorf("%s, %s: the error shows key material", kind, name)
				}
			}
		}
	}
	dsa := pemOf("DSA PRIVATE KEY", []byte("x"))
	for _, tc := range map[string]struct{ text, want string }{
		"words":             {"hello", "is not a private key"},
		"a path":            {"~/.ssh/id_ed25519", "is not a private key: it looks like the path of a file"},
		"an absolute path":  {"/home/me/.ssh/id_ed25519\n", `file("…")`},
		"a relative path":   {"./id_ed25519", "looks like the path"},
		"a Windows path":    {`C:\keys\id`, "looks like the path"},
		"a base64 text":     {"/3xk\n/4yl\n", "is not a private key. Give"},
		"PuTTY":             {"PuTTY-User-Key-File-3: ssh-ed25519\nEncryption: none\n", "PuTTY"},
		"PKCS#8, encrypted": {pemOf("ENCRYPTED PRIVATE KEY", []byte("x")), "PKCS#8"},
		"DSA":               {dsa, "DSA"},
		"RFC 4716 public":   {"---- BEGIN SSH2 PUBLIC KEY ----\nAAAA\n", "looks like a public key"},
		"PEM public":        {pemOf("PUBLIC KEY", []byte("x")), "looks like a public key"},
		"a certificate":     {pemOf("CERTIFICATE", []byte("x")), "is damaged, or of a kind that is not supported"},
		"noise inside":      {pemOf("OPENSSH PRIVATE KEY", []byte("x")), "is damaged"},
	} {
		_, err := parseIdentity(tc.text, "")
		wantProblem(t, err, "identity: ", tc.want)
	}
}

func TestIdentityPassphrase(t *testing.T) {
	for kind, key := range map[string]sshKey{
		"bcrypt":   keygen(t, "ed25519 secret", "-t", "ed25519", "-N", "secret", "-a", "1"),
		"PEM, RSA": keygen(t, "rsa pem secret", "-t", "rsa", "-b", "2048", "-m", "PEM", "-N", "secret"),
	} {
		for name, tc := range map[string]struct {
			passphrase string
			want       []string
		}{
			"right":        {"secret", nil},
			"absent":       {"", []string{"identity: the private key is encrypted", "Set password"}},
			"wrong":        {"nope", []string{"password: the passphrase does not match"}},
			"newline":      {"secret\n", []string{"password: the passphrase does not match", "line break", "trimspace"}},
			"CRLF":         {"secret\r\n", []string{"line break"}},
			"blank":        {"secret ", []string{"white space"}},
			"almost empty": {" ", []string{"password: the passphrase does not match"}},
		} {
			signer, err := parseIdentity(key.private, tc.passphrase)
			if tc.want == nil {
				if err != nil || !equalKeys(signer.PublicKey(), key.key(t)) {
					t.Errorf("%s, %s: %v", kind, name, err)
				}
				continue
			}
			wantProblem(t, err, tc.want...)
		}
	}
	pkcs8 := keygen(t, "rsa pkcs8 secret", "-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "secret")
	_, err := parseIdentity(pkcs8.private, "secret")
	wantProblem(t, err, "identity: ", "PKCS#8")
}
