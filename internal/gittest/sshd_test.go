package gittest

import (
	"os"
	"os/user"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"
)

func TestSSHIsReadByGit(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{})
	for _, url := range []string{s.URL("a.git"), s.SCP("a.git"), "ssh://" + s.User + "@" + s.Addr() + "/~/a.git"} {
		out, err := lsRemote(t, s.GitEnv(), url)
		if err != nil {
			t.Log(s.Log())
		}
		wantMain(t, out, err)
	}
	commands, err := s.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) != 3 || s.Connections() != 3 {
		t.Fatalf("%d commands on %d connections, want 3 and 3", len(commands), s.Connections())
	}
	if want := (SSHCommand{Protocol: "version=2", Line: "git-upload-pack 'a.git'"}); commands[1] != want {
		t.Errorf("second command %q, want %q", commands[1], want)
	}
}

// TestSSHKeys reads with each kind of client key from a server that has a host
// key of each kind.
func TestSSHKeys(t *testing.T) {
	root := Repos(t)
	for _, kind := range []string{Ed25519, ECDSA, RSA} {
		t.Run(kind, func(t *testing.T) {
			client, err := ClientKey(kind)
			if err != nil {
				t.Fatal(err)
			}
			host := MakeSSHKey(t, kind)
			s := ServeSSH(t, root, SSHOptions{HostKeys: []*SSHKey{host}, Clients: []*SSHKey{client}})
			out, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
			wantMain(t, out, err)
		})
	}
	t.Run("another key is refused", func(t *testing.T) {
		s := ServeSSH(t, root, SSHOptions{Clients: []*SSHKey{MakeSSHKey(t, Ed25519)}})
		if err := s.writeKey("id", MakeSSHKey(t, Ed25519)); err != nil {
			t.Fatal(err)
		}
		_, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
		wantError(t, err, "Permission denied (publickey)")
	})
	t.Run("another host key is noticed", func(t *testing.T) {
		s := ServeSSH(t, root, SSHOptions{})
		other := MakeSSHKey(t, Ed25519).HashedKnownHost(s.Addr()) + "\n"
		if err := os.WriteFile(s.path("known_hosts"), []byte(other), 0o600); err != nil {
			t.Fatal(err)
		}
		_, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
		wantError(t, err, "REMOTE HOST IDENTIFICATION HAS CHANGED")
	})
}

func TestSSHCertificates(t *testing.T) {
	ca, root := MakeSSHKey(t, Ed25519), Repos(t)
	me, err := user.Current()
	if err != nil {
		t.Fatal(err)
	}
	client, err := MakeSSHKey(t, ECDSA).Certify(ca, ssh.UserCert, me.Username)
	if err != nil {
		t.Fatal(err)
	}
	host, err := MakeSSHKey(t, Ed25519).Certify(ca, ssh.HostCert, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	s := ServeSSH(t, root, SSHOptions{HostKeys: []*SSHKey{host}, UserCA: ca})
	if err := s.writeKey("id", client); err != nil {
		t.Fatal(err)
	}
	trusted := "@cert-authority * " + ca.Public + "\n"
	if err := os.WriteFile(s.path("known_hosts"), []byte(trusted), 0o600); err != nil {
		t.Fatal(err)
	}
	out, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
	wantMain(t, out, err)
}

func TestSSHV0OnlyBannerAndConfig(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{V0Only: true, Banner: "Hello from acme.\n", Config: []string{"LogLevel DEBUG1"}})
	out, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
	wantMain(t, out, err)
	commands, err := s.Commands()
	if err != nil {
		t.Fatal(err)
	}
	if len(commands) != 1 || commands[0].Protocol != "" {
		t.Errorf("commands %q, want one without a protocol", commands)
	}
	if !strings.Contains(s.Log(), "debug1:") {
		t.Error("Config did not reach sshd")
	}
	var banner string
	dialSSH(t, s, func(text string) error { banner += text; return nil })
	if banner != "Hello from acme.\n" {
		t.Errorf("banner %q", banner)
	}
}

func TestSSHMaxSessions(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{MaxSessions: 2})
	client := dialSSH(t, s, nil)
	for i := range 3 {
		_, err := client.NewSession()
		if refused := err != nil; refused != (i == 2) {
			t.Errorf("session %d: %v", i+1, err)
		}
	}
}

func TestSSHRunsGitCommandsOnly(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{})
	session, err := dialSSH(t, s, nil).NewSession()
	if err != nil {
		t.Fatal(err)
	}
	if out, err := session.CombinedOutput("id"); err == nil {
		t.Errorf("id ran and printed %q", out)
	}
}

func TestSSHDownAndUp(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{})
	client := dialSSH(t, s, nil)
	s.Down()
	if err := client.Wait(); err == nil {
		t.Error("the connection outlived its server")
	}
	_, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
	wantError(t, err, "Connection refused")
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	out, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
	wantMain(t, out, err)
}

func TestSSHIPv6(t *testing.T) {
	s := ServeSSH(t, Repos(t), SSHOptions{IPv6: true})
	out, err := lsRemote(t, s.GitEnv(), s.URL("a.git"))
	wantMain(t, out, err)
}

func TestSSHKeyForms(t *testing.T) {
	for _, kind := range []string{Ed25519, ECDSA, RSA} {
		key := MakeSSHKey(t, kind)
		texts := map[string]string{"": key.Private}
		var err error
		if texts["secret"], err = key.Encrypted("secret"); err != nil {
			t.Fatal(err)
		}
		if kind != Ed25519 {
			if texts["legacy"], err = key.Legacy("legacy"); err != nil {
				t.Fatal(err)
			}
			plain, err := key.Legacy("")
			if err != nil {
				t.Fatal(err)
			}
			wantSSHKey(t, plain, "", key)
		}
		for passphrase, text := range texts {
			wantSSHKey(t, text, passphrase, key)
		}
	}
	if _, err := MakeSSHKey(t, Ed25519).Legacy(""); err == nil {
		t.Error("an Ed25519 key in a format that has none")
	}
	if _, err := ClientKey("dsa"); err == nil {
		t.Error("a client key of an unknown kind")
	}
}

// wantSSHKey checks that text holds key under that passphrase and no other.
func wantSSHKey(t *testing.T, text, passphrase string, key *SSHKey) {
	t.Helper()
	parse := func(passphrase string) (ssh.Signer, error) {
		if passphrase == "" {
			return ssh.ParsePrivateKey([]byte(text))
		}
		return ssh.ParsePrivateKeyWithPassphrase([]byte(text), []byte(passphrase))
	}
	signer, err := parse(passphrase)
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))); got != key.Public {
		t.Errorf("key %s, want %s", got, key.Public)
	}
	if passphrase == "" {
		return
	}
	if _, err := parse(""); err == nil {
		t.Error("an encrypted key was read without its passphrase")
	}
}

// dialSSH logs in with the server's client key.
func dialSSH(t *testing.T, s *SSHD, banner ssh.BannerCallback) *ssh.Client {
	t.Helper()
	client, err := ssh.Dial("tcp", s.Addr(), &ssh.ClientConfig{
		User:            s.User,
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.Client.Signer)},
		HostKeyCallback: ssh.FixedHostKey(s.HostKeys[0].Signer.PublicKey()),
		BannerCallback:  banner,
	})
	if err != nil {
		t.Fatalf("%v; sshd said: %s", err, s.Log())
	}
	t.Cleanup(func() { _ = client.Close() })
	return client
}
