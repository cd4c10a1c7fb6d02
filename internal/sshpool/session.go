package sshpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"sync"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// Session is one command that runs on the server. Its streams may be used by
// one goroutine each. Close must be called.
type Session struct {
	// Stdin goes to the command. A write returns when the server has room
	// for it. Closing it tells the command that nothing more comes.
	Stdin io.WriteCloser
	// Stdout is what the command prints. It ends with io.EOF only when the
	// server said so: a lost connection is a *fault.Error. At io.EOF Stderr is
	// complete.
	Stdout io.Reader

	ctx    context.Context
	slot   *slot
	out    *stdout
	stderr *stderr
	close  sync.Once
}

// start asks for the command on the slot, whose channel is open. It returns
// again when the pooled connection turned out to be dead.
func start(ctx context.Context, s *slot, env map[string]string, command string) (session *Session, again bool, err *fault.Error) {
	sent := s.do(ctx, func() error { return request(s.ch, env, command) })
	switch {
	case sent != nil && ctx.Err() != nil:
		s.leave()
		return nil, false, s.ended(ctx)
	case sent != nil && s.connectionEnded(ctx):
		again, err = s.lost(sent)
		return nil, again, err
	}
	s.started()
	// Any other error means that the server has closed the channel already:
	// what it said before, and how it ended, is for the reader to see.
	session = &Session{ctx: ctx, slot: s, stderr: &stderr{done: make(chan struct{})}}
	session.out = &stdout{session: session, chunks: make(chan chunk), more: make(chan struct{}, 1), done: make(chan struct{})}
	session.Stdin, session.Stdout = &stdin{session: session}, session.out
	go session.out.pump(s.ch)
	go session.stderr.collect(s.ch.Stderr())
	return session, false, nil
}

// request sends the requests for env and command (RFC 4254, sections 6.4 and
// 6.5), and asks for no reply to either: that would cost a round trip each,
// and a server that ran nothing closes the channel anyway.
func request(ch ssh.Channel, env map[string]string, command string) error {
	for _, name := range slices.Sorted(maps.Keys(env)) {
		payload := ssh.Marshal(struct{ Name, Value string }{name, env[name]})
		if _, err := ch.SendRequest("env", false, payload); err != nil {
			return err
		}
	}
	_, err := ch.SendRequest("exec", false, ssh.Marshal(struct{ Command string }{command}))
	return err
}

// do runs f, which the peer may hold up, and returns its error, or that of
// ctx, or io.ErrUnexpectedEOF when the connection ended. In the last two cases
// f may still be running.
func (s *slot) do(ctx context.Context, f func() error) error {
	done := make(chan error, 1)
	go func() { done <- f() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
		return ctx.Err()
	case <-s.conn.gone:
		return io.ErrUnexpectedEOF
	}
}

// connectionEnded reports whether it was the connection that ended, not only
// the channel: x/crypto/ssh shows both as io.EOF. It asks the server, and takes
// the silence of one that ignores the question for a connection that lives.
func (s *slot) connectionEnded(ctx context.Context) bool {
	ctx, cancel := context.WithTimeout(ctx, s.conn.host.pool.patience)
	defer cancel()
	err := s.do(ctx, func() error {
		_, _, err := s.conn.ssh.SendRequest("keepalive@openssh.com", true, nil)
		return err
	})
	return err != nil && ctx.Err() == nil
}

// Stderr returns what the command has printed as errors so far, at most
// 4 KiB of it, as it came.
func (s *Session) Stderr() string { return s.stderr.text() }

// Close ends the session, whatever state it is in. It does not wait for the
// server; the connection stays in the pool.
func (s *Session) Close() error {
	s.close.Do(func() {
		close(s.out.done)
		s.slot.leave()
	})
	return nil
}

// ExitError says how a command ended that did not succeed.
type ExitError struct {
	// Status is the exit status, -1 if the server gave none.
	Status int
	// Signal is the name of the signal that ended the command, without
	// "SIG"; "" if none did.
	Signal string
}

func (e *ExitError) Error() string {
	switch {
	case e.Signal != "":
		return fmt.Sprintf("the command was ended by signal %s", fault.Clean(e.Signal))
	case e.Status < 0:
		return "the server closed the session without an exit status"
	}
	return fmt.Sprintf("the command ended with status %d", e.Status)
}

// Wait returns nil when the command has ended with status 0, an *ExitError
// when it has ended otherwise, and a *fault.Error when the connection or the
// context ended first. Once Stdout has returned io.EOF it does not block.
func (s *Session) Wait() error {
	select {
	case <-s.slot.exited:
		return s.slot.exit.orNil()
	case <-s.slot.closed:
	case <-s.ctx.Done():
		return s.ended()
	}
	select {
	case <-s.slot.exited: // just before the end
		return s.slot.exit.orNil()
	default:
	}
	switch {
	case s.slot.connectionEnded(s.ctx):
		return connectionLost(s.slot.conn.host.addr, s.phase(), io.ErrUnexpectedEOF)
	case s.ctx.Err() != nil:
		return s.ended()
	}
	return &ExitError{Status: -1}
}

// end says how the output ended: with io.EOF if it was the server that ended
// it. It waits for what belongs to the end: the rest of the error output and
// the exit status.
func (s *Session) end() error {
	select {
	case <-s.stderr.done:
	case <-s.ctx.Done():
		return s.ended()
	}
	err := s.Wait()
	var exit *ExitError
	if err == nil || errors.As(err, &exit) {
		return io.EOF
	}
	return err
}

func (e ExitError) orNil() error {
	if e.Status == 0 {
		return nil
	}
	return &e
}

// ended describes the end of the session's context.
func (s *Session) ended() *fault.Error {
	err := fault.FromContext(s.ctx, s.phase())
	err.Happened += ", waiting for " + s.slot.conn.host.addr
	return err
}

// phase says how far the session has come.
func (s *Session) phase() fault.Phase {
	if s.out.begun.Load() {
		return fault.PhaseRefs
	}
	return fault.PhaseAnswer
}
