package sshpool

import (
	"context"
	"net"
	"sync"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// held is a connection whose peer can be made to seem silent: what it sends
// arrives when the test lets it.
type held struct {
	net.Conn
	mu     sync.Mutex
	closed chan struct{}
	silent chan struct{} // nil, or closed when the silence is over
}

func (c *held) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.silent = make(chan struct{})
}

func (c *held) letGo() {
	c.mu.Lock()
	defer c.mu.Unlock()
	close(c.silent)
	c.silent = nil
}

func (c *held) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	c.mu.Lock()
	silent := c.silent
	c.mu.Unlock()
	if silent != nil && err == nil {
		select {
		case <-silent:
		case <-c.closed:
			return 0, net.ErrClosed
		}
	}
	return n, err
}

func (c *held) Close() error {
	err := c.Conn.Close()
	if err == nil {
		close(c.closed)
	}
	return err
}

// holding makes connections that can be held, and keeps them.
type holding struct {
	mu    sync.Mutex
	conns []*held
}

func (h *holding) dial(ctx context.Context, network, addr string) (net.Conn, error) {
	raw, err := new(net.Dialer).DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	c := &held{Conn: raw, closed: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.conns = append(h.conns, c)
	return c, nil
}

func (h *holding) conn(i int) *held {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.conns[i]
}

// OpenSSH counts a session until its end, not until ours: a slot is free when
// the server has closed the channel.
func TestConnSlotIsFreeWhenTheServerHasClosed(t *testing.T) {
	s := newServer(t, nil)
	var h holding
	p := newPool(t, Options{MaxSessions: 1, Dial: h.dial})
	session, err := p.Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	h.conn(0).hold()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() { defer close(done); s.mustRun(p, "x") }()
	eventually(t, "the next one waits", func() bool { return p.waiting() == 1 })
	h.conn(0).letGo()
	<-done
	if n := len(s.connections()); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}

// A server that never closes a session does not keep others waiting for ever.
func TestConnSlotThatTheServerNeverFrees(t *testing.T) {
	s := newServer(t, nil)
	var h holding
	p := newPool(t, Options{MaxSessions: 1, Dial: h.dial})
	p.closeGrace = time.Millisecond
	session, err := p.Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	h.conn(0).hold()
	if err := session.Close(); err != nil {
		t.Fatal(err)
	}
	s.mustRun(p, "x")
	if n := len(s.connections()); n != 2 {
		t.Errorf("%d connections, want 2", n)
	}
}

func TestConnDeadConnectionIsReplaced(t *testing.T) {
	t.Run("closed by the server", func(t *testing.T) {
		s := newServer(t, nil)
		for range 20 {
			p := newPool(t, Options{})
			s.mustRun(p, "x")
			s.hangUp()
			s.mustRun(p, "x") // whether the pool has noticed yet must not matter
		}
	})
	t.Run("closed with a session opened ahead", func(t *testing.T) {
		s := newServer(t, nil)
		p := newPool(t, Options{})
		for range 3 {
			s.mustRun(p, "x")
			s.mustRun(p, "x")
			s.hangUp()
			eventually(t, "the pool has noticed", func() bool { return len(p.connections()) == 0 })
		}
	})
	t.Run("gone without a word", func(t *testing.T) {
		s := newServer(t, nil)
		var h holding
		p := newPool(t, Options{Dial: h.dial})
		p.patience = 50 * time.Millisecond
		s.mustRun(p, "x")
		eventually(t, "the session is over", func() bool { return p.inUse() == 0 })
		h.conn(0).hold()
		s.mustRun(p, "x")
		if n := len(s.connections()); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
	t.Run("a new one fails too", func(t *testing.T) {
		s := newServer(t, nil)
		p := newPool(t, Options{})
		s.mustRun(p, "x")
		s.open = func(c *served, _ ssh.NewChannel) { _ = c.Close() }
		_, err := run(t.Context(), p, s.addr(), s.auth(), "x", "")
		wantFault(t, err, fault.Unavailable, fault.PhaseAnswer, "was lost")
		if n := len(s.connections()); n != 2 {
			t.Errorf("%d connections, want 2", n)
		}
	})
}

// connections returns the pool's connections. Their fields belong to the pool
// until everything is quiet.
func (p *Pool) connections() (conns []*conn) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		conns = append(conns, h.conns...)
	}
	return conns
}

// inUse counts the slots taken.
func (p *Pool) inUse() (n int) {
	for _, c := range p.connections() {
		p.mu.Lock()
		n += c.inUse
		p.mu.Unlock()
	}
	return n
}

// After the second command a session is opened ahead: the third is there
// without a word from the server.
func TestConnOpensTheNextSessionAhead(t *testing.T) {
	s := newServer(t, nil)
	var h holding
	p := newPool(t, Options{Dial: h.dial})
	p.patience = time.Hour
	spare := func() (ahead *slot) {
		for _, c := range p.connections() {
			p.mu.Lock()
			if len(c.spares) > 0 {
				ahead = c.spares[0]
			}
			p.mu.Unlock()
		}
		return ahead
	}
	s.mustRun(p, "x")
	if spare() != nil {
		t.Error("one command alone made it open another session")
	}
	s.mustRun(p, "x")
	<-spare().opened
	h.conn(0).hold()
	ctx, cancel := context.WithTimeout(t.Context(), guard)
	defer cancel()
	session, err := p.Session(ctx, s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	h.conn(0).letGo()

	// One that has lain there for long shows nothing about the peer.
	eventually(t, "the next is open", func() bool { return spare() != nil })
	old := spare()
	<-old.opened
	raw := p.connections()[0].raw
	raw.mu.Lock()
	raw.heard = time.Now().Add(-time.Hour)
	raw.mu.Unlock()
	s.mustRun(p, "x")
	<-old.closed
	select {
	case <-old.exited:
		t.Error("the old one was used")
	default:
	}
	if most := s.connections()[0].peak(); most > 5 {
		t.Errorf("%d sessions at a time", most)
	}
}
