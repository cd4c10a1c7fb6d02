package field

import (
	"net"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// damagedKeys: what is harmless is forgiven, the rest is named.
func damagedKeys(t *testing.T) []row {
	root := gittest.Repos(t)
	damages := []struct {
		name   string
		damage func(string) string
		says   string // "" where it is forgiven
	}{
		{"as it is", func(k string) string { return k }, ""},
		{"no final line break", strings.TrimSpace, ""},
		{"CRLF", func(k string) string { return strings.ReplaceAll(k, "\n", "\r\n") }, ""},
		{"trailing blanks", func(k string) string { return strings.ReplaceAll(k, "\n", "  \n") }, ""},
		{"indented", func(k string) string {
			return "    " + strings.ReplaceAll(strings.TrimSpace(k), "\n", "\n    ") + "\n"
		}, "indented"},
		{"on one line", func(k string) string { return strings.ReplaceAll(strings.TrimSpace(k), "\n", " ") }, "line breaks are missing"},
		{`\n in place of line breaks`, func(k string) string { return strings.ReplaceAll(k, "\n", `\n`) }, `line breaks are missing: they are written as \n`},
		{"cut off", func(k string) string { return k[:len(k)/2] }, "the end is missing"},
	}
	var rows []row
	for _, kind := range []string{"ed25519", "rsa", "ecdsa", "rsa, PEM"} {
		key, err := gittest.ClientKey(strings.TrimSuffix(kind, ", PEM"))
		if err != nil {
			t.Fatal(err)
		}
		s := gittest.ServeSSH(t, root, gittest.SSHOptions{Clients: []*gittest.SSHKey{key}})
		private := key.Private
		if strings.HasSuffix(kind, "PEM") {
			if private, err = key.Legacy(""); err != nil {
				t.Fatal(err)
			}
		}
		given := func(name, identity, says string) row {
			r := row{id: 46, what: kind + ", " + name, url: s.URL("a.git"), secret: map[string]string{"identity": identity, "known_hosts": s.KnownHosts()}}
			if says != "" {
				r.kind, r.says = fault.Credentials, []string{"identity: ", says}
			}
			// The others read all keys in OpenSSH's format alike.
			r.alone = kind == "rsa" || kind == "ecdsa"
			return r
		}
		for _, d := range damages {
			rows = append(rows, given(d.name, d.damage(private), d.says))
		}
		rows = append(rows, given("the .pub file", key.Public+"\n", "looks like a public key"))
	}
	return rows
}

// passphrases of encrypted keys.
func passphrases(t *testing.T) []row {
	root := gittest.Repos(t)
	var rows []row
	for _, kind := range []string{gittest.Ed25519, gittest.RSA} {
		key, err := gittest.ClientKey(kind)
		if err != nil {
			t.Fatal(err)
		}
		s := gittest.ServeSSH(t, root, gittest.SSHOptions{Clients: []*gittest.SSHKey{key}})
		name, encrypt := kind+", ", key.Encrypted
		if kind == gittest.RSA {
			name, encrypt = "RSA PEM, ", key.Legacy
		}
		encrypted, err := encrypt("secret")
		if err != nil {
			t.Fatal(err)
		}
		given := func(what, identity, passphrase, says string) row {
			r := row{id: 47, what: name + what, url: s.URL("a.git"), secret: map[string]string{"identity": identity, "known_hosts": s.KnownHosts()}}
			if passphrase != "" {
				r.secret["password"] = passphrase
			}
			if says != "" {
				r.kind, r.says = fault.Credentials, []string{says}
			}
			return r
		}
		rows = append(rows,
			given("the right passphrase", encrypted, "secret", ""),
			given("none", encrypted, "", "encrypted and there is no passphrase"),
			given("a wrong one", encrypted, "nope", "passphrase does not match"),
			given("with a line break", encrypted, "secret\n", "ends in a line break"),
			given("a plain key with one", key.Private, "secret", ""),
		)
	}
	return rows
}

// serveAgent is an ssh agent that holds key. It returns its socket.
func serveAgent(t *testing.T, key *gittest.SSHKey) string {
	t.Helper()
	raw, err := ssh.ParseRawPrivateKey([]byte(key.Private))
	if err != nil {
		t.Fatal(err)
	}
	ring := agent.NewKeyring()
	if err := ring.Add(agent.AddedKey{PrivateKey: raw}); err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(t.TempDir(), "agent")
	listener, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			c, err := listener.Accept()
			if err != nil {
				return
			}
			_ = agent.ServeAgent(ring, c)
			_ = c.Close()
		}
	}()
	return socket
}
