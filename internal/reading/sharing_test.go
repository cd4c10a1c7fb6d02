package reading

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

func TestI4_OneReadingPerQueryAndAge(t *testing.T) {
	run(t, func(b *bench) {
		for range 20 {
			b.main(Want{})
		}
		b.calledTimes(1)
		b.push("refs/heads/main", "2")
		pass(89 * time.Second) // the reading began a second earlier still
		if got := b.main(Want{}); got != "1" {
			t.Errorf("at max_age the shared reading said %q", got)
		}
		b.calledTimes(1)
		pass(time.Second)
		if got := b.main(Want{}); got != "2" {
			t.Errorf("past max_age the answer was still %q", got)
		}
		b.calledTimes(2)
	})
}

func TestI4_OneReadingUnderWayIsJoined(t *testing.T) {
	run(t, func(b *bench) {
		together(100, func(int) { b.main(Want{}) })
		b.calledTimes(1)
	})
}

func TestI4_ACoveringReadingIsShared(t *testing.T) {
	run(t, func(b *bench) {
		b.start(func() { _ = b.id("refs/heads/main", below("refs/heads/"), Want{}) })
		b.main(Want{})                                                // joins the one under way
		b.id("refs/heads/x", exact("refs/heads/x"), Want{})           // answered by what it has left
		b.id("refs/heads/x", below("refs/heads/x"), Want{})           //
		b.id("", exact("refs/heads/x", "refs/heads/main"), Want{})    //
		b.id("", exact("refs/heads/main", "refs/heads/main"), Want{}) //
		b.calledTimes(1)
		b.id("refs/tags/v1", exact("refs/tags/v1", "refs/heads/main"), Want{}) // not covered
		b.calledTimes(2)
	})
}

func TestI4_SourcesAreKeptApart(t *testing.T) {
	run(t, func(b *bench) {
		b.auth = func(r giturl.Remote) string { return r.Path }
		for _, url := range []string{repo, "https://git.example.com/acme/other.git", "http://git.example.com/acme/app.git", "https://me@git.example.com/acme/app.git"} {
			if _, err := b.reader.Read(b.Context(), remote(b, url), exact("HEAD"), Want{}); err != nil {
				t.Fatal(err)
			}
		}
		b.calledTimes(4)
		b.auth = func(giturl.Remote) string { return "others" }
		b.id("", exact("HEAD"), Want{})
		b.calledTimes(5)
		// Two spellings of one repository are one.
		if _, err := b.reader.Read(b.Context(), remote(b, "https://GIT.example.com:443/acme/app.git/"), exact("HEAD"), Want{}); err != nil {
			t.Fatal(err)
		}
		b.calledTimes(5)
	})
}

func TestI4_MaxAgeOfACaller(t *testing.T) {
	run(t, func(b *bench) {
		b.main(Want{})
		b.push("refs/heads/main", "2")
		if got := b.main(Want{MaxAge: age(0)}); got != "2" {
			t.Errorf("max_age 0 was answered with %q", got)
		}
		if got := b.main(Want{}); got != "2" {
			t.Errorf("the fresh reading did not replace the shared one: %q", got)
		}
		b.calledTimes(2)
		pass(5 * time.Minute)
		b.main(Want{MaxAge: age(time.Hour)})
		b.calledTimes(2)
		b.main(Want{MaxAge: age(-time.Hour)})
		b.calledTimes(3)
	})
}

// TestI4_MaxAgeZeroJoinsNothingThatBegan: a push between the beginning of a
// reading and the call must be seen. Callers at the same moment still share.
func TestI4_MaxAgeZeroJoinsNothingThatBegan(t *testing.T) {
	run(t, func(b *bench) {
		b.start(func() { _ = b.main(Want{MaxAge: age(0)}) })
		b.push("refs/heads/main", "2")
		together(100, func(int) {
			if got := b.main(Want{MaxAge: age(0)}); got != "2" {
				t.Errorf("got %q", got)
			}
		})
		// As many as began before the last of the 100 had asked; all of them
		// ask before the fake time moves.
		if n := b.count(); n > 4 {
			t.Errorf("%d readings for 101 callers", n)
		}
	})
}

func TestI4_NotThereIsNeverAnsweredFromEarlier(t *testing.T) {
	run(t, func(b *bench) {
		missing := func() string {
			return b.id("refs/heads/new", exact("refs/heads/new"), Want{Present: has("refs/heads/new")})
		}
		b.id("refs/heads/main", below("refs/heads/"), Want{}) // covers it, without it
		if got := missing(); got != "" {
			t.Errorf("found %q", got)
		}
		b.calledTimes(2)
		missing()
		b.calledTimes(3)
		b.push("refs/heads/new", "7")
		if got := missing(); got != "7" {
			t.Errorf("still %q after the push", got)
		}
		b.calledTimes(4)
		missing() // it is there now: shared
		b.calledTimes(4)
		// What contradicts it is gone.
		if got := b.id("refs/heads/new", below("refs/heads/"), Want{}); got != "7" {
			t.Errorf("an older reading came back: %q", got)
		}
	})
}

// TestI4_AnAgreeingReadingStays: a miss does not throw away the wide reading
// that explains misses.
func TestI4_AnAgreeingReadingStays(t *testing.T) {
	run(t, func(b *bench) {
		b.id("", below("refs/heads/"), Want{})
		b.id("x", exact("refs/heads/x"), Want{Present: has("refs/heads/x")})
		b.calledTimes(2)
		b.id("", below("refs/heads/"), Want{})
		b.calledTimes(2)
	})
}

func TestI4_ManyWhoMissTheSameRef(t *testing.T) {
	run(t, func(b *bench) {
		w := Want{Present: has("refs/heads/new")}
		together(100, func(int) { b.id("refs/heads/new", exact("refs/heads/new"), w) })
		if n := b.count(); n > 3 {
			t.Errorf("%d readings for 100 callers who miss one ref", n)
		}
	})
}

func TestI4_FreshAlwaysReadsAnew(t *testing.T) {
	run(t, func(b *bench) {
		b.main(Want{})
		b.main(Want{Fresh: true})
		b.calledTimes(2)
		b.start(func() { _ = b.main(Want{}) })
		b.start(func() { _ = b.main(Want{Fresh: true}) })
		b.calledTimes(3)
		b.push("refs/heads/main", "2")
		if got := b.main(Want{Fresh: true}); got != "2" {
			t.Errorf("joined a reading that had begun: %q", got)
		}
		b.calledTimes(4)
		if got := b.main(Want{}); got != "2" {
			t.Errorf("the fresh reading did not become the shared one: %q", got)
		}
		b.calledTimes(4)
	})
}

// TestI4_TheNewestSharedReadingAnswers: of two that agree, and without waiting
// for a third.
func TestI4_TheNewestSharedReadingAnswers(t *testing.T) {
	run(t, func(b *bench) {
		b.id("", below("refs/heads/"), Want{})
		newest := time.Now()
		b.main(Want{Fresh: true})
		b.start(func() { b.main(Want{Fresh: true}) })
		asked := time.Now()
		a, err := b.reader.Read(b.Context(), remote(b, repo), exact("refs/heads/main"), Want{})
		if err != nil || !a.ReadAt.Equal(newest) {
			t.Errorf("got the reading of %v, %v; want that of %v", a.ReadAt, err, newest)
		}
		if took := time.Since(asked); took != 0 {
			t.Errorf("waited %v for a reading under way", took)
		}
	})
}

// TestPollingKeepsOneReading: memory does not grow with each reading of a wait.
func TestPollingKeepsOneReading(t *testing.T) {
	run(t, func(b *bench) {
		for range 50 {
			b.main(Want{Fresh: true})
		}
		for _, kept := range b.reader.flights {
			if len(kept) != 1 {
				t.Errorf("%d readings are kept", len(kept))
			}
		}
	})
}

// TestI4_ASlowOldReadingDoesNotComeBack: a reading that began earlier and ends
// later is no news.
func TestI4_ASlowOldReadingDoesNotComeBack(t *testing.T) {
	run(t, func(b *bench) {
		b.slow(10 * time.Second)
		b.start(func() { _ = b.id("", below("refs/heads/"), Want{}) })
		b.push("refs/heads/main", "2")
		b.slow(time.Second)
		b.main(Want{Fresh: true})
		pass(20 * time.Second)
		if got := b.id("refs/heads/main", below("refs/heads/"), Want{}); got != "2" {
			t.Errorf("the older reading is shared: %q", got)
		}
		if got := b.main(Want{}); got != "2" {
			t.Errorf("the older reading is shared: %q", got)
		}
	})
}

func TestErrorsAreNotShared(t *testing.T) {
	run(t, func(b *bench) {
		b.broken = func(giturl.Remote, string) *fault.Error {
			return &fault.Error{Kind: fault.NotFound, Asked: "another query", Happened: "the server answered 404", Status: 404}
		}
		together(10, func(int) {
			_, err := b.reader.Read(b.Context(), remote(b, repo), exact("HEAD"), Want{})
			wantFault(b, err, fault.NotFound, "HEAD of "+repo)
		})
		b.calledTimes(1) // under way it is shared all the same
		b.broken = nil
		b.id("", exact("HEAD"), Want{})
		b.calledTimes(2)
	})
}

// keychainError is a Keychain without usable credentials.
type keychainError struct{}

func (keychainError) For(giturl.Remote) (*gitauth.Auth, error) {
	return nil, &fault.Error{Kind: fault.CredentialsUnknown, Phase: fault.PhaseCredentials, Happened: "credentials[0].secret is not known yet"}
}

func TestUnusableCredentialsMakeNoRequest(t *testing.T) {
	client := newFake()
	_, err := New(client, keychainError{}, Options{}).Read(t.Context(), remote(t, repo), exact("HEAD"), Want{})
	wantFault(t, err, fault.CredentialsUnknown, "HEAD of "+repo, "credentials[0].secret")
	if client.count() != 0 {
		t.Errorf("requests were made: %v", client.calls)
	}
}

// TestReadingsNeverGoBack mixes everything at random: whatever a caller sees
// of a ref, a later caller sees the same or something newer.
func TestReadingsNeverGoBack(t *testing.T) {
	queries := []lsremote.Query{exact("refs/heads/main"), below("refs/heads/"), exact("refs/heads/main", "refs/tags/v1"), below(""), exact("HEAD", "refs/heads/main")}
	for seed := range uint64(20) {
		run(t, func(b *bench) {
			random := rand.New(rand.NewPCG(seed, 0))
			last := ""
			for i := range 300 {
				b.push("refs/heads/main", string(rune('A'+i/10)))
				b.slow(time.Duration(random.IntN(3)) * time.Second)
				q := queries[random.IntN(len(queries))]
				switch w := (Want{Fresh: random.IntN(4) == 0}); random.IntN(3) {
				case 0: // somebody else's, given up soon
					ctx, cancel := context.WithTimeout(b.Context(), time.Duration(random.IntN(4))*time.Second)
					b.start(func() {
						defer cancel()
						_, _ = b.reader.Read(ctx, remote(b, repo), q, w)
					})
				default:
					got := b.id("refs/heads/main", q, w)
					if got < last {
						t.Fatalf("seed %d, step %d: %q after %q", seed, i, got, last)
					}
					last = got
				}
				pass(time.Duration(random.IntN(30)) * time.Second)
			}
		})
	}
}
