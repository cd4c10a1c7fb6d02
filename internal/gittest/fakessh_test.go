package gittest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"
)

// gitEnv is what real git needs to log in to a fake server.
func (s *FakeSSH) gitEnv(t *testing.T) []string {
	t.Helper()
	client, err := ClientKey(Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	files := &SSHD{dir: t.TempDir()}
	if err := files.writeKey("id", client); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(files.path("known_hosts"), []byte(s.KnownHosts()), 0o600); err != nil {
		t.Fatal(err)
	}
	return files.GitEnv()
}

func TestFakeSSHAsGitSeesIt(t *testing.T) {
	capabilities := PktLines("version 2", "ls-refs=unborn", "fetch", "object-format=sha1")
	refs := PktLines(mainOfA + " refs/heads/main")
	for _, tt := range []struct {
		name string
		o    FakeSSHOptions
		want string
	}{
		{"refs", FakeSSHOptions{Steps: []Step{Send(capabilities), ReadToFlush, Send(refs)}}, ""},
		{"not found", FakeSSHOptions{Stderr: "ERROR: Repository not found.\n", Status: 1}, "ERROR: Repository not found."},
		{"cut off", FakeSSHOptions{Steps: []Step{Send(capabilities), ReadToFlush, Send(refs[:20])}}, "flush"},
		{"reset", FakeSSHOptions{Steps: []Step{Send(capabilities), ReadToFlush, Reset}}, "flush"},
		{"wants a password", FakeSSHOptions{Password: "secret"}, "Permission denied (password)"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ServeFakeSSH(t, tt.o)
			out, err := lsRemote(t, s.gitEnv(t), s.URL("acme/app.git"))
			if tt.want == "" {
				wantMain(t, out, err)
				want := SSHCommand{Protocol: "version=2", Line: "git-upload-pack '/acme/app.git'"}
				if got := s.Commands(); len(got) != 1 || got[0] != want {
					t.Errorf("commands %q, want %q", got, want)
				}
				if got := s.Users(); len(got) != 1 || got[0] != "git" {
					t.Errorf("users %q", got)
				}
				return
			}
			wantError(t, err, tt.want)
		})
	}
}

// TestFakeSSHStages checks how far a client comes before the silence.
func TestFakeSSHStages(t *testing.T) {
	for name, tt := range map[string]struct {
		stage SSHStage
		want  string
	}{
		"no stage":       {NoStage, "version, offer, login, session, command"},
		"before version": {BeforeVersion, ""},
		"after version":  {AfterVersion, "version"},
		"after KEXINIT":  {AfterKexInit, "version, offer"},
		"at auth":        {AtAuth, "version, offer"},
		"at open":        {AtOpen, "version, offer, login"},
		"at exec":        {AtExec, "version, offer, login, session"},
	} {
		t.Run(name, func(t *testing.T) {
			s := ServeFakeSSH(t, FakeSSHOptions{Stop: tt.stage})
			if got := strings.Join(reached(t, s), ", "); got != tt.want {
				t.Errorf("the client reached %q, want %q", got, tt.want)
			}
		})
	}
}

// TestFakeSSHStopsInHandshakeOrAuth tells the two apart that look alike to a
// client that counts stages only.
func TestFakeSSHStopsInHandshakeOrAuth(t *testing.T) {
	for stage, want := range map[SSHStage]bool{AfterKexInit: false, AtAuth: true} {
		s := ServeFakeSSH(t, FakeSSHOptions{Stop: stage})
		seen := make(chan struct{}, 1)
		conn := dialWithDeadline(t, s.Addr())
		_, _, _, err := ssh.NewClientConn(conn, s.Addr(), &ssh.ClientConfig{
			User: "git",
			HostKeyCallback: func(string, net.Addr, ssh.PublicKey) error {
				seen <- struct{}{}
				return nil
			},
			Auth: []ssh.AuthMethod{ssh.PublicKeys(s.HostKeys[0].Signer)},
		})
		if err == nil {
			t.Fatal("logged in")
		}
		if got := len(seen) == 1; got != want {
			t.Errorf("stage %d: host key seen: %v, want %v", stage, got, want)
		}
	}
}

// reached returns the stages that a client gets through before the server has
// been silent for a second.
func reached(t *testing.T, s *FakeSSH) []string {
	t.Helper()
	var done []string
	conn := dialWithDeadline(t, s.Addr())
	var seen bytes.Buffer
	client, channels, requests, err := ssh.NewClientConn(teeConn{conn, &seen}, s.Addr(), &ssh.ClientConfig{
		User:            "git",
		HostKeyCallback: ssh.FixedHostKey(s.HostKeys[0].Signer.PublicKey()),
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.HostKeys[0].Signer)},
	})
	version, rest, ok := strings.Cut(seen.String(), "\r\n")
	if ok && strings.HasPrefix(version, "SSH-2.0-") {
		done = append(done, "version")
	}
	const kexInit = 20
	if len(rest) > 5 && rest[5] == kexInit {
		done = append(done, "offer")
	}
	if err != nil {
		return done
	}
	done = append(done, "login")
	session, err := ssh.NewClient(client, channels, requests).NewSession()
	if err != nil {
		return done
	}
	done = append(done, "session")
	if session.Run("git-upload-pack '/a.git'") == nil {
		done = append(done, "command")
	}
	return done
}

func dialWithDeadline(t *testing.T, addr string) net.Conn {
	t.Helper()
	var d net.Dialer
	conn, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() })
	if err := conn.SetDeadline(time.Now().Add(time.Second)); err != nil {
		t.Fatal(err)
	}
	return conn
}

// teeConn keeps what is read.
type teeConn struct {
	net.Conn
	seen *bytes.Buffer
}

func (c teeConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.seen.Write(p[:n])
	return n, err
}

func TestFakeSSHMaxSessionsAndPassword(t *testing.T) {
	s := ServeFakeSSH(t, FakeSSHOptions{MaxSessions: 1, Password: "secret", Steps: []Step{Hang}})
	login := func(password string) (*ssh.Client, error) {
		return ssh.Dial("tcp", s.Addr(), &ssh.ClientConfig{
			User:            "git",
			HostKeyCallback: ssh.FixedHostKey(s.HostKeys[0].Signer.PublicKey()),
			Auth:            []ssh.AuthMethod{ssh.Password(password)},
		})
	}
	if _, err := login("wrong"); err == nil {
		t.Error("a wrong password lets in")
	}
	client, err := login("secret")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = client.Close() }()
	first, err := client.NewSession()
	if err != nil {
		t.Fatal(err)
	}
	var refused *ssh.OpenChannelError
	if _, err := client.NewSession(); !errors.As(err, &refused) || refused.Reason != ssh.ResourceShortage {
		t.Errorf("second session: %v, want a shortage", err)
	}
	// Closing is what ends a hanging command, and frees its place.
	if err := first.Start("git-upload-pack '/a.git'"); err != nil {
		t.Fatal(err)
	}
	if err := first.Close(); err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	if err := first.Wait(); err == nil {
		t.Error("a command that hangs ended well")
	}
}
