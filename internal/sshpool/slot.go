package sshpool

import (
	"context"
	"errors"
	"io"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// slot is a place for one session on a connection, with its channel.
type slot struct {
	conn *conn
	// fresh is true when the connection had served no session before.
	fresh bool

	// opened is closed once the server has answered the open: ch is set, or
	// err is, and refused when that is the server's last word.
	opened  chan struct{}
	ch      ssh.Channel
	err     error
	refused bool

	exited chan struct{} // closed when the exit status came; exit holds it
	exit   ExitError
	closed chan struct{} // closed when the server closed the channel, or the connection ended

	// Guarded by Pool.mu:
	over  bool        // the session is over here
	freed bool        // and at the server
	grace *time.Timer // runs from the one to the other
}

// run opens the slot's channel and serves it until the server closes it. Only
// then is the slot free: until then OpenSSH counts it against MaxSessions.
func (s *slot) run() {
	ch, reqs, err := s.open()
	s.answered(ch, err)
	if err == nil {
		s.serve(reqs)
	}
	close(s.closed)
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.freed = true
	s.conn.release(s)
}

// open opens the channel. x/crypto/ssh waits for ever for one that is asked for
// when it has just told all others that the connection ended, which is exactly
// when another slot becomes free: so the socket is asked first.
func (s *slot) open() (ssh.Channel, <-chan *ssh.Request, error) {
	if s.conn.raw.hasEnded() {
		return nil, nil, io.ErrUnexpectedEOF
	}
	return s.conn.ssh.OpenChannel("session", nil)
}

// answered notes the server's answer to the open.
func (s *slot) answered(ch ssh.Channel, err error) {
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.ch, s.err = ch, err
	var refusal *ssh.OpenChannelError
	switch {
	case errors.As(err, &refusal):
		s.refused = s.conn.refused(s)
	case err == nil:
		s.conn.served = true
		if s.over {
			s.hangUp()
		}
	}
	close(s.opened)
}

// serve takes the server's requests on the channel (RFC 4254, section 6.10)
// until it is closed.
func (s *slot) serve(reqs <-chan *ssh.Request) {
	seen := false
	for req := range reqs {
		_ = req.Reply(false, nil)
		if seen {
			continue
		}
		switch req.Type {
		case "exit-status":
			var m struct{ Status uint32 }
			seen = ssh.Unmarshal(req.Payload, &m) == nil
			s.exit = ExitError{Status: int(m.Status)}
		case "exit-signal":
			var m struct {
				Signal     string
				CoreDumped bool
				Message    string
				Language   string
			}
			seen = ssh.Unmarshal(req.Payload, &m) == nil
			s.exit = ExitError{Status: -1, Signal: m.Signal}
		}
		if seen {
			close(s.exited)
		}
	}
}

// abandon says that the caller needs the slot no longer. The server is told
// to close the channel; a connection on which it does not is retired. Pool.mu
// is held; those who wait are for the caller to see to.
func (s *slot) abandon() {
	if s.over || s.freed {
		return
	}
	s.over = true
	c := s.conn
	c.closing++
	if s.ch != nil {
		s.hangUp()
	}
	s.grace = time.AfterFunc(c.host.pool.closeGrace, func() {
		c.host.pool.mu.Lock()
		defer c.host.pool.mu.Unlock()
		if !s.freed {
			c.retire()
			c.host.dispatch()
		}
	})
	c.settle()
}

// hangUp asks the server to close the channel, without waiting for the write.
func (s *slot) hangUp() {
	ch := s.ch
	go func() { _ = ch.Close() }()
}

// giveUp abandons the slot and its connection, which answers no more.
func (s *slot) giveUp() {
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.conn.retire()
	s.abandon()
	s.conn.host.dispatch()
}

// started notes that a command was asked for on the slot.
func (s *slot) started() {
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.conn.host.started++
	s.conn.openAhead()
}

// leave abandons the slot.
func (s *slot) leave() {
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	s.abandon()
	s.conn.host.dispatch()
}

// await waits for the channel to be open. It returns again when it is not,
// and another connection should be asked: because this one was not fresh and
// is dead, or because the server gives it no further session.
func (s *slot) await(ctx context.Context) (again bool, err *fault.Error) {
	var patience <-chan time.Time
	asked := time.Now()
	if !s.fresh {
		t := time.NewTicker(s.conn.host.pool.patience)
		defer t.Stop()
		patience = t.C
	}
	for {
		select {
		case <-s.opened:
			return s.judge()
		case <-s.conn.gone:
			select {
			case <-s.opened: // the answer came first
				return s.judge()
			default:
				return s.lost(io.ErrUnexpectedEOF)
			}
		case <-ctx.Done():
			s.leave()
			return false, s.ended(ctx)
		case <-patience:
			if s.conn.raw.heardSince(asked) {
				continue // it lives, and is only slow
			}
			s.giveUp()
			return true, nil
		}
	}
}

// judge says what the server's answer to the open means.
func (s *slot) judge() (again bool, err *fault.Error) {
	var refusal *ssh.OpenChannelError
	switch {
	case s.err == nil:
		return false, nil
	case !errors.As(s.err, &refusal):
		return s.lost(s.err)
	case !s.refused:
		return true, nil
	}
	return false, &fault.Error{
		Kind:     fault.Forbidden,
		Phase:    fault.PhaseAnswer,
		Happened: s.conn.host.addr + " accepted the login, but opened no session",
		Server:   s.conn.host.clean(refusal.Message),
		Advice:   "This account may not run commands over ssh. Check that it is one for git access.",
		Err:      s.err,
	}
}

// lost says what to do about a connection that ended before anything was
// answered: a pooled one may have been dead for long, so that is no failure
// yet.
func (s *slot) lost(cause error) (again bool, err *fault.Error) {
	if !s.fresh {
		return true, nil
	}
	return false, connectionLost(s.conn.host.addr, fault.PhaseAnswer, cause)
}

// ended describes the end of ctx while s waited for the server.
func (s *slot) ended(ctx context.Context) *fault.Error {
	mu := &s.conn.host.pool.mu
	mu.Lock()
	defer mu.Unlock()
	err := fault.FromContext(ctx, fault.PhaseAnswer)
	err.Happened += ", waiting for " + s.conn.host.addr
	// A host that logs us in and then opens no session at all is at fault,
	// not the repository.
	err.HostWide = err.Kind == fault.Timeout && !s.conn.served
	return err
}
