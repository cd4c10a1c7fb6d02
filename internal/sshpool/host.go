package sshpool

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
)

// host is what all callers of one address and login share. All of it is
// guarded by Pool.mu.
type host struct {
	pool    *Pool
	addr    string
	auth    *gitauth.Auth
	conns   []*conn    // those that may get new sessions, or have some
	dials   []*dialing // under way
	waiters []*waiter  // who wants a session, first come first served
	// started counts the commands run.
	started int
	// lastDial is when a connection was made last, dialTook how long that took,
	// and waited how long callers have waited since then for a session to be
	// opened.
	lastDial         time.Time
	dialTook, waited time.Duration
	// crowded is true after the server took no further connection while it
	// served others: those have to do until one of them ends.
	crowded bool
}

// waiter is a caller that waits for a slot.
type waiter struct{ got chan grant } // of capacity 1

type grant struct {
	slot *slot
	err  *fault.Error
}

// slot returns a place for one session on some connection to addr; its
// channel is open, or about to be. It waits for the places of sessions that
// are being closed, and makes a connection when those are not enough.
func (p *Pool) slot(ctx context.Context, addr string, auth *gitauth.Auth) (*slot, *fault.Error) {
	if err := fault.FromContext(ctx, fault.PhaseQueue); err != nil {
		return nil, err
	}
	p.mu.Lock()
	if p.closed {
		p.mu.Unlock()
		return nil, poolClosed()
	}
	key := login{addr, auth.SSH.User, auth.ID}
	h := p.hosts[key]
	if h == nil {
		h = &host{pool: p, addr: addr, auth: auth}
		p.hosts[key] = h
	}
	w := &waiter{got: make(chan grant, 1)}
	h.waiters = append(h.waiters, w)
	h.dispatch()
	p.mu.Unlock()

	select {
	case g := <-w.got:
		return g.slot, g.err
	case <-ctx.Done():
		return nil, h.leave(ctx, w)
	}
}

// leave takes w, whose context has ended, off the queue, and says what it
// waited for.
func (h *host) leave(ctx context.Context, w *waiter) *fault.Error {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if i := slices.Index(h.waiters, w); i >= 0 {
		h.waiters = slices.Delete(h.waiters, i, i+1)
	} else if g := <-w.got; g.slot != nil {
		g.slot.abandon()
	} else if g.err != nil {
		return g.err
	}
	err := fault.FromContext(ctx, fault.PhaseQueue)
	if len(h.dials) > 0 && h.open() == 0 {
		// Nobody could log in: the host is to blame, not the queue.
		err.Phase = h.dials[0].phase()
		err.Happened += ", waiting for " + h.addr
		err.HostWide = err.Kind == fault.Timeout
	}
	h.dispatch()
	return err
}

// dispatch hands free places to those who wait, and makes connections for
// those who are left over. It is called after every change.
func (h *host) dispatch() {
	for len(h.waiters) > 0 {
		s := h.take()
		if s == nil {
			break
		}
		h.waiters[0].got <- grant{slot: s}
		h.waiters = slices.Delete(h.waiters, 0, 1)
	}
	if h.unwanted() {
		for _, d := range h.dials {
			d.cancel()
		}
		return
	}
	// The places of closing sessions are free within a round trip, which is
	// less than a handshake takes.
	for len(h.waiters) > h.closing()+len(h.dials)*h.pool.maxSessions && h.mayDial() {
		h.startDial()
	}
	if h.waited > h.dialTook && h.cramped() && len(h.dials) == 0 && h.mayDial() {
		h.startDial()
	}
}

// opened notes that a caller who came at since has got its session. Where
// callers have waited for that, all together, for longer than it takes to make a
// connection, another one is worth it: the host is far.
func (h *host) opened(since time.Time) {
	h.pool.mu.Lock()
	defer h.pool.mu.Unlock()
	if since.Before(h.lastDial) {
		return // it waited for that
	}
	h.waited += time.Since(since)
	h.dispatch()
}

// cramped reports whether the connections have no room for the sessions that
// run and as many that are opened ahead.
func (h *host) cramped() bool {
	room, active := 0, len(h.waiters)
	for _, c := range h.conns {
		if !c.retired {
			room += c.limit
			active += c.inUse - c.closing
		}
	}
	return room < 2*active
}

// take returns a place on a connection, nil if none is free: one that is open
// already, where there is one, or else on the connection with the most room.
func (h *host) take() *slot {
	byNeed := slices.Clone(h.conns)
	slices.SortStableFunc(byNeed, func(a, b *conn) int {
		return cmp.Or(cmp.Compare(b.ready(), a.ready()), cmp.Compare(b.room(), a.room()))
	})
	for _, c := range byNeed {
		if s := c.take(); s != nil {
			return s
		}
	}
	return nil
}

// open counts the connections that may get new sessions.
func (h *host) open() (n int) {
	for _, c := range h.conns {
		if !c.retired {
			n++
		}
	}
	return n
}

// closing counts the places that are about to become free.
func (h *host) closing() (n int) {
	for _, c := range h.conns {
		if !c.retired {
			n += c.closing
		}
	}
	return n
}

// unwanted reports whether nobody waits for a connection, or uses one.
func (h *host) unwanted() bool {
	return len(h.waiters) == 0 && !slices.ContainsFunc(h.conns, func(c *conn) bool { return c.inUse > 0 })
}

// mayDial reports whether another connection may be tried. The first one is
// made alone: it shows whether the host is up and the login good, and a wrong
// key must not be tried by all callers at once.
func (h *host) mayDial() bool {
	switch {
	case h.pool.closed:
		return false
	case h.open() == 0:
		return len(h.dials) == 0
	default:
		return !h.crowded
	}
}

// dialing is a connection that is being made. It belongs to no caller: it
// ends when the last one has gone, or with the pool.
type dialing struct {
	cancel context.CancelFunc
	progress
}

// progress is the phase that a dial has come to.
type progress struct{ at atomic.Value }

func (p *progress) enter(phase fault.Phase) { p.at.Store(phase) }

// phase returns the phase entered last, the first one before any was.
func (p *progress) phase() fault.Phase {
	if phase, ok := p.at.Load().(fault.Phase); ok {
		return phase
	}
	return fault.PhaseDial
}

func (h *host) startDial() {
	p := h.pool
	ctx, cancel := context.WithCancel(p.ctx)
	d := &dialing{cancel: cancel}
	h.dials = append(h.dials, d)
	began := time.Now()
	p.wg.Go(func() {
		defer cancel()
		c, err := connect(ctx, h, &d.progress)
		p.mu.Lock()
		defer p.mu.Unlock()
		h.lastDial, h.waited = time.Now(), 0
		h.dialTook = h.lastDial.Sub(began)
		h.dials = slices.DeleteFunc(h.dials, func(o *dialing) bool { return o == d })
		if err != nil {
			h.dialFailed(err)
		} else {
			h.dialed(c)
		}
		h.dispatch()
	})
}

// dialed adds the new connection c.
func (h *host) dialed(c *conn) {
	if h.pool.closed {
		c.kill()
		return
	}
	h.crowded = false
	h.conns = append(h.conns, c)
	c.settle()
}

// dialFailed tells those who wait, unless they still have something to wait
// for.
func (h *host) dialFailed(err *fault.Error) {
	switch {
	case errors.Is(err, context.Canceled) && !h.pool.closed:
		// Everyone had gone when it was cancelled; whoever came since gets a
		// dial of their own from dispatch.
	case h.open() > 0 || len(h.dials) > 0:
		h.crowded = true
	default:
		h.crowded = false
		h.fail(err)
	}
}

// fail gives err to all who wait: a copy to each, because each adds to it
// what it asked for.
func (h *host) fail(err *fault.Error) {
	for _, w := range h.waiters {
		own := *err
		w.got <- grant{err: &own}
	}
	h.waiters = nil
}

// remove forgets the dead connection c.
func (h *host) remove(c *conn) {
	h.conns = slices.DeleteFunc(h.conns, func(o *conn) bool { return o == c })
	if h.open() == 0 {
		h.crowded = false
	}
}

// close ends everything, as the pool is closed.
func (h *host) close() {
	h.fail(poolClosed())
	for _, c := range slices.Clone(h.conns) {
		c.kill()
	}
}

func poolClosed() *fault.Error {
	return &fault.Error{Kind: fault.Canceled, Phase: fault.PhaseQueue, Happened: "the run has ended"}
}
