package sshpool

import (
	"context"
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// guard is far more than anything here takes; it only ends a test that hangs.
const guard = 30 * time.Second

// server is an SSH server in this process, whose every step a test can replace.
type server struct {
	t        *testing.T
	listener net.Listener
	config   *ssh.ServerConfig

	// ignore makes it leave global requests without an answer.
	ignore bool
	// raw takes over a connection before the handshake.
	raw func(net.Conn)
	// open answers a channel open. The default accepts it and runs exec.
	open func(c *served, ch ssh.NewChannel)
	// exec is the command. Its result is the exit status; below 0 none is sent.
	exec func(s *execution) int

	end chan struct{} // closed at the end of the test: what blocks waits for it
	wg  sync.WaitGroup

	mu    sync.Mutex
	conns []*served
}

// served is one connection that the server has accepted.
type served struct {
	net.Conn

	mu              sync.Mutex
	sessions        int // open now
	most            int
	bytesFromClient int
}

// Read counts what the client sends.
func (c *served) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	c.bytesFromClient += n
	c.mu.Unlock()
	return n, err
}

// peak returns how many sessions were open at a time.
func (c *served) peak() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.most
}

type execution struct {
	ssh.Channel
	conn    *served
	command string
	env     map[string]string
}

// newServer starts a server. change may be nil.
func newServer(t *testing.T, change func(*server)) *server {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{t: t, listener: l, end: make(chan struct{}), config: &ssh.ServerConfig{
		PublicKeyCallback: func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, nil },
	}}
	s.config.AddHostKey(hostKey)
	s.exec = func(e *execution) int {
		_, _ = io.Copy(e, e)
		return 0
	}
	s.open = s.accept
	if change != nil {
		change(s)
	}
	s.wg.Go(s.listen)
	t.Cleanup(func() {
		close(s.end)
		_ = l.Close()
		s.hangUp()
		s.wg.Wait()
	})
	return s
}

func (s *server) addr() string { return s.listener.Addr().String() }

// connections returns all that were ever accepted.
func (s *server) connections() []*served {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]*served(nil), s.conns...)
}

// hangUp ends all connections.
func (s *server) hangUp() {
	for _, c := range s.connections() {
		_ = c.Close()
	}
}

func (s *server) listen() {
	for {
		raw, err := s.listener.Accept()
		if err != nil {
			return
		}
		c := &served{Conn: raw}
		s.mu.Lock()
		s.conns = append(s.conns, c)
		s.mu.Unlock()
		s.wg.Go(func() {
			defer c.Close()
			if s.raw != nil {
				s.raw(c)
				return
			}
			s.serve(c)
		})
	}
}

func (s *server) serve(c *served) {
	conn, chans, reqs, err := ssh.NewServerConn(c, s.config)
	if err != nil {
		return
	}
	s.wg.Go(func() {
		for req := range reqs {
			if !s.ignore {
				_ = req.Reply(false, nil)
			}
		}
	})
	for ch := range chans {
		s.wg.Go(func() { s.open(c, ch) })
	}
	_ = conn.Wait()
}

// accept opens the channel and runs what is asked for on it.
func (s *server) accept(c *served, open ssh.NewChannel) {
	c.mu.Lock()
	c.sessions++
	c.most = max(c.most, c.sessions)
	c.mu.Unlock()
	over := func() {
		c.mu.Lock()
		c.sessions--
		c.mu.Unlock()
	}
	ch, reqs, err := open.Accept()
	if err != nil {
		over()
		return
	}
	e := &execution{Channel: ch, conn: c, env: map[string]string{}}
	for req := range reqs {
		_ = req.Reply(true, nil)
		switch req.Type {
		case "env":
			var m struct{ Name, Value string }
			_ = ssh.Unmarshal(req.Payload, &m)
			e.env[m.Name] = m.Value
			continue
		case "exec":
			var m struct{ Command string }
			_ = ssh.Unmarshal(req.Payload, &m)
			e.command = m.Command
			if status := s.exec(e); status >= 0 {
				_, _ = ch.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{uint32(status)}))
			}
		}
		break
	}
	over()
	_ = ch.Close()
	for range reqs {
		// The client may have something to say until it, too, has closed.
	}
}

// block is a step of a server that does nothing until the test is over.
func (s *server) block() { <-s.end }

// The keys of all tests here.
var (
	hostKey  = newSigner()
	identity = newIdentity()
)

func newSigner() ssh.Signer {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	signer, err := ssh.NewSignerFromKey(key)
	if err != nil {
		panic(err)
	}
	return signer
}

func newIdentity() string {
	_, key, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		panic(err)
	}
	block, err := ssh.MarshalPrivateKey(key, "")
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(block))
}

// knownHosts returns the line for addr and key.
func knownHosts(addr string, key ssh.PublicKey) string {
	host, port, _ := net.SplitHostPort(addr)
	return fmt.Sprintf("[%s]:%s %s", host, port, ssh.MarshalAuthorizedKey(key))
}

// authFor returns credentials for user at addr.
func authFor(t *testing.T, addr, user, known string) *gitauth.Auth {
	t.Helper()
	k, err := gitauth.NewKeychain([]gitauth.Entry{{
		URL:    "ssh://" + addr,
		Secret: map[string]string{"identity": identity, "known_hosts": known},
	}}, gitauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := giturl.Parse("ssh://" + user + "@" + addr + "/acme/app.git")
	if err != nil {
		t.Fatal(err)
	}
	auth, err := k.For(r)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

func (s *server) auth() *gitauth.Auth {
	return authFor(s.t, s.addr(), "git", knownHosts(s.addr(), hostKey.PublicKey()))
}

// newPool returns a pool that the end of the test closes.
func newPool(t *testing.T, o Options) *Pool {
	t.Helper()
	p := New(o)
	t.Cleanup(func() {
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	})
	return p
}

// run runs command and returns its output. It returns an error for each way
// in which it did not succeed.
func run(ctx context.Context, p *Pool, addr string, auth *gitauth.Auth, command, input string) (string, error) {
	s, err := p.Session(ctx, addr, auth, map[string]string{"GIT_PROTOCOL": "version=2"}, command)
	if err != nil {
		return "", err
	}
	defer s.Close()
	if input != "" {
		if _, err := io.WriteString(s.Stdin, input); err != nil {
			return "", err
		}
	}
	if err := s.Stdin.Close(); err != nil {
		return "", err
	}
	out, err := io.ReadAll(s.Stdout)
	if err != nil {
		return "", err
	}
	return string(out), s.Wait()
}

// mustRun is run on the server s, where nothing may fail.
func (s *server) mustRun(p *Pool, input string) {
	s.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), guard)
	defer cancel()
	out, err := run(ctx, p, s.addr(), s.auth(), "cat", input)
	if err != nil || out != input {
		s.t.Fatalf("output %q, error %v; want %q", out, err, input)
	}
}

// wantFault checks kind and phase of err, and that its text has each of parts.
func wantFault(t *testing.T, err error, kind fault.Kind, phase fault.Phase, parts ...string) *fault.Error {
	t.Helper()
	var f *fault.Error
	if !errors.As(err, &f) {
		t.Fatalf("got %v (%T), want a fault of kind %s", err, err, kind)
	}
	if f.Kind != kind || f.Phase != phase {
		t.Errorf("got kind %q in phase %q, want %q in %q: %v", f.Kind, f.Phase, kind, phase, f)
	}
	for _, part := range parts {
		if !strings.Contains(f.Error(), part) {
			t.Errorf("the error lacks %q: %v", part, f)
		}
	}
	return f
}

// eventually waits until ok, which other goroutines bring about.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	end := time.After(guard)
	for !ok() {
		select {
		case <-tick.C:
		case <-end:
			t.Fatal("never happened: " + what)
		}
	}
}
