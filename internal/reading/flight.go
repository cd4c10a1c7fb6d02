package reading

import (
	"context"
	"slices"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// flight is one reading, from the moment somebody needs it. After a success it
// is kept, for those who ask for the same later on.
type flight struct {
	query  lsremote.Query
	cancel context.CancelFunc
	done   chan struct{} // closed at the end

	// Guarded by Reader.mu until done is closed, constant from then on.
	began   sequence // 0 while the reading waits for its turn
	beganAt time.Time
	fresh   bool // a host that failed before is tried again
	result  *lsremote.Advertisement
	err     error

	waiting int // callers; guarded by Reader.mu
}

// serves tells whether c may have what f reads.
func (f *flight) serves(c *call, now time.Time) bool {
	switch {
	case !f.query.Covers(c.query):
		return false
	case f.began == 0, f.began > c.number:
		return true // it begins, or began, after the call
	default:
		return !c.anew && c.maxAge > 0 && now.Sub(f.beganAt) <= c.maxAge
	}
}

// join returns the flight that c waits for: the newest that is over, or one
// that is under way, or a new one.
func (r *Reader) join(ctx context.Context, c *call) *flight {
	r.mu.Lock()
	defer r.mu.Unlock()
	if c.number == 0 {
		r.last++
		c.number = r.last
	}
	var found *flight
	now := r.now()
	for _, f := range r.flights[c.source()] {
		if f.serves(c, now) && (found == nil || f.preferred(found)) {
			found = f
		}
	}
	if found == nil {
		// The reading belongs to all who wait for it: the end of the first
		// caller's context does not end it (see leave). What that context
		// carries, such as the logger, stays.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		found = &flight{query: c.query, cancel: cancel, done: make(chan struct{})}
		r.flights[c.source()] = append(r.flights[c.source()], found)
		go r.fly(own, *c, found)
	}
	found.waiting++
	found.fresh = found.fresh || c.fresh
	return found
}

// preferred tells whether f is the better answer of two that serve: one that
// is over before one to wait for, then the newer one.
func (f *flight) preferred(o *flight) bool {
	if over := f.result != nil; over != (o.result != nil) {
		return over
	}
	return f.began > o.began
}

// wait returns what f reads, or an error as soon as ctx ends.
func (r *Reader) wait(ctx context.Context, c call, f *flight) (*lsremote.Advertisement, error) {
	defer r.leave(c, f)
	select {
	case <-f.done:
		return f.result, f.err
	case <-ctx.Done():
		return nil, fault.FromContext(ctx, r.phase(f))
	}
}

// leave ends the reading when nobody waits for it any more.
func (r *Reader) leave(c call, f *flight) {
	r.mu.Lock()
	defer r.mu.Unlock()
	f.waiting--
	if f.waiting == 0 && f.result == nil {
		r.remove(c.source(), f) // nobody may join what is being cancelled
		f.cancel()
	}
}

func (r *Reader) phase(f *flight) fault.Phase {
	r.mu.Lock()
	defer r.mu.Unlock()
	if f.began == 0 {
		return fault.PhaseQueue
	}
	return fault.PhaseAnswer
}

// fly makes the reading of f.
func (r *Reader) fly(ctx context.Context, c call, f *flight) {
	defer f.cancel()
	result, err := r.read(ctx, c, f)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.remove(c.source(), f)
	f.result, f.err = result, err
	if err == nil {
		r.keep(c.source(), f)
	}
	close(f.done)
}

func (r *Reader) read(ctx context.Context, c call, f *flight) (result *lsremote.Advertisement, err error) {
	h := r.hosts.host(c.remote)
	if err := h.enter(ctx); err != nil {
		return nil, err
	}
	defer func() { h.leave(c.source(), err) }()
	fresh := r.begin(f)
	// Only now: what failed while this one waited in the queue counts.
	if failure := h.failure(c.source()); failure != nil && !fresh {
		return nil, failure
	}
	result, err = r.client.Read(ctx, c.remote, c.auth, c.query)
	return result, h.learn(c.source(), err)
}

// begin notes that the reading begins, and returns whether it is to try a host
// that has failed before.
func (r *Reader) begin(f *flight) (fresh bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.last++
	f.began, f.beganAt = r.last, r.now()
	return f.fresh
}

func (r *Reader) remove(s source, f *flight) {
	r.flights[s] = slices.DeleteFunc(r.flights[s], func(o *flight) bool { return o == f })
}

// keep stores a successful reading and drops those that it replaces. Of two
// readings that show different things for the same ref only the newer stays,
// or a run could see a ref move back.
func (r *Reader) keep(s source, f *flight) {
	for _, o := range r.flights[s] {
		if o.result != nil && o.began > f.began && contradict(o, f) {
			return // a newer reading was quicker
		}
	}
	r.flights[s] = slices.DeleteFunc(r.flights[s], func(o *flight) bool {
		return o.result != nil && o.began < f.began && (f.query.Covers(o.query) || contradict(f, o))
	})
	r.flights[s] = append(r.flights[s], f)
}
