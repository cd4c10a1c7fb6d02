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
		// As a server does, it waits for the flush after which no command follows:
		// git dies of a broken pipe if it cannot write that.
		{"refs", FakeSSHOptions{Steps: []Step{Send(capabilities), ReadToFlush, Send(refs), ReadToFlush}}, ""},
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
		"no stage":       {NoStage, "version, offer, host key, login, session, command"},
		"before version": {BeforeVersion, ""},
		"after version":  {AfterVersion, "version"},
		"after KEXINIT":  {AfterKexInit, "version, offer"},
		"at auth":        {AtAuth, "version, offer, host key"},
		"at open":        {AtOpen, "version, offer, host key, login"},
		"at exec":        {AtExec, "version, offer, host key, login, session"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := ServeFakeSSH(t, FakeSSHOptions{Stop: tt.stage})
			if got := strings.Join(reached(t, s), ", "); got != tt.want {
				t.Errorf("the client reached %q, want %q", got, tt.want)
			}
		})
	}
}

// reached returns the stages that a client gets through before the server has
// been silent for a while.
func reached(t *testing.T, s *FakeSSH) []string {
	t.Helper()
	var d net.Dialer
	dialled, err := d.DialContext(context.Background(), "tcp", s.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = dialled.Close() }()
	conn := &patientConn{Conn: dialled}
	known := false
	client, channels, requests, err := ssh.NewClientConn(conn, s.Addr(), &ssh.ClientConfig{
		User:            "git",
		HostKeyCallback: func(string, net.Addr, ssh.PublicKey) error { known = true; return nil },
		Auth:            []ssh.AuthMethod{ssh.PublicKeys(s.HostKeys[0].Signer)},
	})
	var done []string
	version, rest, ok := strings.Cut(conn.seen.String(), "\r\n")
	if ok && strings.HasPrefix(version, "SSH-2.0-") {
		done = append(done, "version")
	}
	const kexInit = 20 // SSH_MSG_KEXINIT, after the lengths of packet and padding
	if len(rest) > 5 && rest[5] == kexInit {
		done = append(done, "offer")
	}
	if known {
		done = append(done, "host key")
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

// patientConn keeps what is read, and gives up when nothing comes for a second.
type patientConn struct {
	net.Conn
	seen bytes.Buffer
}

func (c *patientConn) Read(p []byte) (int, error) {
	if err := c.SetReadDeadline(time.Now().Add(time.Second)); err != nil {
		return 0, err
	}
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
