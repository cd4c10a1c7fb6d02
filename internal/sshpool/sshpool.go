// Package sshpool runs commands on SSH servers over connections that are
// shared: one connection serves all repositories of a host, a few sessions at
// a time. It never reads ~/.ssh, an agent or the environment: whom to log in
// as, and which host keys to trust, is for the caller's credentials to say.
//
// Each wait ends with the caller's context, whatever the peer does or fails
// to do: golang.org/x/crypto/ssh knows no contexts, so each of its calls that
// a peer could block runs in a goroutine of its own, and dies with the
// connection at the latest.
package sshpool

import (
	"context"
	"net"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
)

// Options say how connections are made and shared. The zero value of each
// field means the default that its comment names.
type Options struct {
	// MaxSessions is how many sessions may be open on one connection at a
	// time. Default 5: OpenSSH allows 10 (MaxSessions), but counts a session
	// twice when it handles a close and an open together.
	MaxSessions int
	// Dial makes the TCP connection. It must obey ctx. Default: a net.Dialer
	// with TCP keepalive. A *fault.Error from it is passed on as it is.
	Dial func(ctx context.Context, network, addr string) (net.Conn, error)
	// IdleTimeout is how long a connection without a session is kept. Default
	// 60 s.
	IdleTimeout time.Duration
}

// Waits that no user needs to set. They are fields of the pool, so that tests
// need not wait as long.
const (
	// defaultCloseGrace is how long a server may take to answer the close of
	// a session, before its connection takes no new ones.
	defaultCloseGrace = 5 * time.Second
	// defaultPatience is how long a pooled connection may be silent after a
	// session was asked for, before it is given up as dead: a peer that is
	// gone without a word (a laptop that slept, a NAT that forgot) never
	// answers.
	defaultPatience = 10 * time.Second
)

// Pool holds the connections. It is safe for concurrent use.
type Pool struct {
	maxSessions int
	dial        func(ctx context.Context, network, addr string) (net.Conn, error)
	idleTimeout time.Duration
	closeGrace  time.Duration
	patience    time.Duration

	ctx  context.Context // ends when the pool is closed, and all dials with it
	stop context.CancelFunc
	wg   sync.WaitGroup // dials under way and connections

	mu     sync.Mutex // guards all that follows, and every field of host, conn and slot that says so
	closed bool
	hosts  map[login]*host
}

// login says who shares connections: the same address, reached with the
// same credentials as the same user.
type login struct{ addr, user, auth string }

// New returns an empty pool. It makes no connection before it is asked to.
func New(o Options) *Pool {
	if o.MaxSessions <= 0 {
		o.MaxSessions = 5
	}
	if o.IdleTimeout <= 0 {
		o.IdleTimeout = 60 * time.Second
	}
	if o.Dial == nil {
		// Three lost probes end a connection whose peer vanished while idle.
		dialer := &net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
		}}
		o.Dial = dialer.DialContext
	}
	ctx, stop := context.WithCancel(context.Background())
	return &Pool{
		maxSessions: o.MaxSessions,
		dial:        o.Dial,
		idleTimeout: o.IdleTimeout,
		closeGrace:  defaultCloseGrace,
		patience:    defaultPatience,
		ctx:         ctx,
		stop:        stop,
		hosts:       map[login]*host{},
	}
}

// Session logs in to addr ("host:port") as auth says, unless a connection
// that did is at hand, and starts command there, with the environment
// variables env as far as the server accepts them. It does not wait for the
// server to confirm either. The session lives until it is closed; each of its
// waits ends with ctx.
//
// The error is a *fault.Error of its own for each caller, without Asked: a
// failed connection is of phase dial, SSH handshake or authentication and
// HostWide, a session that was not opened of phase "waiting for the answer",
// and one that found no free connection in time of phase queue.
func (p *Pool) Session(ctx context.Context, addr string, auth *gitauth.Auth, env map[string]string, command string) (*Session, error) {
	if auth == nil || auth.SSH == nil {
		return nil, &fault.Error{Kind: fault.Credentials, Phase: fault.PhaseCredentials,
			Happened: "ssh needs a key to log in with",
			Advice:   `Give identity and known_hosts in the secret of an entry of the provider's credentials.`}
	}
	for {
		session, again, err := p.try(ctx, addr, auth, env, command)
		if err != nil {
			return nil, err
		}
		if !again {
			return session, nil
		}
	}
}

// try is one attempt at Session. It returns again when the connection it was
// given served before and is dead, or takes no further session: such a
// connection is not given out again, so the attempts come to an end.
func (p *Pool) try(ctx context.Context, addr string, auth *gitauth.Auth, env map[string]string, command string) (session *Session, again bool, err *fault.Error) {
	came := time.Now()
	s, err := p.slot(ctx, addr, auth)
	if err != nil {
		return nil, false, err
	}
	if again, err = s.await(ctx); again || err != nil {
		return nil, again, err
	}
	s.conn.host.opened(came)
	return start(ctx, s, env, command)
}

// Close ends every connection and every dial, and with them the sessions that
// are still open.
func (p *Pool) Close() error {
	p.mu.Lock()
	p.closed = true
	for _, h := range p.hosts {
		h.close()
	}
	p.mu.Unlock()
	p.stop()
	done := make(chan struct{})
	go func() { p.wg.Wait(); close(done) }()
	select {
	case <-done:
	case <-time.After(closeWait):
	}
	return nil
}

// closeWait bounds Close: x/crypto/ssh does not end on a closed socket while
// packets that it has read ahead find no taker, which a server can bring
// about (a malformed packet followed by many others).
const closeWait = 2 * time.Second
