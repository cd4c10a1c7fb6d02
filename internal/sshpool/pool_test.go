package sshpool

import (
	"context"
	"fmt"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// gate is a command that runs until it is let go.
type gate struct {
	started chan struct{}
	release chan struct{}
}

func newGate() *gate { return &gate{make(chan struct{}, 100), make(chan struct{})} }

func (g *gate) exec(s *server) func(*execution) int {
	return func(e *execution) int {
		g.started <- struct{}{}
		select {
		case <-g.release:
		case <-s.end:
		}
		_, _ = io.Copy(e, e)
		return 0
	}
}

func TestPoolSharesOneDial(t *testing.T) {
	s := newServer(t, nil)
	var dials atomic.Int32
	p := newPool(t, Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		dials.Add(1)
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	auth := s.auth()
	var wg sync.WaitGroup
	for i := range 5 {
		wg.Go(func() {
			input := fmt.Sprint("call ", i)
			if out, err := run(t.Context(), p, s.addr(), auth, "cat", input); out != input || err != nil {
				t.Errorf("output %q, %v", out, err)
			}
		})
	}
	wg.Wait()
	for range 3 {
		s.mustRun(p, "later") // with credentials of its own, which are equal
	}
	if n := dials.Load(); n != 1 {
		t.Errorf("%d dials, want 1", n)
	}
}

func TestPoolKeepsUsersAndCredentialsApart(t *testing.T) {
	s := newServer(t, nil)
	p := newPool(t, Options{})
	known := knownHosts(s.addr(), hostKey.PublicKey())
	for _, auth := range []struct{ user, known string }{{"git", known}, {"acme", known}, {"git", "# another\n" + known}} {
		if _, err := run(t.Context(), p, s.addr(), authFor(t, s.addr(), auth.user, auth.known), "cat", "x"); err != nil {
			t.Fatal(err)
		}
	}
	if n := len(s.connections()); n != 3 {
		t.Errorf("%d connections for three logins", n)
	}
}

// pending is a dial that a test lets go, or that ends with its context.
type pending struct {
	asked, ended chan struct{}
	goOn         chan struct{}
}

func newPending() *pending {
	return &pending{make(chan struct{}, 10), make(chan struct{}, 10), make(chan struct{})}
}

func (d *pending) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d.asked <- struct{}{}
	select {
	case <-d.goOn:
		return new(net.Dialer).DialContext(ctx, network, addr)
	case <-ctx.Done():
		d.ended <- struct{}{}
		return nil, ctx.Err()
	}
}

func TestPoolDialOutlivesTheCallerThatBeganIt(t *testing.T) {
	s := newServer(t, nil)
	d := newPending()
	p := newPool(t, Options{Dial: d.dial})
	auth := s.auth()
	ctx, cancel := context.WithCancel(t.Context())
	first, second := make(chan error, 1), make(chan error, 1)
	go func() { _, err := run(ctx, p, s.addr(), auth, "cat", "x"); first <- err }()
	<-d.asked
	go func() { _, err := run(t.Context(), p, s.addr(), auth, "cat", "x"); second <- err }()
	eventually(t, "two wait", func() bool { return p.waiting() == 2 })
	cancel()
	wantFault(t, <-first, fault.Canceled, fault.PhaseDial)
	close(d.goOn)
	if err := <-second; err != nil {
		t.Error(err)
	}
	if n := len(s.connections()); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// waiting counts the callers that wait for a connection.
func (p *Pool) waiting() (n int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		n += len(h.waiters)
	}
	return n
}

func TestPoolDialEndsWithTheLastCaller(t *testing.T) {
	s := newServer(t, nil)
	d := newPending()
	p := newPool(t, Options{Dial: d.dial})
	auth := s.auth()
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	failed := make(chan error, 3)
	for range 3 {
		go func() { _, err := run(ctx, p, s.addr(), auth, "cat", "x"); failed <- err }()
	}
	<-d.asked
	for range 3 {
		if f := wantFault(t, <-failed, fault.Timeout, fault.PhaseDial, s.addr()); !f.HostWide {
			t.Error("a dial that timed out is about the host")
		}
	}
	<-d.ended
	// Whoever comes next is not harmed by what was cancelled.
	close(d.goOn)
	s.mustRun(p, "x")
}

// Each caller gets an error of its own: lsremote writes into it what was asked.
func TestPoolFailedDialIsToldToAll(t *testing.T) {
	d := newPending()
	p := newPool(t, Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		d.asked <- struct{}{}
		<-d.goOn
		return nil, &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, Happened: "no route"}
	}})
	auth := authFor(t, "git.example.com:22", "git", knownHosts("git.example.com:22", hostKey.PublicKey()))
	failed := make(chan error, 20)
	for range 20 {
		go func() { _, err := run(t.Context(), p, "git.example.com:22", auth, "x", ""); failed <- err }()
	}
	eventually(t, "all wait", func() bool { return p.waiting() == 20 })
	close(d.goOn)
	seen := map[*fault.Error]bool{}
	for range 20 {
		seen[wantFault(t, <-failed, fault.Unavailable, fault.PhaseDial, "no route")] = true
	}
	if len(seen) != 20 || len(d.asked) != 1 {
		t.Errorf("%d errors and %d dials for 20 callers, want 20 and 1", len(seen), len(d.asked))
	}
}

func TestPoolOpensAnotherConnectionWhenOneIsFull(t *testing.T) {
	g := newGate()
	s := newServer(t, nil)
	s.exec = g.exec(s)
	p := newPool(t, Options{})
	auth := s.auth()
	var wg sync.WaitGroup
	for range 12 {
		wg.Go(func() {
			if _, err := run(t.Context(), p, s.addr(), auth, "cat", "x"); err != nil {
				t.Error(err)
			}
		})
	}
	for range 12 {
		<-g.started
	}
	conns := s.connections()
	if len(conns) != 3 {
		t.Errorf("%d connections for 12 sessions, want 3", len(conns))
	}
	close(g.release)
	wg.Wait()
	for _, c := range conns {
		if most := c.peak(); most > 5 {
			t.Errorf("%d sessions at a time, want at most 5", most)
		}
	}
}

// The server's limit is below ours: no refusal surfaces.
func TestPoolRefusedSessionGoesToAnotherConnection(t *testing.T) {
	for limit := 1; limit <= 3; limit++ {
		t.Run(fmt.Sprint(limit), func(t *testing.T) {
			g := newGate()
			s := newServer(t, nil)
			s.exec = g.exec(s)
			s.open = func(c *served, ch ssh.NewChannel) {
				c.mu.Lock()
				full := c.sessions >= limit
				c.mu.Unlock()
				if full {
					_ = ch.Reject(ssh.ResourceShortage, "open failed")
					return
				}
				s.accept(c, ch)
			}
			p := newPool(t, Options{})
			auth := s.auth()
			var wg sync.WaitGroup
			for range 7 {
				wg.Go(func() {
					if _, err := run(t.Context(), p, s.addr(), auth, "cat", "x"); err != nil {
						t.Error(err)
					}
				})
			}
			for range 7 {
				<-g.started
			}
			close(g.release)
			wg.Wait()
		})
	}
}

func TestPoolAccountWithoutSessions(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.open = func(_ *served, ch ssh.NewChannel) { _ = ch.Reject(ssh.Prohibited, "no commands\nfor you") }
	})
	p := newPool(t, Options{})
	auth := s.auth()
	failed := make(chan error, 8)
	for range 8 {
		go func() { _, err := run(t.Context(), p, s.addr(), auth, "x", ""); failed <- err }()
	}
	for range 8 {
		wantFault(t, <-failed, fault.Forbidden, fault.PhaseAnswer, "opened no session", `"no commands for you"`)
	}
}

func TestPoolClosesIdleConnections(t *testing.T) {
	s := newServer(t, nil)
	p := newPool(t, Options{IdleTimeout: time.Millisecond})
	s.mustRun(p, "x")
	eventually(t, "the connection is closed", func() bool { return len(p.connections()) == 0 })
	s.mustRun(p, "x")
}

func TestPoolClose(t *testing.T) {
	s := newServer(t, func(s *server) { s.exec = func(*execution) int { s.block(); return 0 } })
	d := newPending()
	p := New(Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if addr == s.addr() {
			return new(net.Dialer).DialContext(ctx, network, addr)
		}
		return d.dial(ctx, network, addr)
	}})
	session, err := p.Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	const other = "git.example.com:22"
	auth := authFor(t, other, "git", knownHosts(other, hostKey.PublicKey()))
	dialing := make(chan error, 1)
	go func() { _, err := p.Session(t.Context(), other, auth, nil, "x"); dialing <- err }()
	<-d.asked
	if err := p.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadAll(session.Stdout); fault.KindOf(err) != fault.Unavailable {
		t.Errorf("read: %v", err)
	}
	if err := session.Close(); err != nil {
		t.Error(err)
	}
	wantFault(t, <-dialing, fault.Canceled, fault.PhaseQueue)
	_, err = p.Session(t.Context(), s.addr(), s.auth(), nil, "x")
	wantFault(t, err, fault.Canceled, fault.PhaseQueue)
}

// While one connection serves, the failure to make another is no failure.
func TestPoolCrowdedServer(t *testing.T) {
	g := newGate()
	s := newServer(t, nil)
	s.exec = g.exec(s)
	var dials atomic.Int32
	p := newPool(t, Options{MaxSessions: 2, Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		if dials.Add(1) > 1 {
			return nil, &net.OpError{Op: "dial", Err: io.ErrUnexpectedEOF}
		}
		return new(net.Dialer).DialContext(ctx, network, addr)
	}})
	auth := s.auth()
	var wg sync.WaitGroup
	for range 6 {
		wg.Go(func() {
			if _, err := run(t.Context(), p, s.addr(), auth, "cat", "x"); err != nil {
				t.Error(err)
			}
		})
	}
	<-g.started
	<-g.started
	eventually(t, "another connection was tried", func() bool { return dials.Load() > 1 })
	close(g.release)
	wg.Wait()
	if n := len(s.connections()); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
