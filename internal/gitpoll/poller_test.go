package gitpoll

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// poll runs a Poller of the interval until stop is called.
func (b *bench) poll(interval time.Duration, targets map[string]Target) (p *Poller, stop func()) {
	ctx, cancel := context.WithCancel(b.Context())
	p = NewPoller(b.observer, interval)
	p.SetTargets(targets)
	b.start(func() { p.Run(ctx) })
	return p, cancel
}

func outcomes(p *Poller) map[string]Outcome {
	all, _ := p.Observations()
	return all
}

// settle lets the sweep under way come to its end.
func settle() {
	pass(latency)
	synctest.Wait()
}

func TestPollerSweepsAtOnceThenAtTheInterval(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(10*time.Second, map[string]Target{"a": branch(app, "main")})
		defer stop()
		if len(b.took()) != 1 {
			b.Error("the first sweep was not immediate")
		}
		if len(outcomes(p)) != 0 {
			b.Error("something was published before the end of the sweep")
		}
		settle()
		if got := outcomes(p)["a"]; got.Last.Commit != "c1" || got.Err != nil {
			b.Errorf("%+v", got)
		}
		for range 3 {
			pass(10*time.Second - time.Millisecond)
			if calls := b.took(); calls != nil {
				b.Fatal("swept too early")
			}
			pass(time.Millisecond)
			synctest.Wait()
			if len(b.took()) != 1 {
				b.Fatal("did not sweep at the interval")
			}
			settle()
		}
	})
}

func TestPollerClampsTheInterval(t *testing.T) {
	for _, d := range []time.Duration{0, -time.Second} {
		run(t, func(b *bench) {
			p, stop := b.poll(d, map[string]Target{"a": branch(app, "main")})
			defer stop()
			settle()
			b.took()
			p.SetInterval(d)
			pass(DefaultInterval - time.Millisecond)
			if b.took() != nil {
				b.Error("swept before the default interval")
			}
			pass(time.Millisecond)
			synctest.Wait()
			if len(b.took()) != 1 {
				b.Error("did not sweep at the default interval")
			}
			settle()
		})
	}
}

func TestPollerShorterIntervalTakesEffectAtOnce(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch(app, "main")})
		defer stop()
		settle()
		b.took()
		pass(30 * time.Second)
		p.SetInterval(40 * time.Second) // counted from the last sweep: in 10 s
		pass(10*time.Second - time.Millisecond)
		if b.took() != nil {
			b.Error("swept too early")
		}
		pass(time.Millisecond)
		synctest.Wait()
		if len(b.took()) != 1 {
			b.Error("the shorter interval did not take effect")
		}
		settle()
		pass(20 * time.Second)
		p.SetInterval(5 * time.Second) // long past
		synctest.Wait()
		if len(b.took()) != 1 {
			b.Error("an interval that is over already did not start a sweep")
		}
		settle()
	})
}

func TestPollerReconfiguringForEverStarvesNothing(t *testing.T) {
	run(t, func(b *bench) {
		targets := map[string]Target{"a": branch(app, "main"), "bad": branch(app, "a b")}
		p, stop := b.poll(10*time.Second, targets)
		defer stop()
		for range 1000 { // 100 s
			pass(100 * time.Millisecond)
			p.SetInterval(10 * time.Second)
			p.SetTargets(targets)
		}
		// One sweep each 11 s, its second included, as without the storm.
		if n := len(b.took()); n < 9 || n > 10 {
			b.Errorf("%d sweeps in 100 s at an interval of 10 s", n)
		}
		settle()
	})
}

func TestPollerWithoutTargetsIsIdle(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Second, nil)
		defer stop()
		pass(time.Hour)
		if b.took() != nil || len(outcomes(p)) != 0 {
			b.Error("swept nothing")
		}
		p.SetTargets(map[string]Target{"a": branch(app, "main")})
		settle()
		if outcomes(p)["a"].Last.Commit != "c1" {
			b.Error("a first target was not swept at once")
		}
		p.SetTargets(nil)
		b.took()
		pass(time.Hour)
		if b.took() != nil || len(outcomes(p)) != 0 {
			b.Error("a target that is gone is still swept")
		}
	})
}

func TestPollerNewTargetIsSweptAtOnce(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch(app, "main")})
		defer stop()
		settle()
		p.SetTargets(map[string]Target{"a": branch(app, "main"), "l": branch(lib, "main")})
		if got := outcomes(p); len(got) != 1 || got["a"].Last.Commit != "c1" {
			b.Errorf("before its sweep: %+v", got)
		}
		settle()
		if got := outcomes(p); got["l"].Last.Commit != "l1" {
			b.Errorf("after its sweep: %+v", got)
		}
	})
}

// TestI2_PollerDropsWhatChangesItsPlumbing: known outcomes, and those in
// flight.
func TestI2_PollerDropsWhatChangesItsPlumbing(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch(app, "main"), "gone": branch(app, "main"), "same": branch(app, "main")})
		defer stop()
		settle()
		change := map[string]Target{"a": branch(app, "wip"), "same": {URL: app + "/", Spec: selection.Spec{Ref: "refs/heads/main"}}}
		p.SetTargets(change)
		got := outcomes(p)
		if _, ok := got["a"]; ok {
			b.Error("the old observation outlived its plumbing")
		}
		if _, ok := got["gone"]; ok {
			b.Error("the observation outlived its target")
		}
		if got["same"].Last.Commit != "c1" {
			b.Error("a new spelling of the same plumbing dropped the observation")
		}
		settle()
		if outcomes(p)["a"].Last.Commit != "c2" {
			b.Error("the new plumbing was not observed")
		}
	})
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch(app, "main"), "gone": branch(app, "main")})
		defer stop()
		pass(latency / 2) // the sweep is under way
		p.SetTargets(map[string]Target{"a": branch(app, "wip")})
		pass(latency / 2)
		synctest.Wait()
		if got := outcomes(p); len(got) != 0 {
			b.Errorf("what was in flight was taken for the new target: %+v", got)
		}
		settle()
		if got := outcomes(p); len(got) != 1 || got["a"].Last.Commit != "c2" {
			b.Errorf("the next sweep: %+v", got)
		}
	})
}

func TestI2_PollerWithAnInvalidTarget(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch(app, "a b")})
		defer stop()
		synctest.Wait()
		wantFault(b, outcomes(p)["a"].Err, fault.Input, "a b")
		p.SetTargets(map[string]Target{"a": branch(app, "a c")})
		synctest.Wait()
		wantFault(b, outcomes(p)["a"].Err, fault.Input, "a c")
	})
}

func TestI5_PollerFailureKeepsTheLastGoodCommit(t *testing.T) {
	run(t, func(b *bench) {
		b.push(app, "refs/heads/main", "c1")
		p, stop := b.poll(10*time.Second, map[string]Target{"a": branch(app, "main")})
		defer stop()
		first := time.Now().UTC()
		settle()
		next := func() Outcome {
			pass(10 * time.Second)
			settle()
			return outcomes(p)["a"]
		}
		if got := next(); !got.Last.FirstObservedAt.Equal(first) || !got.Last.ObservedAt.Equal(first.Add(11*time.Second)) {
			b.Errorf("an unchanged commit was first observed at %v, last at %v", got.Last.FirstObservedAt, got.Last.ObservedAt)
		}
		b.fail(app, &fault.Error{Kind: fault.Unavailable, Happened: "refused"})
		got := next()
		if got.Last.Commit != "c1" || !got.Last.ObservedAt.Equal(first.Add(11*time.Second)) || !got.Last.FirstObservedAt.Equal(first) {
			b.Errorf("a failure changed the last success: %+v", got.Last)
		}
		wantFault(b, got.Err, fault.Unavailable)
		if !got.AttemptedAt.After(got.Last.ObservedAt) {
			b.Error("the last attempt is not told from the last success")
		}
		b.fail(app, nil)
		if got = next(); got.Err != nil || !got.Last.FirstObservedAt.Equal(first) || !got.AttemptedAt.Equal(got.Last.ObservedAt) {
			b.Errorf("after the failure: %+v", got)
		}
		b.push(app, "refs/heads/main", "c5")
		if got = next(); got.Last.Commit != "c5" || !got.Last.FirstObservedAt.Equal(got.Last.ObservedAt) {
			b.Errorf("another commit: %+v", got.Last)
		}
	})
}

func TestPollerNeverSucceededIsNotStale(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Hour, map[string]Target{"a": branch("https://refusing.example.com/r.git", "main")})
		defer stop()
		synctest.Wait()
		got := outcomes(p)["a"]
		wantFault(b, got.Err, fault.Unavailable)
		if got.Last.Commit != "" || !got.Last.ObservedAt.IsZero() || got.AttemptedAt.IsZero() {
			b.Errorf("%+v", got)
		}
	})
}

// TestI4_PollerPublishesWholeSweeps: a slow repository holds back the results
// of the others, so that no mixture of two sweeps is ever seen.
func TestI4_PollerPublishesWholeSweeps(t *testing.T) {
	run(t, func(b *bench) {
		b.slow[lib] = 5 * time.Second
		p, stop := b.poll(10*time.Second, map[string]Target{"a": branch(app, "main"), "l": branch(lib, "main")})
		defer stop()
		pass(3 * time.Second)
		if len(outcomes(p)) != 0 {
			b.Error("half a sweep was published")
		}
		pass(3 * time.Second)
		synctest.Wait()
		b.push(app, "refs/heads/main", "new")
		b.push(lib, "refs/heads/main", "new")
		_, published := p.Observations()
		for done := false; !done; {
			got := outcomes(p)
			if (got["a"].Last.Commit == "new") != (got["l"].Last.Commit == "new") {
				b.Fatalf("a mixture: %+v", got)
			}
			select {
			case <-published:
				done = true
			case <-time.After(time.Second / 2):
			}
		}
		if got := outcomes(p); got["a"].Last.Commit != "new" || got["l"].Last.Commit != "new" {
			b.Errorf("%+v", got)
		}
	})
}

func TestI4_PollerObservationsAreACopy(t *testing.T) {
	run(t, func(b *bench) {
		filter := &selection.TagFilter{Pattern: "^v"}
		targets := map[string]Target{"a": {URL: app, Spec: selection.Spec{Semver: "*", TagFilter: filter}}}
		p, stop := b.poll(10*time.Second, targets)
		defer stop()
		settle()
		filter.Pattern = "^x"
		delete(targets, "a")
		got := outcomes(p)
		got["a"].Last.Spec.TagFilter.Pattern = "^y"
		delete(got, "a")
		for range 2 { // as it is, and after another sweep
			if now := outcomes(p)["a"]; now.Last.Commit != "c3" || now.Err != nil || now.Last.Spec.TagFilter.Pattern != "^v" {
				b.Fatalf("the poller's own changed: %+v", now)
			}
			pass(20 * time.Second)
		}
	})
}

func TestPollerLeavesAServerAloneThatAsksForIt(t *testing.T) {
	run(t, func(b *bench) {
		b.fail(app, &fault.Error{Kind: fault.RateLimited, Status: 429, RetryAfter: time.Minute})
		p, stop := b.poll(time.Second, map[string]Target{"a": branch(app, "main")})
		defer stop()
		settle()
		b.took()
		p.SetTargets(map[string]Target{"a": branch(app, "main"), "w": branch(app, "wip")})
		pass(time.Minute - time.Millisecond)
		if calls := b.took(); calls != nil {
			b.Errorf("asked %v before Retry-After", calls)
		}
		b.fail(app, nil)
		pass(time.Second)
		synctest.Wait()
		if len(b.took()) != 1 {
			b.Error("did not ask again after Retry-After")
		}
		settle()
	})
}

func TestPollerInterruptedSweepPublishesNothing(t *testing.T) {
	run(t, func(b *bench) {
		p, stop := b.poll(time.Second, map[string]Target{"a": branch(app, "main")})
		stop()
		synctest.Wait()
		if got := outcomes(p); len(got) != 0 {
			b.Errorf("%+v", got)
		}
	})
}
