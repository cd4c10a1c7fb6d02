package sshpool

import (
	"errors"
	"io"
	"slices"
	"sync"
	"sync/atomic"

	"golang.org/x/crypto/ssh"
)

// stdin writes to the command.
type stdin struct {
	session *Session
	failed  error
}

// Write sends p, and returns when the server has room for it, or the context
// has ended. It returns io.ErrClosedPipe when the command has ended; what is
// left to read says why.
func (w *stdin) Write(p []byte) (int, error) {
	own := slices.Clone(p) // the write may outlive this call
	if err := w.do(func(ch ssh.Channel) error { _, err := ch.Write(own); return err }); err != nil {
		return 0, err
	}
	return len(p), nil
}

// Close sends the end of the input. It is no error if the command has ended.
func (w *stdin) Close() error {
	err := w.do(ssh.Channel.CloseWrite)
	if errors.Is(err, io.ErrClosedPipe) {
		return nil
	}
	return err
}

// do runs f. After an error nothing more is sent: what failed may still be at
// work.
func (w *stdin) do(f func(ssh.Channel) error) error {
	if w.failed != nil {
		return w.failed
	}
	s := w.session
	err := s.slot.do(s.ctx, func() error { return f(s.slot.ch) })
	switch {
	case err == nil:
		return nil
	case s.ctx.Err() != nil:
		err = s.ended()
	case errors.Is(err, io.EOF): // x/crypto's word for a closed channel
		err = io.ErrClosedPipe
	default:
		err = connectionLost(s.slot.conn.host.addr, s.phase(), err)
	}
	w.failed = err
	return err
}

// Sizes of the reads from a channel, in bytes. Most answers are short. For a
// long one large reads matter: x/crypto/ssh answers a read with a window
// adjustment packet when much is waiting.
const (
	firstRead  = 4 << 10
	furtherMax = 64 << 10
)

// stdout reads from the command. A goroutine reads ahead by one chunk,
// because a read of an ssh.Channel cannot be ended from outside.
type stdout struct {
	session *Session
	chunks  chan chunk
	more    chan struct{} // the chunk was used up
	done    chan struct{} // closed when nobody reads any more
	begun   atomic.Bool   // something was read

	rest   []byte // of the current chunk
	taken  bool   // there is a current chunk, whose buffer the pump waits for
	failed error
}

type chunk struct {
	data []byte
	err  error
}

// pump hands over chunk after chunk, until the end or until nobody reads.
func (o *stdout) pump(r io.Reader) {
	buf := make([]byte, firstRead)
	for {
		n, err := r.Read(buf)
		if n > 0 {
			o.begun.Store(true)
		}
		select {
		case o.chunks <- chunk{buf[:n], err}:
		case <-o.done:
			return
		}
		if err != nil {
			return
		}
		select {
		case <-o.more:
		case <-o.done:
			return
		}
		if n == len(buf) {
			buf = make([]byte, furtherMax)
		}
	}
}

// Read returns what the command has printed. See Session.Stdout.
func (o *stdout) Read(p []byte) (int, error) {
	if len(p) == 0 {
		return 0, nil
	}
	for len(o.rest) == 0 {
		if o.failed != nil {
			return 0, o.failed
		}
		o.next()
	}
	n := copy(p, o.rest)
	o.rest = o.rest[n:]
	return n, nil
}

// next waits for a chunk and puts it into rest, or why there is none into
// failed.
func (o *stdout) next() {
	s := o.session
	if o.taken {
		o.taken = false
		o.more <- struct{}{}
	}
	select {
	case c := <-o.chunks:
		o.rest, o.taken = c.data, true
		if c.err != nil {
			o.taken = false
			o.failed = s.end()
		}
	case <-s.ctx.Done():
		o.failed = s.ended()
	case <-o.done:
		o.failed = io.ErrClosedPipe
	}
}

// stderrLimit bounds what is kept of the command's error output, in bytes.
const stderrLimit = 4 << 10

// stderr keeps the beginning of what the command prints as errors.
type stderr struct {
	done chan struct{} // closed when nothing more comes

	mu   sync.Mutex
	kept []byte
}

// collect reads r to its end, so that a talkative command is never held up.
func (e *stderr) collect(r io.Reader) {
	defer close(e.done)
	buf := make([]byte, 1<<10)
	for {
		n, err := r.Read(buf)
		e.mu.Lock()
		e.kept = append(e.kept, buf[:min(n, stderrLimit-len(e.kept))]...)
		e.mu.Unlock()
		if err != nil {
			return
		}
	}
}

func (e *stderr) text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return string(e.kept)
}
