package gitpoll

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// DefaultInterval is the time between two sweeps.
const DefaultInterval = 90 * time.Second

// Outcome is what is known of a target after one sweep or more.
type Outcome struct {
	// Last is the last successful observation. A failure leaves it as it is.
	// It has no Commit as long as there was no success. Its FirstObservedAt is
	// when a sweep first found Commit; it starts anew only with another one.
	Last Observation
	// AttemptedAt is when the last attempt was made (UTC, whole seconds).
	AttemptedAt time.Time
	// Err is the *fault.Error of the last attempt, nil if it succeeded.
	Err error
}

// next returns the outcome after one more attempt.
func (o Outcome) next(r Result) Outcome {
	n := Outcome{Last: o.Last, AttemptedAt: r.Observation.ObservedAt, Err: r.Err}
	if r.Err != nil {
		return n
	}
	n.Last = r.Observation
	if o.Last.Commit == n.Last.Commit {
		n.Last.FirstObservedAt = o.Last.FirstObservedAt
	}
	return n
}

// Poller sweeps its targets again and again while Run runs. It is safe for
// concurrent use.
type Poller struct {
	observer *Observer
	wake     chan struct{} // holds one token when Run has to look again

	mu        sync.Mutex
	targets   map[string]polled
	outcomes  map[string]Outcome // only of targets, with the plumbing they have now
	interval  time.Duration
	sweptAt   time.Time     // the end of the last sweep
	notBefore time.Time     // until then a server has asked to be left alone
	published chan struct{} // closed when a sweep is published
}

// polled is a target with its plumbing.
type polled struct {
	target   Target
	plumbing string
}

// NewPoller returns a Poller without targets. An interval that is not positive
// means DefaultInterval.
func NewPoller(o *Observer, interval time.Duration) *Poller {
	p := &Poller{observer: o, wake: make(chan struct{}, 1), published: make(chan struct{}), outcomes: map[string]Outcome{}}
	p.SetInterval(interval)
	return p
}

// SetTargets replaces the targets. What is known of a target is dropped when
// its key goes or its plumbing changes, the result of a sweep under way too
// (invariant I2). A target of which nothing is known is swept at once.
func (p *Poller) SetTargets(targets map[string]Target) {
	next := make(map[string]polled, len(targets))
	for key, t := range targets {
		plumbing, err := t.Plumbing()
		if err != nil {
			plumbing = fmt.Sprintf("not valid: %q %v", t.URL, t.Spec)
		}
		next[key] = polled{t.clone(), plumbing}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	maps.DeleteFunc(p.outcomes, func(key string, _ Outcome) bool {
		return next[key].plumbing != p.targets[key].plumbing
	})
	p.targets = next
	p.notify()
}

// SetInterval sets the time from the end of one sweep to the beginning of the
// next; not positive means DefaultInterval. It takes effect at once, and as it
// is counted from the last sweep, setting it again and again delays nothing.
func (p *Poller) SetInterval(d time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.interval = orDefault(d)
	p.notify()
}

func orDefault(interval time.Duration) time.Duration {
	if interval <= 0 {
		return DefaultInterval
	}
	return interval
}

// notify makes Run look at what has changed.
func (p *Poller) notify() {
	select {
	case p.wake <- struct{}{}:
	default: // it will look anyway
	}
}

// Observations returns the outcomes of the last whole sweep, by the keys of the
// targets, as a copy that is the caller's. A target that was not part of that
// sweep is missing. The channel is closed when another sweep is published.
func (p *Poller) Observations() (map[string]Outcome, <-chan struct{}) {
	p.mu.Lock()
	defer p.mu.Unlock()
	own := make(map[string]Outcome, len(p.outcomes))
	for key, o := range p.outcomes {
		o.Last.Target = o.Last.clone()
		own[key] = o
	}
	return own, p.published
}

// Run sweeps until ctx ends. The first sweep begins at once.
func (p *Poller) Run(ctx context.Context) {
	for ctx.Err() == nil {
		pause, idle := p.pause()
		if !idle && pause <= 0 {
			p.sweep(ctx)
			continue
		}
		var timeUp <-chan time.Time // without targets it never is
		if !idle {
			timeUp = time.After(pause)
		}
		select {
		case <-ctx.Done():
		case <-p.wake:
		case <-timeUp:
		}
	}
}

// pause returns how long it is until the next sweep, and whether there is
// nothing to sweep.
func (p *Poller) pause() (pause time.Duration, idle bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	due := p.sweptAt.Add(p.interval)
	for key := range p.targets {
		if _, known := p.outcomes[key]; !known {
			due = time.Time{}
		}
	}
	if due.Before(p.notBefore) {
		due = p.notBefore
	}
	return time.Until(due), len(p.targets) == 0
}

// sweep makes one sweep and publishes it.
func (p *Poller) sweep(ctx context.Context) {
	p.mu.Lock()
	swept := p.targets // never changed, only replaced
	p.mu.Unlock()
	targets := make(map[string]Target, len(swept))
	for key, t := range swept {
		targets[key] = t.target
	}
	results := p.observer.Sweep(ctx, targets, reading.Want{Fresh: true}, false)
	if ctx.Err() != nil {
		return // an interrupt says nothing about the targets
	}

	p.mu.Lock()
	defer p.mu.Unlock()
	p.sweptAt = time.Now()
	for key, r := range results {
		if p.targets[key].plumbing != swept[key].plumbing {
			continue
		}
		p.outcomes[key] = p.outcomes[key].next(r)
		var e *fault.Error
		if errors.As(r.Err, &e) && p.sweptAt.Add(e.RetryAfter).After(p.notBefore) {
			p.notBefore = p.sweptAt.Add(e.RetryAfter)
		}
	}
	close(p.published)
	p.published = make(chan struct{})
}
