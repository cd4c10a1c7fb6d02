package gitpoll

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

func TestObserve(t *testing.T) {
	for name, c := range map[string]struct {
		spec selection.Spec
		want Observation
	}{
		"branch":        {selection.Spec{Branch: "main"}, Observation{Commit: "c1", Object: "c1", TrackingRef: "refs/heads/main"}},
		"annotated tag": {selection.Spec{Tag: "v1.0.0"}, Observation{Commit: "c1", Object: "tag of c1", TrackingRef: "refs/tags/v1.0.0"}},
		"HEAD":          {selection.Spec{Ref: "HEAD"}, Observation{Commit: "c1", Object: "c1", TrackingRef: "HEAD", SymrefTarget: "refs/heads/main"}},
		"range":         {selection.Spec{Semver: "1.x"}, Observation{Commit: "c3", Object: "c3", TrackingRef: "refs/tags/v1.1.0", Version: "1.1.0"}},
	} {
		t.Run(name, func(t *testing.T) {
			run(t, func(b *bench) {
				pass(300 * time.Millisecond)
				want := c.want
				want.Target = Target{URL: app, Spec: c.spec}
				want.ObjectFormat = "sha1"
				want.ObservedAt = time.Now().UTC().Truncate(time.Second) // when the reading began
				want.FirstObservedAt = want.ObservedAt
				got, err := b.observer.Observe(b.Context(), want.Target, reading.Want{}, true)
				if err != nil || got != want {
					b.Errorf("got  %+v, %v\nwant %+v", got, err, want)
				}
				if n := len(b.took()); n != 1 {
					b.Errorf("%d readings", n)
				}
			})
		})
	}
}

func TestObserveExplainsAMiss(t *testing.T) {
	run(t, func(b *bench) {
		_, err := b.observer.Observe(b.Context(), branch(app, "v1.0.0"), reading.Want{}, true)
		wantFault(b, err, fault.RefNotFound, `branch = "v1.0.0" of `+app, `tag = "v1.0.0"`)
		if n := len(b.took()); n != 2 {
			b.Errorf("%d readings, want one and one for the names", n)
		}
		_, err = b.observer.Observe(b.Context(), branch(app, "v1.0.0"), reading.Want{}, false)
		wantFault(b, err, fault.RefNotFound)
		if n := len(b.took()); n != 1 {
			b.Errorf("%d readings without hints, want 1", n)
		}
		_, err = b.observer.Observe(b.Context(), branch("https://git.example.com/acme/empty.git", "main"), reading.Want{}, true)
		wantFault(b, err, fault.EmptyRepository)
	})
}

func TestObserveKeepsTheMissWhenTheHintsFail(t *testing.T) {
	run(t, func(b *bench) {
		b.background.Go(func() {
			pass(latency / 2) // the first reading is under way
			b.fail(app, &fault.Error{Kind: fault.TooLarge, Happened: "too many"})
		})
		_, err := b.observer.Observe(b.Context(), branch(app, "zzz"), reading.Want{}, true)
		wantFault(b, err, fault.RefNotFound, `branch = "zzz" of `+app)
	})
}

func TestI4_ObserveNeverReportsAMissFromEarlier(t *testing.T) {
	run(t, func(b *bench) {
		_, err := b.observer.Observe(b.Context(), Target{URL: app, Spec: selection.Spec{Semver: "2.x"}}, reading.Want{}, true)
		wantFault(b, err, fault.RefNotFound)
		b.push(app, "refs/tags/v2.0.0", "c9")
		got, err := b.observer.Observe(b.Context(), Target{URL: app, Spec: selection.Spec{Semver: "2.x"}}, reading.Want{}, true)
		if err != nil || got.Commit != "c9" {
			b.Errorf("got %v, %v", got.Commit, err)
		}
	})
}

func TestObserveRefusesABadTargetWithoutReading(t *testing.T) {
	run(t, func(b *bench) {
		for _, target := range []Target{branch("https://u:p4ss@git.example.com/r.git", "main"), branch(app, "a b"), {URL: app}} {
			_, err := b.observer.Observe(b.Context(), target, reading.Want{}, true)
			wantFault(b, err, fault.Input)
			_, err = b.observer.Advertisement(b.Context(), target, reading.Want{})
			wantFault(b, err, fault.Input)
			_, err = b.observer.Wait(b.Context(), target, time.Hour, time.Second)
			wantFault(b, err, fault.Input)
		}
		if calls := b.took(); calls != nil {
			b.Errorf("read %v", calls)
		}
	})
}

func TestAdvertisement(t *testing.T) {
	run(t, func(b *bench) {
		target := Target{URL: app, Spec: selection.Spec{Semver: "1.x"}}
		ad, err := b.observer.Advertisement(b.Context(), target, reading.Want{})
		if err != nil {
			b.Fatal(err)
		}
		if ref, ok := ad.Lookup("refs/tags/v1.0.0"); !ok || ref.Commit() != "c1" {
			b.Errorf("the other tags are not in it: %+v", ad.Refs)
		}
		if _, err = b.observer.Observe(b.Context(), target, reading.Want{}, true); err != nil || len(b.took()) != 1 {
			b.Errorf("the reading was not shared (%v)", err)
		}
		// The caller's own Present counts.
		b.push(app, "refs/tags/v7", "c7")
		ad, err = b.observer.Advertisement(b.Context(), target, reading.Want{Present: func(a *lsremote.Advertisement) bool {
			_, ok := a.Lookup("refs/tags/v7")
			return ok
		}})
		if _, ok := ad.Lookup("refs/tags/v7"); err != nil || !ok {
			b.Errorf("a miss was reported from an earlier reading (%v)", err)
		}
		b.fail(app, &fault.Error{Kind: fault.NotFound, Status: 404})
		_, err = b.observer.Advertisement(b.Context(), target, reading.Want{Fresh: true})
		wantFault(b, err, fault.NotFound, `semver = "1.x" of `+app)
	})
}

// TestI4_SweepReadsEachRepositoryOnce: whatever is asked of a repository, and
// however its URL is spelled.
func TestI4_SweepReadsEachRepositoryOnce(t *testing.T) {
	run(t, func(b *bench) {
		targets := map[string]Target{
			"main":   branch(app, "main"),
			"again":  branch("https://git.example.com:443/acme/app.git/", "main"),
			"wip":    branch(app, "wip"),
			"head":   {URL: app, Spec: selection.Spec{Ref: "HEAD"}},
			"newest": {URL: app, Spec: selection.Spec{Semver: "*"}},
			"lib":    branch(lib, "main"),
		}
		start := time.Now()
		results := b.observer.Sweep(b.Context(), targets, reading.Want{}, true)
		if took := time.Since(start); took != latency {
			b.Errorf("took %v, want that of one reading", took)
		}
		if calls := b.took(); len(calls) != 2 {
			b.Errorf("read %v, want each repository once", calls)
		}
		commits := map[string]string{}
		for key, r := range results {
			commits[key] = r.Observation.Commit
			if r.Err != nil || r.Observation.URL != targets[key].URL {
				b.Errorf("%s: %+v", key, r)
			}
		}
		want := map[string]string{"main": "c1", "again": "c1", "wip": "c2", "head": "c1", "newest": "c3", "lib": "l1"}
		if !maps.Equal(commits, want) {
			b.Errorf("got %v, want %v", commits, want)
		}
	})
}

// TestI8_SweepDoesNotDependOnMapOrder: one spelling of a URL is read for all of
// them, always the same.
func TestI8_SweepDoesNotDependOnMapOrder(t *testing.T) {
	run(t, func(b *bench) {
		for range 20 {
			b.observer.Sweep(b.Context(), map[string]Target{
				"b": branch(app, "main"), "a": branch("https://git.example.com:443/acme/app.git/", "wip"),
				"c": branch("https://GIT.example.com/acme/app.git", "main"),
			}, reading.Want{Fresh: true}, false)
			if calls := b.took(); len(calls) != 1 || !strings.HasSuffix(calls[0], " of https://git.example.com:443/acme/app.git/") {
				b.Fatalf("read %v", calls)
			}
		}
	})
}

func TestSweepHasEveryKey(t *testing.T) {
	run(t, func(b *bench) {
		b.fail(lib, &fault.Error{Kind: fault.Authentication, Status: 401, Happened: "the server answered 401"})
		results := b.observer.Sweep(b.Context(), map[string]Target{
			"good": branch(app, "main"), "missing": branch(app, "v1.0.0"), "missing too": branch(app, "mian"), "refused": branch(lib, "main"), "wrong": branch(app, "a b"),
		}, reading.Want{}, true)
		if keys := slices.Sorted(maps.Keys(results)); !slices.Equal(keys, []string{"good", "missing", "missing too", "refused", "wrong"}) {
			b.Fatalf("keys %v", keys)
		}
		if r := results["good"]; r.Err != nil || r.Observation.Commit != "c1" {
			b.Errorf("%+v", r)
		}
		wantFault(b, results["missing"].Err, fault.RefNotFound, `branch = "v1.0.0" of `+app, `tag = "v1.0.0"`)
		wantFault(b, results["missing too"].Err, fault.RefNotFound, `branch = "mian" of `+app, `branch = "main"`)
		wantFault(b, results["refused"].Err, fault.Authentication, `branch = "main" of `+lib)
		wantFault(b, results["wrong"].Err, fault.Input)
		for _, key := range []string{"missing", "refused", "wrong"} {
			o := results[key].Observation
			if o.URL == "" || o.Spec.Branch == "" || o.Commit != "" || o.Error != results[key].Err.Error() || o.ObservedAt.IsZero() || !o.FirstObservedAt.IsZero() {
				b.Errorf("%s: a failed observation is %+v", key, o)
			}
			if err := o.VerifyChecksum(o.Checksum()); err != nil {
				b.Error(err)
			}
		}
		// lib, app, and once more for the names.
		if calls := b.took(); len(calls) != 3 {
			b.Errorf("read %v", calls)
		}
	})
}

// TestSweepOfThreeHosts: thirty targets, one host silent and one refusing, take
// about one timeout, and only those of the two hosts fail.
func TestSweepOfThreeHosts(t *testing.T) {
	run(t, func(b *bench) {
		targets := map[string]Target{}
		for i := range 10 {
			good := fmt.Sprintf("https://git.example.com/acme/r%d.git", i)
			b.refs[good] = map[string]string{"refs/heads/main": "c"}
			targets[fmt.Sprint("good", i)] = branch(good, "main")
			targets[fmt.Sprint("silent", i)] = branch(fmt.Sprintf("https://silent.example.com/acme/r%d.git", i), "main")
			targets[fmt.Sprint("refusing", i)] = branch(fmt.Sprintf("https://refusing.example.com/acme/r%d.git", i), "main")
		}
		start := time.Now()
		results := b.observer.Sweep(b.Context(), targets, reading.Want{}, true)
		if took := time.Since(start); took != timeout {
			b.Errorf("took %v, want one timeout (%v)", took, timeout)
		}
		for key, r := range results {
			switch {
			case strings.HasPrefix(key, "good") && r.Err != nil:
				b.Errorf("%s: %v", key, r.Err)
			case strings.HasPrefix(key, "silent"):
				wantFault(b, r.Err, fault.Timeout, targets[key].URL)
			case strings.HasPrefix(key, "refusing"):
				wantFault(b, r.Err, fault.Unavailable, targets[key].URL)
			}
		}
		if len(results) != 30 {
			b.Errorf("%d results", len(results))
		}
	})
}

// TestResultsShareNothing: a caller may do what it likes with its own.
func TestResultsShareNothing(t *testing.T) {
	run(t, func(b *bench) {
		filter := &selection.TagFilter{Pattern: "^v"}
		got, err := b.observer.Observe(b.Context(), Target{URL: app, Spec: selection.Spec{Semver: "*", TagFilter: filter}}, reading.Want{}, true)
		filter.Pattern = "^x"
		if err != nil || got.Spec.TagFilter.Pattern != "^v" {
			b.Errorf("the observation changed with the caller's filter: %+v, %v", got, err)
		}
	})
}
