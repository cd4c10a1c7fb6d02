package reading

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// read reads HEAD of one repository.
func (b *bench) read(url string, w Want) error {
	_, err := b.reader.Read(b.Context(), remote(b, url), exact("HEAD"), w)
	return err
}

// TestI4_DeadHostCostsOneTimeout: 100 repositories on a host that swallows
// everything, two readings at a time.
func TestI4_DeadHostCostsOneTimeout(t *testing.T) {
	run(t, func(b *bench) {
		b.silent = func(r giturl.Remote) bool { return r.Host == "dead.example.com" }
		start := time.Now()
		together(100, func(i int) {
			wantFault(b, b.read(repoAt("dead.example.com", i), Want{}), fault.Timeout, "HEAD of "+repoAt("dead.example.com", i))
		})
		if took := time.Since(start); took != timeout {
			t.Errorf("took %v, want one timeout", took)
		}
		b.calledTimes(2) // as many as ran at a time
		start = time.Now()
		wantFault(b, b.read(repoAt("dead.example.com", 1), Want{}), fault.Timeout, "was not tried again: no answer")
		if took := time.Since(start); took != 0 {
			t.Errorf("the remembered failure took %v", took)
		}
	})
}

// TestI4_DeadHostCostsOneTimeoutThoughReadingsBeginOneAfterAnother: as those of
// a plan do. The turn of the first that ends must not go to a third just before
// the second one shows that the host is dead.
func TestI4_DeadHostCostsOneTimeoutThoughReadingsBeginOneAfterAnother(t *testing.T) {
	run(t, func(b *bench) {
		b.silent = func(r giturl.Remote) bool { return r.Host == "dead.example.com" }
		start := time.Now()
		for i := range 5 {
			b.start(func() { _ = b.read(repoAt("dead.example.com", i), Want{}) })
			pass(time.Second)
		}
		b.background.Wait()
		if took := time.Since(start); took != timeout+time.Second {
			t.Errorf("took %v, want one timeout and the second between the first two", took)
		}
		b.calledTimes(2)
	})
}

// TestATurnWithheldIsHandedOn: whichever way the other reading under way ends.
func TestATurnWithheldIsHandedOn(t *testing.T) {
	run(t, func(b *bench) {
		b.silent = func(r giturl.Remote) bool { return r.Path == "/acme/r0.git" }
		b.start(func() { _ = b.read(repoAt("git.example.com", 0), Want{}) })
		pass(time.Second)
		b.slow(2 * timeout)
		b.start(func() { _ = b.read(repoAt("git.example.com", 1), Want{}) })
		pass(time.Second)
		b.slow(time.Second)
		start := time.Now()
		together(6, func(i int) {
			if err := b.read(repoAt("git.example.com", 2+i), Want{}); err != nil {
				t.Error(err)
			}
		})
		// Until the second one has answered, then three times two in parallel.
		if took := time.Since(start); took != 2*timeout+2*time.Second {
			t.Errorf("took %v", took)
		}
	})
}

func TestI4_HostFailureIsPerHostAndCredentials(t *testing.T) {
	run(t, func(b *bench) {
		b.auth = func(r giturl.Remote) string { return r.Path[:7] }
		b.broken = func(r giturl.Remote, auth string) *fault.Error {
			if auth == "/acme/a" {
				return &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseSSH, HostWide: true, Happened: "refused"}
			}
			return nil
		}
		if b.read("https://git.example.com/acme/a1", Want{}) == nil || b.read("https://git.example.com/acme/a2", Want{}) == nil {
			t.Fatal("no error")
		}
		b.calledTimes(1)
		for _, url := range []string{"https://git.example.com/acme/b1", "https://git.example.com:8443/acme/b1", "https://other.example.com/acme/b1"} {
			if err := b.read(url, Want{}); err != nil {
				t.Errorf("%s: %v", url, err)
			}
		}
		b.calledTimes(4)
	})
}

func TestI4_OnlyHostWideFailuresAreRemembered(t *testing.T) {
	for name, e := range map[string]fault.Error{
		"not found":   {Kind: fault.NotFound, Phase: fault.PhaseAnswer, Status: 404},
		"interrupt":   {Kind: fault.Canceled, Phase: fault.PhaseDial},
		"cut short":   {Kind: fault.Timeout, Phase: fault.PhaseRefs},
		"credentials": {Kind: fault.Authentication, Phase: fault.PhaseAuth},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *bench) {
				b.broken = func(giturl.Remote, string) *fault.Error { return &e }
				for i := range 3 {
					wantFault(b, b.read(repoAt("git.example.com", i), Want{}), e.Kind)
				}
				b.calledTimes(3)
			})
		})
	}
}

// TestI4_SlowRepositoryIsNoDeadHost: once a host has answered anything, silence
// is that of one repository.
func TestI4_SlowRepositoryIsNoDeadHost(t *testing.T) {
	answers := map[string]func(giturl.Remote, string) *fault.Error{
		"refs": nil,
		"404": func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.NotFound, Phase: fault.PhaseAnswer, Status: 404}
		},
		"503": func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseAnswer, Status: 503}
		},
		"a stream that stopped": func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.Timeout, Phase: fault.PhaseRefs}
		},
		"no such repository over ssh": func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.NotFound, Phase: fault.PhaseAnswer}
		},
	}
	for name, broken := range answers {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *bench) {
				b.silent = func(r giturl.Remote) bool { return r.Path == "/acme/r7.git" }
				b.broken = broken
				_ = b.read(repoAt("git.example.com", 1), Want{})
				for range 2 {
					if e := wantFault(b, b.read(repoAt("git.example.com", 7), Want{}), fault.Timeout); e.HostWide {
						t.Error("still blames the host")
					}
				}
				b.calledTimes(3)
			})
		})
	}
}

// TestI4_AnAnswerClearsTheHost: a slow repository may be the first to be asked.
func TestI4_AnAnswerClearsTheHost(t *testing.T) {
	run(t, func(b *bench) {
		b.silent = func(r giturl.Remote) bool { return r.Path == "/acme/r7.git" }
		b.auth = func(r giturl.Remote) string { return r.Path } // each its own credentials
		b.start(func() { _ = b.read(repoAt("git.example.com", 7), Want{}) })
		pass(timeout - time.Millisecond)
		together(1, func(int) { _ = b.read(repoAt("git.example.com", 1), Want{}) })
		_ = b.read(repoAt("git.example.com", 7), Want{})
		b.calledTimes(3)
	})
}

func TestFreshTriesADeadHostAgain(t *testing.T) {
	run(t, func(b *bench) {
		up := false
		b.broken = func(giturl.Remote, string) *fault.Error {
			if up {
				return nil
			}
			return &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true, Happened: "refused"}
		}
		_ = b.read(repo, Want{})
		_ = b.read(repo, Want{Fresh: true})
		b.calledTimes(2)
		up = true
		if err := b.read(repo, Want{}); err == nil {
			t.Error("the failure was forgotten without a reason")
		}
		b.calledTimes(2)
		if err := b.read(repo, Want{Fresh: true}); err != nil {
			t.Error(err)
		}
		if err := b.read(repoAt("git.example.com", 1), Want{}); err != nil {
			t.Errorf("a host that answers is still taken for dead: %v", err)
		}
	})
}

// TestFreshMarksTheReadingItJoins: a caller that demands a try joins a reading
// in the queue and must not be fobbed off with a remembered failure.
func TestFreshMarksTheReadingItJoins(t *testing.T) {
	run(t, func(b *bench) {
		b.broken = func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true, Happened: "refused"}
		}
		b.start(func() { _ = b.read(repoAt("git.example.com", 1), Want{}) })
		b.start(func() { _ = b.read(repoAt("git.example.com", 2), Want{}) })
		b.start(func() { _ = b.read(repo, Want{}) })
		wantFault(b, b.read(repo, Want{Fresh: true}), fault.Unavailable)
		b.calledTimes(3)
	})
}

func TestPerHostBound(t *testing.T) {
	run(t, func(b *bench) {
		start := time.Now()
		together(60, func(i int) {
			host := []string{"one.example.com", "two.example.com", "three.example.com"}[i%3]
			if err := b.read(repoAt(host, i), Want{}); err != nil {
				t.Error(err)
			}
		})
		for host, peak := range b.peak {
			if peak != 2 {
				t.Errorf("%d readings at a time on %s, want 2", peak, host)
			}
		}
		// 20 repositories on each host, two at a time, the hosts in parallel.
		if took := time.Since(start); took != 10*time.Second {
			t.Errorf("took %v, want 10 s", took)
		}
	})
}

// TestI4_QueueingDoesNotCountAgainstTheTimeout: the last of 20 readings of 50 s
// waits for a quarter of an hour and still succeeds.
func TestI4_QueueingDoesNotCountAgainstTheTimeout(t *testing.T) {
	run(t, func(b *bench) {
		b.slow(50 * time.Second)
		together(40, func(i int) {
			if err := b.read(repoAt("git.example.com", i), Want{}); err != nil {
				t.Error(err)
			}
		})
	})
}

func TestPerHostDefault(t *testing.T) {
	for _, n := range []int{0, -3} {
		synctest.Test(t, func(t *testing.T) {
			b := newBench(t, Options{PerHost: n})
			together(20, func(i int) { _ = b.read(repoAt("git.example.com", i), Want{}) })
			if got := b.peak["git.example.com:443"]; got != DefaultPerHost {
				t.Errorf("per host %d: %d at a time, want %d", n, got, DefaultPerHost)
			}
		})
	}
}

func TestCancel(t *testing.T) {
	t.Run("one of two who wait", func(t *testing.T) {
		run(t, func(b *bench) {
			ctx, cancel := context.WithCancel(b.Context())
			first := make(chan error)
			go func() {
				_, err := b.reader.Read(ctx, remote(b, repo), exact("HEAD"), Want{})
				first <- err
			}()
			synctest.Wait()
			second := make(chan error)
			go func() { second <- b.read(repo, Want{}) }()
			synctest.Wait()
			start := time.Now()
			cancel()
			wantFault(b, <-first, fault.Canceled, "interrupted", "HEAD of "+repo)
			if time.Since(start) != 0 {
				t.Error("the interrupt had to wait")
			}
			if err := <-second; err != nil {
				t.Errorf("the other caller failed: %v", err)
			}
			b.calledTimes(1)
		})
	})
	t.Run("all who wait", func(t *testing.T) {
		run(t, func(b *bench) {
			b.slow(time.Hour)
			ctx, cancel := context.WithTimeout(b.Context(), time.Second)
			defer cancel()
			together(3, func(int) {
				_, err := b.reader.Read(ctx, remote(b, repo), exact("HEAD"), Want{})
				wantFault(b, err, fault.Timeout, "waiting for the answer")
			})
			// Nobody joins what is being given up, and it is no host's failure.
			b.slow(time.Second)
			if err := b.read(repo, Want{}); err != nil {
				t.Error(err)
			}
			if b.canceled != 1 {
				t.Errorf("%d readings cancelled, want 1", b.canceled)
			}
		})
	})
	t.Run("in the queue", func(t *testing.T) {
		run(t, func(b *bench) {
			b.slow(time.Hour)
			b.start(func() { _ = b.read(repoAt("git.example.com", 1), Want{}) })
			b.start(func() { _ = b.read(repoAt("git.example.com", 2), Want{}) })
			ctx, cancel := context.WithTimeout(b.Context(), time.Second)
			defer cancel()
			_, err := b.reader.Read(ctx, remote(b, repo), exact("HEAD"), Want{})
			wantFault(b, err, fault.Timeout, "queue")
			pass(2 * time.Hour)
			b.calledTimes(2)
		})
	})
	t.Run("before it asks", func(t *testing.T) {
		run(t, func(b *bench) {
			ctx, cancel := context.WithCancel(b.Context())
			cancel()
			_, err := b.reader.Read(ctx, remote(b, repo), exact("HEAD"), Want{})
			wantFault(b, err, fault.Canceled, "HEAD of "+repo)
			b.calledTimes(0)
		})
	})
}

// TestI8_OneSilentRepositoryDoesNotDecideAboutItsHost: else the answer would
// depend on which repository is asked first.
func TestI8_OneSilentRepositoryDoesNotDecideAboutItsHost(t *testing.T) {
	run(t, func(b *bench) {
		slow := repoAt("git.example.com", 1)
		b.silent = func(r giturl.Remote) bool { return r.String() == slow }
		wantFault(b, b.read(slow, Want{}), fault.Timeout)
		wantFault(b, b.read(slow, Want{}), fault.Timeout, "was not tried again")
		b.calledTimes(1)
		if err := b.read(repoAt("git.example.com", 2), Want{}); err != nil {
			t.Errorf("the other repository: %v", err)
		}
	})
	run(t, func(b *bench) {
		b.silent = func(giturl.Remote) bool { return true }
		for i := range 5 {
			wantFault(b, b.read(repoAt("dead.example.com", i), Want{}), fault.Timeout)
		}
		b.calledTimes(2)
	})
}
