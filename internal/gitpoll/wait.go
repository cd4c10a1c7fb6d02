package gitpoll

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strconv"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// Wait polls the target until it is advertised, for at most timeout, with
// interval between two readings (not positive: DefaultInterval). Every reading
// is a new one that begins after the call. Several waits on one repository
// share their readings, at the shortest of their intervals.
//
// What may come about by itself is waited for: a missing ref, an empty or
// missing repository, a host that cannot be reached. Anything else, refused
// credentials above all, ends the wait at once. At the end of timeout the
// error is that of the last reading; with a missing ref one more reading looks
// for the names that may have been meant. The end of ctx ends the wait at once.
// The error is a *fault.Error.
func (o *Observer) Wait(ctx context.Context, t Target, timeout, interval time.Duration) (Observation, error) {
	m, err := newMember(t)
	if err != nil {
		return Observation{}, err
	}
	poller, key := o.waits.enter(ctx, o, m, interval)
	defer o.waits.leave(m, key)
	timeUp := time.After(timeout)
	for {
		outcomes, published := poller.Observations()
		outcome, looked := outcomes[key]
		switch {
		case looked && outcome.Err == nil:
			return outcome.Last, nil
		case looked && !mayChange(outcome.Err):
			return Observation{}, outcome.Err
		}
		select {
		case <-published:
		case <-timeUp:
			return Observation{}, o.gaveUp(ctx, m, outcome, timeout)
		case <-ctx.Done():
			return Observation{}, m.asked(fault.FromContext(ctx, fault.PhaseAnswer))
		}
	}
}

// mayChange tells whether a failure may turn into a success by itself.
func mayChange(err error) bool {
	switch fault.KindOf(err) {
	case fault.RefNotFound, fault.EmptyRepository, fault.NoHead, fault.NotFound,
		fault.Unavailable, fault.Timeout, fault.RateLimited:
		return true
	}
	var e *fault.Error
	return errors.As(err, &e) && e.Transient
}

// gaveUp makes the error of a wait that took too long out of what was seen
// last.
func (o *Observer) gaveUp(ctx context.Context, m member, last Outcome, timeout time.Duration) error {
	if last.Err == nil {
		return m.asked(&fault.Error{Kind: fault.Timeout, Phase: fault.PhaseAnswer,
			Happened: fmt.Sprintf("not one reading came to an end within the %v of wait.timeout", timeout),
			Advice:   "Check that the host is up and can be reached from here, or raise wait.timeout."})
	}
	final := map[int]error{0: last.Err}
	switch fault.KindOf(last.Err) {
	case fault.RefNotFound, fault.EmptyRepository, fault.NoHead:
		o.explain(ctx, []member{m}, final, nil)
	}
	var e *fault.Error
	if !errors.As(final[0], &e) {
		return final[0]
	}
	late := *e
	late.Happened = fmt.Sprintf("waited %v; last tried at %s: %s", timeout, FormatTime(last.AttemptedAt), e.Happened)
	return m.asked(&late)
}

// waits holds the waits that are under way, by repository.
type waits struct {
	mu    sync.Mutex
	last  int
	rooms map[string]*room
}

// room is where those wait who wait for one repository.
type room struct {
	poller  *Poller
	close   context.CancelFunc
	waiters map[string]waiter
}

type waiter struct {
	target   Target
	interval time.Duration
}

// enter adds a wait and returns its poller and its key there. The key is its
// own: what was read before it came in is never taken for its answer.
func (w *waits) enter(ctx context.Context, o *Observer, m member, interval time.Duration) (*Poller, string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := repository(m.remote)
	r := w.rooms[id]
	if r == nil {
		// The first who waits may leave first: its context carries the logger
		// on, but does not end the polling.
		own, cancel := context.WithCancel(context.WithoutCancel(ctx))
		r = &room{poller: NewPoller(o, interval), close: cancel, waiters: map[string]waiter{}}
		if w.rooms == nil {
			w.rooms = map[string]*room{}
		}
		w.rooms[id] = r
		go r.poller.Run(own)
	}
	w.last++
	key := strconv.Itoa(w.last)
	r.waiters[key] = waiter{m.target, orDefault(interval)}
	r.update()
	return r.poller, key
}

func (w *waits) leave(m member, key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	id := repository(m.remote)
	r := w.rooms[id]
	delete(r.waiters, key)
	if len(r.waiters) == 0 {
		r.close()
		delete(w.rooms, id)
		return
	}
	r.update()
}

// update tells the poller who waits, and for whom it has to hurry.
func (r *room) update() {
	targets := make(map[string]Target, len(r.waiters))
	shortest := time.Duration(math.MaxInt64)
	for key, w := range r.waiters {
		targets[key] = w.target
		shortest = min(shortest, w.interval)
	}
	r.poller.SetInterval(shortest)
	r.poller.SetTargets(targets)
}
