package sshpool

import (
	"slices"
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
	// spares are slots opened ahead of need, not counted in inUse. The next
	// session on one of them saves a round trip.
	spares []*slot
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
	if len(c.spares) == 0 && c.inUse >= c.limit {
		return nil
	}
	if c.idle != nil {
		c.idle.Stop()
		c.idle = nil
	}
	c.inUse++
	if len(c.spares) == 0 {
		return c.newSlot()
	}
	s := c.spares[0]
	c.spares = c.spares[1:]
	if c.raw.heardSince(time.Now().Add(-spareAge)) {
		return s
	}
	// Only an open that is answered shows that the peer is still there.
	s.abandon()
	return c.take()
}

// spareAge is how long ago a connection may have been heard of last for its
// spare slots to be used.
const spareAge = 5 * time.Second

// openAhead opens spare slots where there is room, one for each session: all of
// them may end at the same time. One command alone does not show that more will
// come.
func (c *conn) openAhead() {
	if c.host.started < 2 || c.dead || c.retired {
		return
	}
	for len(c.spares) < max(1, c.inUse-c.closing) && c.room() > 0 {
		c.spares = append(c.spares, c.newSlot())
	}
}

// room returns how many more slots the connection takes.
func (c *conn) room() int { return c.limit - c.inUse - len(c.spares) }

// ready returns how many spare slots are open.
func (c *conn) ready() (n int) {
	for _, s := range c.spares {
		select {
		case <-s.opened:
			n++
		default:
		}
	}
	return n
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
	if i := slices.Index(c.spares, s); i >= 0 {
		c.spares = slices.Delete(c.spares, i, i+1)
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
	others := c.inUse + len(c.spares) - 1
	if slices.Contains(c.spares, s) {
		// Nobody misses it. The next one that is needed is asked for alone.
		c.limit = max(1, min(c.limit, others))
		return false
	}
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
