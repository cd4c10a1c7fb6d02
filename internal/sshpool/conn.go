package sshpool

import (
	"time"

	"golang.org/x/crypto/ssh"
)

// conn is one connection, logged in. Fields are guarded by Pool.mu.
type conn struct {
	host *host
	raw  *watchedConn
	ssh  ssh.Conn
	// gone is closed when the connection has ended, for whatever reason.
	gone chan struct{}
	dead bool

	// limit is how many sessions it takes at a time; less than the pool's
	// after the server refused one.
	limit int
	// inUse counts the slots taken; closing those of them whose session is
	// over here, but not yet at the server.
	inUse, closing int
	// served is true once the server has opened a session on it.
	served bool
	// spare is a slot opened ahead of need; it is not counted in inUse. The
	// next session on it saves a round trip.
	spare *slot
	// started counts the commands run.
	started int
	// retired connections get no new sessions and end with their last one.
	retired bool
	idle    *time.Timer // ends it when no session wants it; nil while in use
}

// newConn returns the pool's connection for what the handshake returned. The
// goroutines that serve it end with it.
func newConn(h *host, raw *watchedConn, sc ssh.Conn, chans <-chan ssh.NewChannel, reqs <-chan *ssh.Request) *conn {
	c := &conn{host: h, raw: raw, ssh: sc, gone: make(chan struct{}), limit: h.pool.maxSessions}
	h.pool.wg.Go(func() {
		// A client has no business with channels that a server opens.
		for ch := range chans {
			_ = ch.Reject(ssh.Prohibited, "not here")
		}
	})
	h.pool.wg.Go(func() {
		// Keepalives want an answer; "no" is one.
		for req := range reqs {
			_ = req.Reply(false, nil)
		}
		h.pool.mu.Lock()
		defer h.pool.mu.Unlock()
		c.kill()
		h.dispatch()
	})
	return c
}

// take returns a slot, nil if none is free; its channel is open or has been
// asked for. Pool.mu is held, as for all methods of conn.
func (c *conn) take() *slot {
	if c.dead || c.retired || c.raw.hasEnded() {
		return nil
	}
	s := c.spare
	if s == nil && c.inUse >= c.limit {
		return nil
	}
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	c.inUse++
	if s == nil {
		return c.newSlot()
	}
	c.spare = nil
	if c.raw.heardSince(time.Now().Add(-spareAge)) {
		return s
	}
	// Only an open that is answered shows that the peer is still there.
	s.abandon()
	return c.take()
}

// spareAge is how long ago a connection may have been heard of last for its
// spare slot to be used.
const spareAge = 5 * time.Second

// openAhead opens the spare slot if there is room. One command alone does not
// show that more will come.
func (c *conn) openAhead() {
	if c.spare == nil && c.started > 1 && c.inUse < c.limit && !c.dead && !c.retired {
		c.spare = c.newSlot()
	}
}

// newSlot asks the server for a channel.
func (c *conn) newSlot() *slot {
	s := &slot{conn: c, fresh: !c.served, opened: make(chan struct{}), closed: make(chan struct{}), exited: make(chan struct{})}
	go s.run()
	return s
}

// release frees the slot s, once the server has closed its channel or refused
// to open it.
func (c *conn) release(s *slot) {
	if c.spare == s {
		c.spare = nil
		return
	}
	c.inUse--
	if s.over {
		c.closing--
	}
	if s.grace != nil {
		s.grace.Stop()
	}
	c.settle()
	c.host.dispatch()
	c.openAhead()
}

// settle decides what becomes of a connection after a change.
func (c *conn) settle() {
	switch {
	case c.dead:
	case c.retired && c.inUse == c.closing:
		c.kill()
	case c.inUse == 0 && c.idle == nil:
		c.idle = time.AfterFunc(c.host.pool.idleTimeout, func() {
			c.host.pool.mu.Lock()
			defer c.host.pool.mu.Unlock()
			if c.inUse == 0 {
				c.kill()
			}
		})
	}
}

// refused notes that the server opened no session for s, and reports whether
// that is its last word: it is when the connection is fresh and has no other.
func (c *conn) refused(s *slot) (final bool) {
	if c.spare == s {
		// Nobody misses it. The next one that is needed is asked for alone.
		c.limit = max(1, min(c.limit, c.inUse))
		return false
	}
	others := c.inUse - 1
	if others > 0 {
		c.limit = min(c.limit, others)
		return false
	}
	// A server may still count a session that has just ended: then a new
	// connection will tell.
	c.retire()
	return !c.served
}

// retire lets the connection end with its last session.
func (c *conn) retire() {
	c.retired = true
	c.settle()
}

// kill ends the connection at once, and with it every goroutine that waits
// for its peer.
func (c *conn) kill() {
	if c.dead {
		return
	}
	c.dead = true
	if c.idle != nil {
		c.idle.Stop()
	}
	c.host.remove(c)
	close(c.gone)
	// The socket itself: ssh.Conn.Close waits for goroutines that a peer can
	// keep busy.
	_ = c.raw.Close()
}
