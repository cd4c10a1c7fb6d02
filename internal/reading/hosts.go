package reading

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"sync"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// hosts holds what is known of each host in this run.
type hosts struct {
	perHost int
	mu      sync.Mutex
	byName  map[string]*host
}

func newHosts(perHost int) *hosts {
	return &hosts{perHost: perHost, byName: map[string]*host{}}
}

// host returns what is known of the remote's host. Two schemes on one port are
// two hosts; all local paths are one.
func (hs *hosts) host(r giturl.Remote) *host {
	hs.mu.Lock()
	defer hs.mu.Unlock()
	h := hs.byName[r.Origin()]
	if h == nil {
		h = &host{slots: make(chan struct{}, hs.perHost), failures: map[string]*fault.Error{}, silent: map[source]*fault.Error{}}
		hs.byName[r.Origin()] = h
	}
	return h
}

// host bounds the readings on one host, and remembers that it cannot be
// reached.
type host struct {
	slots chan struct{}

	mu       sync.Mutex
	running  int                     // readings that have a turn
	withheld int                     // turns that are not handed on yet, see leave
	answered bool                    // at least once in this run
	failures map[string]*fault.Error // by credentials
	// silent are the repositories for which it took a request and then said
	// nothing, while it has never answered.
	silent map[source]*fault.Error
}

// enter waits for a turn; leave gives it back. Nothing but ctx bounds the
// wait: a reading's own timeout begins when it does.
func (h *host) enter(ctx context.Context) error {
	select {
	case h.slots <- struct{}{}:
		h.mu.Lock()
		defer h.mu.Unlock()
		h.running++
		return nil
	case <-ctx.Done():
		return fault.FromContext(ctx, fault.PhaseQueue)
	}
}

// leave gives back the turn of a reading that ended as learn returned it. If
// it ended in a silence that decides nothing yet, the next reading gets the
// turn only when another one under way has ended: the next would begin just
// before those that began together with this one show that the host is dead,
// and wait for a timeout of its own.
func (h *host) leave(of source, err error) {
	h.mu.Lock()
	h.running--
	h.withheld++
	var e *fault.Error
	undecided := errors.As(err, &e) && e.HostWide && isSilence(e) && h.failures[of.auth] == nil
	free := 0
	if !undecided || h.running == 0 {
		free, h.withheld = h.withheld, 0
	}
	h.mu.Unlock()
	for range free {
		<-h.slots
	}
}

// failure returns why the host, or this one repository on it, could not be read
// with these credentials earlier in the run, or nil.
func (h *host) failure(of source) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	e := cmp.Or(h.failures[of.auth], h.silent[of])
	if e == nil {
		return nil
	}
	again := *e
	again.Happened = "it failed earlier in this run and was not tried again: " + e.Happened
	return &again
}

// silentRepositories is for how many repositories a host must have been silent
// to be taken for a dead one. One alone may just be slow, and must not decide
// about the others by being asked first (invariant I8).
const silentRepositories = 2

// learn takes note of how a reading ended, and returns its error. Silence after
// a request is that of one repository, until the host has been silent for
// another one too; once it has answered, it is not remembered at all.
func (h *host) learn(of source, err error) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	var e *fault.Error
	errors.As(err, &e)
	switch {
	case e != nil && e.HostWide && isSilence(e) && h.answered:
		slow := *e
		slow.HostWide = false
		return &slow
	case e != nil && e.HostWide && isSilence(e):
		h.silent[of] = e
		if h.silences(of.auth) >= silentRepositories {
			h.failures[of.auth] = e
		}
	case e != nil && e.HostWide:
		h.failures[of.auth] = e
	case err == nil || e != nil && isAnswer(e):
		h.answered = true
		clear(h.silent)
		maps.DeleteFunc(h.failures, func(auth string, f *fault.Error) bool { return auth == of.auth || isSilence(f) })
	}
	return err
}

// silences counts the repositories for which the host was silent.
func (h *host) silences(auth string) int {
	n := 0
	for of := range h.silent {
		if of.auth == auth {
			n++
		}
	}
	return n
}

// isSilence tells whether a host took a request and then said nothing.
func isSilence(e *fault.Error) bool {
	return e.Kind == fault.Timeout && e.Phase == fault.PhaseAnswer
}

// isAnswer tells whether a failure shows that the host is there and answers.
func isAnswer(e *fault.Error) bool {
	switch e.Kind {
	case fault.Authentication, fault.Forbidden, fault.NotFound, fault.RateLimited,
		fault.NotGit, fault.Protocol, fault.TooLarge, fault.Redirect:
		return true
	}
	return e.Status != 0 || e.Phase == fault.PhaseRefs
}
