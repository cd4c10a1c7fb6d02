package gitauth

import (
	"context"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/agent"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// serveAgent runs an ssh agent that holds keys, and points SSH_AUTH_SOCK at it.
func serveAgent(t *testing.T, keys ...sshKey) {
	t.Helper()
	ring := agent.NewKeyring()
	for _, key := range keys {
		raw, err := ssh.ParseRawPrivateKey([]byte(key.private))
		if err != nil {
			t.Fatal(err)
		}
		if err := ring.Add(agent.AddedKey{PrivateKey: raw}); err != nil {
			t.Fatal(err)
		}
	}
	// t.TempDir may be too long for a socket's name.
	dir, err := os.MkdirTemp("", "agent")
	if err != nil {
		t.Fatal(err)
	}
	socket := filepath.Join(dir, "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			wg.Go(func() {
				defer conn.Close()
				_ = agent.ServeAgent(ring, conn)
			})
		}
	})
	// That the connections end by themselves shows that none is left open.
	t.Cleanup(func() { l.Close(); wg.Wait(); os.RemoveAll(dir) })
	t.Setenv("SSH_AUTH_SOCK", socket)
}

// gitHelper makes script the credential helper of git in this test, and returns
// a function that tells how often it was asked.
func gitHelper(t *testing.T, script string) (asked func() int) {
	t.Helper()
	log := filepath.Join(t.TempDir(), "log")
	config := write(t, fmt.Sprintf("[credential]\n\thelper = \"!f() { if [ \\\"$1\\\" != get ]; then echo \\\"$1\\\" >>%s; return; fi; sed 's/^/ /' >>%s; echo asked >>%s; %s; }; f\"\n", log, log, log, script))
	t.Setenv("GIT_CONFIG_GLOBAL", config)
	t.Setenv("GIT_CONFIG_NOSYSTEM", "1")
	t.Cleanup(func() {
		if t.Failed() {
			text, _ := os.ReadFile(log)
			t.Logf("the helper saw:\n%s", text)
		}
	})
	return func() int {
		text, _ := os.ReadFile(log)
		for _, forbidden := range []string{"store", "erase"} {
			if strings.Contains(string(text), forbidden) {
				t.Errorf("the helper was told to %s", forbidden)
			}
		}
		return strings.Count(string(text), "asked\n")
	}
}

// TestI8_NothingAmbientUnasked surrounds a Keychain with everything that git and
// ssh would use.
func TestI8_NothingAmbientUnasked(t *testing.T) {
	user, host := ed25519Key(t, "user"), ed25519Key(t, "host")
	serveAgent(t, user)
	asked := gitHelper(t, "echo username=me; echo password=p")
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.Mkdir(filepath.Join(home, ".ssh"), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		".ssh/known_hosts": host.line("*"), ".ssh/id_ed25519": user.private, ".netrc": "machine git.example.com login me password p\n",
		".git-credentials": "https://me:p@git.example.com\n", ".ssh/config": "Host *\n\tUser me\n",
	} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	k := keychain(t, Options{})
	a, err := k.For(remote(t, "https://git.example.com/r"))
	if err != nil || header(t, a) != "" || a.ID != "" {
		t.Errorf("https is not anonymous: %v, %v", a, err)
	}
	_, err = k.For(remote(t, "git@git.example.com:r"))
	wantFault(t, err, fault.Credentials, "ssh needs identity and known_hosts", "no entry matches")
	for name, tc := range map[string]struct {
		secret map[string]string
		want   string
	}{
		"nothing":            {map[string]string{}, "lacks identity and known_hosts"},
		"known_hosts only":   {map[string]string{"known_hosts": host.line("*")}, "lacks identity"},
		"identity only":      {map[string]string{"identity": user.private}, "lacks known_hosts"},
		"empty identity":     {map[string]string{"identity": "", "known_hosts": host.line("*")}, "lacks identity"},
		"a password":         {map[string]string{"username": "me", "password": "p"}, "is for https only"},
		"a token":            {map[string]string{"bearerToken": "t"}, "is for https only"},
		"an app":             {map[string]string{"githubAppID": "1", "githubAppInstallationID": "2", "githubAppPrivateKey": "k"}, "works over https only"},
		"an encrypted key":   {map[string]string{"identity": keygen(t, "ed25519 secret", "-t", "ed25519", "-N", "secret", "-a", "1").private, "known_hosts": host.line("*")}, "no passphrase"},
		"damaged everything": {map[string]string{"identity": "x", "known_hosts": "y"}, "known_hosts: line 1"},
	} {
		_, err := authFor(t, "ssh://git@git.example.com/r", tc.secret)
		t.Run(name, func(t *testing.T) { wantFault(t, err, fault.Credentials, "credentials[0]", tc.want) })
	}
	if n := asked(); n != 0 {
		t.Errorf("the credential helper was asked %d times", n)
	}
}

func TestSSHUser(t *testing.T) {
	secret := map[string]string{"identity": ed25519Key(t, "user").private, "known_hosts": ed25519Key(t, "host").line("*")}
	for url, want := range map[string]string{
		"ssh://APKAEXAMPLE@git.example.com/v1/repos/r": "APKAEXAMPLE",
		"ssh://git.example.com/r.git":                  "git",
		"git.example.com:r.git":                        "git",
		"ssh://a%40b@git.example.com/r.git":            "a@b",
		"me@git.example.com:r.git":                     "me",
	} {
		for _, username := range []string{"", "somebody"} {
			secret["username"] = username
			a := mustAuth(t, url, secret)
			if a.SSH.User != want || len(a.SSH.Methods) != 1 {
				t.Errorf("%s: user %q, want %q", url, a.SSH.User, want)
			}
			if got := strings.Join(a.Keys, " "); got != "identity known_hosts" {
				t.Errorf("%s: keys %q", url, got)
			}
		}
	}
}

// TestAgent logs in at OpenSSH's server with keys that only the agent has.
func TestAgent(t *testing.T) {
	me := strings.TrimSpace(run(t, "", "id", "-un"))
	host := ed25519Key(t, "host")
	known := write(t, host.line("*"))
	for name, user := range map[string]sshKey{"ed25519": ed25519Key(t, "user"), "rsa": rsaKey(t), "ecdsa": ecdsaKey(t)} {
		t.Run(name, func(t *testing.T) {
			serveAgent(t, ed25519Key(t, "old host"), user)
			addr := sshd(t, user, host)
			r := remote(t, "ssh://"+me+"@"+addr+"/r.git")
			for source, k := range map[string]*Keychain{
				"no entry":  keychain(t, Options{Ambient: Ambient{SSHAgent: true, KnownHostsFile: known}}),
				"no key":    keychain(t, Options{Ambient: Ambient{SSHAgent: true}}, Entry{URL: "ssh://" + addr, Secret: map[string]string{"known_hosts": host.line("*")}}),
				"no agent":  keychain(t, Options{Ambient: Ambient{KnownHostsFile: known}}, Entry{URL: "ssh://" + addr, Secret: map[string]string{"identity": user.private}}),
				"all given": keychain(t, Options{Ambient: Ambient{SSHAgent: true, KnownHostsFile: "/does/not/exist"}}, Entry{URL: "ssh://" + addr, Secret: map[string]string{"identity": user.private, "known_hosts": host.line("*")}}),
			} {
				a, err := k.For(r)
				if err != nil {
					t.Errorf("%s: %v", source, err)
					continue
				}
				if err := handshake(t, addr, a.SSH); err != nil {
					t.Errorf("%s: %v", source, err)
				}
				entry := fmt.Sprintf("credentials[0] (url %q)", "ssh://"+addr)
				want := map[string]string{"no entry": "the ssh agent", "no key": entry + ", the ssh agent", "no agent": entry, "all given": entry}[source]
				if a.ID == "" || a.Source != want {
					t.Errorf("%s: ID %q, source %q", source, a.ID, a.Source)
				}
			}
		})
	}
}

func TestAgentFails(t *testing.T) {
	host := ed25519Key(t, "host")
	k := keychain(t, Options{Ambient: Ambient{SSHAgent: true, KnownHostsFile: write(t, host.line("*"))}})
	r := remote(t, "git@git.example.com:r")
	t.Setenv("SSH_AUTH_SOCK", "")
	_, err := k.For(r)
	wantFault(t, err, fault.Credentials, "ambient.ssh_agent", "SSH_AUTH_SOCK")

	addr := sshd(t, ed25519Key(t, "user"), host)
	login := func() error {
		a, err := k.For(r)
		if err != nil {
			t.Fatal(err)
		}
		return handshake(t, addr, a.SSH)
	}
	t.Setenv("SSH_AUTH_SOCK", filepath.Join(t.TempDir(), "gone"))
	wantFault(t, login(), fault.Credentials, "the ssh agent does not answer", "ssh-add -l")
	serveAgent(t)
	wantFault(t, login(), fault.Credentials, "the ssh agent has no key")

	_, err = keychain(t, Options{Ambient: Ambient{SSHAgent: true}}).For(r)
	wantFault(t, err, fault.Credentials, "ssh needs known_hosts")
}

func TestKnownHostsFile(t *testing.T) {
	user, host := ed25519Key(t, "user"), ed25519Key(t, "host")
	home := t.TempDir()
	t.Setenv("HOME", home)
	if err := os.WriteFile(filepath.Join(home, "hosts"), []byte(host.line("*")), 0o600); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{
		"~/hosts":                     "",
		filepath.Join(home, "hosts"):  "",
		"~/missing":                   "ambient.known_hosts_file (~/missing): cannot be read: no such file",
		home:                          "cannot be read",
		write(t, "one junk line\n"):   "line 1 cannot be read",
		write(t, "# nobody\n"):        "has no entry",
		write(t, host.line("x")+"@y"): "line 2 cannot be read",
	} {
		k := keychain(t, Options{Ambient: Ambient{KnownHostsFile: path}}, Entry{URL: "ssh://git@git.example.com", Secret: map[string]string{"identity": user.private}})
		for range 2 { // the file is read once, its error is kept
			a, err := k.For(remote(t, "git@git.example.com:r"))
			if want != "" {
				wantFault(t, err, fault.Credentials, want)
			} else if err != nil || a.SSH.HostKeys.check("git.example.com:22", host.key(t)) != nil {
				t.Errorf("%s: %v", path, err)
			}
		}
	}
}

func TestCredentialHelper(t *testing.T) {
	asked := gitHelper(t, "echo username=me; echo password=s3cr3t")
	k := keychain(t, Options{Ambient: Ambient{CredentialHelper: true}}, Entry{URL: "https://known.example.com", Secret: user("other")})
	r := remote(t, "https://git.example.com/acme/r.git")
	a, err := k.For(r)
	if err != nil {
		t.Fatal(err)
	}
	if asked() != 0 {
		t.Error("the helper was asked before the header was wanted")
	}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			other, err := k.For(r)
			if err != nil || other.ID != a.ID {
				t.Errorf("For: %v", err)
				return
			}
			if h, err := other.Header(t.Context()); err != nil || h != basic("me", "s3cr3t") {
				t.Errorf("header %q, %v", h, err)
			}
		})
	}
	wg.Wait()
	if n := asked(); n != 1 {
		t.Errorf("the helper was asked %d times for one remote", n)
	}
	if a.Scheme() != "Basic" || a.Source != "git's credential helper" || a.Scrub("is s3cr3t") != "is ***" {
		t.Errorf("scheme %q, source %q", a.Scheme(), a.Source)
	}
	if renewed, err := a.Renew(t.Context(), basic("me", "s3cr3t")); renewed || err != nil {
		t.Errorf("Renew: %t, %v", renewed, err)
	}
	for url, want := range map[string]string{
		"https://known.example.com/r": basic("other", "pw-other"), // an entry comes first
		"http://git.example.com/r":    "",                         // never in the clear
		"http://localhost:8080/r":     basic("me", "s3cr3t"),
		"git://git.example.com/r":     "",
	} {
		a, err := k.For(remote(t, url))
		if err != nil {
			t.Errorf("%s: %v", url, err)
		} else if got := header(t, a); got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

func TestCredentialHelperQuestion(t *testing.T) {
	for url, want := range map[string]string{
		"https://git.example.com/acme/r.git":      "protocol=https\nhost=git.example.com\npath=acme/r.git\n\n",
		"https://me@git.example.com:8443/a%20b/r": "protocol=https\nhost=git.example.com:8443\npath=a b/r\nusername=me\n\n",
		"https://[::1]:8443/r":                    "protocol=https\nhost=[::1]:8443\npath=r\n\n",
	} {
		if got, ok := helperQuestion(remote(t, url)); !ok || got != want {
			t.Errorf("%s: %q, want %q", url, got, want)
		}
	}
}

// TestCredentialHelperIsNotFooled gives parts that would add a line to the
// question and so ask for another host's password (CVE-2020-5260).
func TestCredentialHelperIsNotFooled(t *testing.T) {
	for _, r := range []giturl.Remote{
		{Scheme: giturl.HTTPS, Host: "git.example.com", Path: "/a%0Ahost=other.example.com"},
		{Scheme: giturl.HTTPS, Host: "git.example.com", Path: "/r", User: "me\nhost=other.example.com"},
		{Scheme: giturl.HTTPS, Host: "git.example.com", Path: "/a%00"},
		{Scheme: giturl.HTTPS, Host: "git.example.com", Path: "/a%0D"},
		{Scheme: giturl.HTTPS, Host: "git.example.com", Path: "/%zz"},
	} {
		if q, ok := helperQuestion(r); ok {
			t.Errorf("%q", q)
		}
		a, err := keychain(t, Options{Ambient: Ambient{CredentialHelper: true}}).For(r)
		if err != nil || header(t, a) != "" {
			t.Errorf("%v, %v", a, err)
		}
	}
}

func TestCredentialHelperFails(t *testing.T) {
	r := remote(t, "https://git.example.com/r.git")
	ask := func(t *testing.T, ctx context.Context) (string, error) {
		t.Helper()
		a, err := keychain(t, Options{Ambient: Ambient{CredentialHelper: true}}).For(r)
		if err != nil {
			t.Fatal(err)
		}
		return a.Header(ctx)
	}
	t.Run("no answer", func(t *testing.T) {
		asked := gitHelper(t, ":")
		// These would put up a prompt.
		askpass := write(t, "#!/bin/sh\necho prompted\n")
		if err := os.Chmod(askpass, 0o700); err != nil {
			t.Fatal(err)
		}
		t.Setenv("GIT_ASKPASS", askpass)
		t.Setenv("SSH_ASKPASS", askpass)
		if h, err := ask(t, t.Context()); h != "" || err != nil {
			t.Errorf("%q, %v", h, err)
		}
		if asked() != 1 {
			t.Error("not asked")
		}
	})
	t.Run("a user alone", func(t *testing.T) {
		gitHelper(t, "echo username=me")
		if h, err := ask(t, t.Context()); h != "" || err != nil {
			t.Errorf("%q, %v", h, err)
		}
	})
	t.Run("hangs", func(t *testing.T) {
		gitHelper(t, "sleep 5 >/dev/null 2>&1")
		ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
		defer cancel()
		_, err := ask(t, ctx)
		wantFault(t, err, fault.Timeout, "waiting for git's credential helper")
	})
	t.Run("cannot be sent", func(t *testing.T) {
		gitHelper(t, "echo username=me; printf 'password=s3\\\\001cr3t\\\\n'")
		_, err := ask(t, t.Context())
		wantFault(t, err, fault.Credentials, "gave a password that cannot be sent")
	})
	t.Run("no git", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		_, err := ask(t, t.Context())
		wantFault(t, err, fault.Credentials, "git credential fill")
	})
}
