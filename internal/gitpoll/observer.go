package gitpoll

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// Observer turns readings into observations. It is safe for concurrent use.
type Observer struct {
	reader *reading.Reader
	now    func() time.Time
	waits  waits
}

// NewObserver returns an Observer that reads through r. now is the clock.
func NewObserver(r *reading.Reader, now func() time.Time) *Observer {
	return &Observer{reader: r, now: now}
}

// Result is what one target of a sweep came to.
type Result struct {
	// Observation carries the plumbing in any case; see Failed.
	Observation Observation
	// Err is a *fault.Error, nil for success.
	Err error
	// Advertisement is what was read, also where the ref is missing in it; nil
	// if the reading failed. It is shared and must not be changed.
	Advertisement *lsremote.Advertisement
}

// Observe reads one target. w.Present is set here: a missing ref is never
// reported from an earlier reading. With hints, a missing ref costs one more
// reading, for the names that may have been meant. The error is a *fault.Error.
func (o *Observer) Observe(ctx context.Context, t Target, w reading.Want, hints bool) (Observation, error) {
	m, err := newMember(t)
	if err != nil {
		return Observation{}, err
	}
	r := o.observe(ctx, []member{m}, w, hints)[0]
	if r.Err != nil {
		return Observation{}, r.Err
	}
	return r.Observation, nil
}

// Advertisement reads what the target's selector needs, and leaves the choice
// to the caller. The advertisement is shared and must not be changed. The error
// is a *fault.Error; that nothing fits the selector is none.
func (o *Observer) Advertisement(ctx context.Context, t Target, w reading.Want) (*lsremote.Advertisement, error) {
	m, err := newMember(t)
	if err != nil {
		return nil, err
	}
	a, err := o.reader.Read(ctx, m.remote, m.selector.Query(), w)
	if err != nil {
		return nil, m.asked(err)
	}
	return a, nil
}

// Sweep reads many targets at once and returns when all are done: a Result for
// every key. Hosts are read in parallel, each by as many readings at a time as
// the Reader allows, and each reading has a timeout of its own. Targets on one
// repository share one reading. For w and hints see Observe.
func (o *Observer) Sweep(ctx context.Context, targets map[string]Target, w reading.Want, hints bool) map[string]Result {
	results := make(map[string]Result, len(targets))
	repositories := map[string][]member{}
	// In order, so that it does not depend on chance whose spelling of a URL
	// is used.
	for _, key := range slices.Sorted(maps.Keys(targets)) {
		m, err := newMember(targets[key])
		if err != nil {
			results[key] = o.failed(targets[key], err)
			continue
		}
		m.key = key
		id := repository(m.remote)
		repositories[id] = append(repositories[id], m)
	}
	var all sync.WaitGroup
	var mu sync.Mutex
	for _, members := range repositories {
		all.Go(func() {
			own := o.observe(ctx, members, w, hints)
			mu.Lock()
			defer mu.Unlock()
			for i, m := range members {
				results[m.key] = own[i]
			}
		})
	}
	all.Wait()
	return results
}

// member is a parsed target of a sweep.
type member struct {
	key      string
	target   Target
	remote   giturl.Remote
	selector selection.Selector
}

func newMember(t Target) (member, error) {
	remote, selector, err := t.Parse()
	return member{target: t.clone(), remote: remote, selector: selector}, err
}

// asked makes err say what m asked for. The reading may have been for more.
func (m member) asked(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Asked = m.selector.String() + " of " + m.remote.String()
	return &own
}

func (o *Observer) failed(t Target, err error) Result {
	return Result{Observation: Failed(t, err, o.now()), Err: err}
}

// observe reads members, all of one repository, by one reading. The results are
// in their order.
func (o *Observer) observe(ctx context.Context, members []member, w reading.Want, hints bool) []Result {
	results := make([]Result, len(members))
	query := union(members, selection.Selector.Query)
	w.Present = func(a *lsremote.Advertisement) bool {
		return !slices.ContainsFunc(members, func(m member) bool {
			_, err := m.selector.Pick(a)
			return err != nil
		})
	}
	a, err := o.reader.Read(ctx, members[0].remote, query, w)
	if err != nil {
		for i, m := range members {
			results[i] = o.failed(m.target, m.asked(err))
		}
		return results
	}
	missing := map[int]error{}
	for i, m := range members {
		if pick, err := m.selector.Pick(a); err != nil {
			missing[i] = err
		} else {
			results[i] = Result{Observation: observed(m.target, a, pick), Advertisement: a}
		}
	}
	if hints && len(missing) > 0 {
		o.explain(ctx, members, missing, w.MaxAge)
	}
	for i, err := range missing {
		results[i] = o.failed(members[i].target, members[i].asked(err))
		results[i].Advertisement = a
	}
	return results
}

// explain replaces the errors of members that are missing by better ones, by
// one more reading. Without it they stay as they are.
func (o *Observer) explain(ctx context.Context, members []member, missing map[int]error, maxAge *time.Duration) {
	var puzzled []member
	for i := range missing {
		puzzled = append(puzzled, members[i])
	}
	query := union(puzzled, selection.Selector.HintQuery)
	hint, err := o.reader.Read(ctx, members[0].remote, query, reading.Want{MaxAge: maxAge})
	if err != nil {
		return
	}
	for i := range missing {
		missing[i] = members[i].selector.Explain(hint)
	}
}

// union asks for all that the members' selectors ask for.
func union(members []member, ask func(selection.Selector) lsremote.Query) lsremote.Query {
	var all lsremote.Query
	for _, m := range members {
		q := ask(m.selector)
		all.Refs = append(all.Refs, q.Refs...)
		all.Prefixes = append(all.Prefixes, q.Prefixes...)
	}
	return all.Normalize()
}
