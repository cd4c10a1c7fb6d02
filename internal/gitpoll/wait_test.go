package gitpoll

import (
	"context"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

func TestWaitEndsWithTheRef(t *testing.T) {
	run(t, func(b *bench) {
		start := time.Now()
		b.background.Go(func() {
			pass(time.Minute + time.Second/2)
			b.push(app, "refs/tags/v9", "c9")
		})
		got, err := b.observer.Wait(b.Context(), Target{URL: app, Spec: selection.Spec{Tag: "v9"}}, time.Hour, 9*time.Second)
		if err != nil || got.Commit != "c9" || got.Spec.Tag != "v9" {
			b.Errorf("got %+v, %v", got, err)
		}
		// A reading takes a second and begins each 10 s: the seventh finds it.
		if took := time.Since(start); took != 71*time.Second {
			b.Errorf("took %v, want 71 s", took)
		}
		if n := len(b.took()); n != 8 {
			b.Errorf("%d readings, want 8", n)
		}
		pass(time.Hour)
		if b.took() != nil {
			b.Error("went on polling")
		}
	})
}

func TestWaitReadsAnew(t *testing.T) {
	run(t, func(b *bench) {
		if _, err := b.observer.Observe(b.Context(), branch(app, "main"), reading.Want{}, false); err != nil {
			b.Fatal(err)
		}
		b.push(app, "refs/heads/main", "c8")
		got, err := b.observer.Wait(b.Context(), branch(app, "main"), time.Hour, time.Second)
		if err != nil || got.Commit != "c8" {
			b.Errorf("got %v, %v", got.Commit, err)
		}
		// The next one that asks shares what the wait has read.
		b.took()
		again, err := b.observer.Observe(b.Context(), branch(app, "main"), reading.Want{}, false)
		if err != nil || again.Commit != "c8" || b.took() != nil {
			b.Errorf("got %v, %v", again.Commit, err)
		}
	})
}

func TestWaitForWhatMayComeAbout(t *testing.T) {
	for name, e := range map[string]fault.Error{
		"no repository yet":  {Kind: fault.NotFound, Status: 404},
		"empty":              {Kind: fault.EmptyRepository},
		"no HEAD":            {Kind: fault.NoHead},
		"refused":            {Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true},
		"timeout":            {Kind: fault.Timeout, Phase: fault.PhaseDial, HostWide: true},
		"rate limit":         {Kind: fault.RateLimited, Status: 429},
		"a proxy's bad hour": {Kind: fault.Proxy, Transient: true},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *bench) {
				b.fail(app, &e)
				b.background.Go(func() {
					pass(time.Minute)
					b.fail(app, nil)
				})
				got, err := b.observer.Wait(b.Context(), branch(app, "main"), time.Hour, time.Second)
				if err != nil || got.Commit != "c1" {
					b.Errorf("got %v, %v", got.Commit, err)
				}
			})
		})
	}
}

func TestWaitEndsAtOnceOnWhatDoesNot(t *testing.T) {
	for _, kind := range []fault.Kind{fault.Authentication, fault.Forbidden, fault.Credentials, fault.CredentialsUnknown,
		fault.HostKeyUnknown, fault.HostKeyMismatch, fault.HostKeyRevoked, fault.TLS, fault.Proxy, fault.NotGit, fault.Protocol, fault.TooLarge, fault.Redirect} {
		t.Run(string(kind), func(t *testing.T) {
			run(t, func(b *bench) {
				b.fail(app, &fault.Error{Kind: kind, Happened: "no"})
				start := time.Now()
				_, err := b.observer.Wait(b.Context(), branch(app, "main"), time.Hour, time.Second)
				wantFault(b, err, kind, `branch = "main" of `+app+": no")
				if took := time.Since(start); took != latency || len(b.took()) != 1 {
					b.Errorf("took %v", took)
				}
			})
		})
	}
}

func TestWaitEndsWithWhatWasSeenLast(t *testing.T) {
	run(t, func(b *bench) {
		start := time.Now()
		_, err := b.observer.Wait(b.Context(), branch(app, "mian"), 30*time.Second, 9*time.Second)
		wantFault(b, err, fault.RefNotFound, `branch = "mian" of `+app, "waited 30s", "last tried at 2000-01-01T00:00:2", "refs/heads/mian is not advertised", `branch = "main"`)
		if took := time.Since(start); took != 30*time.Second+latency {
			b.Errorf("took %v, want the timeout and one reading for the names", took)
		}
	})
	run(t, func(b *bench) {
		_, err := b.observer.Wait(b.Context(), branch("https://refusing.example.com/r.git", "main"), 30*time.Second, 9*time.Second)
		wantFault(b, err, fault.Unavailable, "waited 30s", "refused")
	})
	run(t, func(b *bench) {
		_, err := b.observer.Wait(b.Context(), branch("https://silent.example.com/r.git", "main"), 30*time.Second, 9*time.Second)
		wantFault(b, err, fault.Timeout, `branch = "main" of https://silent.example.com/r.git`, "wait.timeout")
	})
}

func TestWaitObeysAnInterrupt(t *testing.T) {
	for name, url := range map[string]string{"between readings": app, "in a reading": "https://silent.example.com/r.git"} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *bench) {
				ctx, cancel := context.WithCancel(b.Context())
				b.background.Go(func() {
					pass(5 * time.Second)
					cancel()
				})
				start := time.Now()
				_, err := b.observer.Wait(ctx, branch(url, "new"), time.Hour, 10*time.Second)
				wantFault(b, err, fault.Canceled, `branch = "new" of `+url)
				if took := time.Since(start); took != 5*time.Second {
					b.Errorf("took %v", took)
				}
			})
		})
	}
}

// TestWaitsOnOneRepositoryShareReadings: at the shortest interval of those who
// wait, and each ends by itself.
func TestWaitsOnOneRepositoryShareReadings(t *testing.T) {
	run(t, func(b *bench) {
		start := time.Now()
		var mu sync.Mutex
		ended := map[string]time.Duration{}
		wait := func(tag string, interval time.Duration) {
			b.start(func() {
				got, err := b.observer.Wait(b.Context(), Target{URL: app, Spec: selection.Spec{Tag: tag}}, time.Hour, interval)
				if err != nil || got.Commit != tag {
					b.Errorf("%s: %+v, %v", tag, got.Commit, err)
				}
				mu.Lock()
				defer mu.Unlock()
				ended[tag] = time.Since(start)
			})
		}
		wait("slow", 59*time.Second) // 0 s
		pass(5 * time.Second)
		wait("quick", 9*time.Second) // 5 s: looked for at once
		pass(11 * time.Second)       // 16 s: the next look of both is under way
		b.push(app, "refs/tags/quick", "quick")
		b.push(app, "refs/tags/slow", "slow")
		b.background.Wait()
		if ended["quick"] != 26*time.Second || ended["slow"] != 26*time.Second {
			b.Errorf("ended after %v", ended)
		}
		// At 0, 5, 15 and 25 s.
		if calls := b.took(); len(calls) != 4 {
			b.Errorf("read %v", calls)
		}
	})
}

// TestWaitHurriesOnlyForThoseWhoWait: with the one in a hurry goes its
// interval, and nobody asks for its ref any more.
func TestWaitHurriesOnlyForThoseWhoWait(t *testing.T) {
	run(t, func(b *bench) {
		b.start(func() { _, _ = b.observer.Wait(b.Context(), branch(app, "slow"), time.Hour, 0) })
		ctx, cancel := context.WithTimeout(b.Context(), 30*time.Second)
		defer cancel()
		_, err := b.observer.Wait(ctx, branch(app, "quick"), time.Hour, 9*time.Second)
		wantFault(b, err, fault.Timeout)
		// At 0 s for the first, at 1 s for both, then each 10 s.
		if calls := b.took(); len(calls) != 4 {
			b.Errorf("read %v", calls)
		}
		pass(5 * time.Minute)
		calls := b.took()
		if len(calls) != 3 && len(calls) != 4 {
			b.Errorf("%d readings in five minutes at the default interval", len(calls))
		}
		for _, call := range calls {
			if strings.Contains(call, "quick") {
				b.Errorf("still asks for %s", call)
			}
		}
	})
}

// TestWaitTakesNoReadingFromBeforeIt: another wait on the same branch may have
// a reading under way that began before the push.
func TestWaitTakesNoReadingFromBeforeIt(t *testing.T) {
	run(t, func(b *bench) {
		b.start(func() { _, _ = b.observer.Wait(b.Context(), branch(app, "main"), time.Hour, time.Second) })
		b.push(app, "refs/heads/main", "pushed")
		got, err := b.observer.Wait(b.Context(), branch(app, "main"), time.Hour, time.Second)
		if err != nil || got.Commit != "pushed" {
			b.Errorf("got %v, %v", got.Commit, err)
		}
	})
}

// TestWaitLeavesTheOthersAlone: the end of one wait, the first one above all,
// ends no other.
func TestWaitLeavesTheOthersAlone(t *testing.T) {
	run(t, func(b *bench) {
		ctx, cancel := context.WithCancel(b.Context())
		b.start(func() { _, _ = b.observer.Wait(ctx, branch(app, "never"), time.Hour, time.Second) })
		b.background.Go(func() {
			pass(5 * time.Second)
			cancel()
			pass(5 * time.Second)
			b.push(app, "refs/heads/new", "n")
		})
		got, err := b.observer.Wait(b.Context(), branch(app, "new"), time.Minute, 10*time.Second)
		if err != nil || got.Commit != "n" {
			b.Errorf("got %v, %v", got.Commit, err)
		}
		pass(time.Hour)
		synctest.Wait()
		b.took()
		pass(time.Hour)
		if b.took() != nil || len(b.observer.waits.rooms) != 0 {
			b.Error("a poller is left behind")
		}
	})
}
