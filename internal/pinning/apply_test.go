package pinning

import (
	"reflect"
	"testing"
	"time"
)

// refreshedPin is a pin that is created from pinned and refreshed an hour and
// two hours later.
func refreshedPin(p Policy, pinned, later remote) Record {
	rec := refreshed(created(p, pinned, false), p, later, 60)
	return refreshed(rec, p, later, 120)
}

func TestApply(t *testing.T) {
	hour := with(func(p *Policy) { p.MinObservedAge = time.Hour })
	followTag := with(func(p *Policy) { p.OnTagMoved = TagMovedFollow })
	imported := created(defaults, remote{branch: 1}, false)
	imported.Facts.Imported = true
	for _, c := range []struct {
		name     string
		prior    Record
		policy   Policy
		change   func(*Input)
		want     string // summary
		pin      Seen
		previous string
	}{{
		name: "a trigger moves the pin", prior: refreshedPin(defaults, remote{branch: 1}, remote{branch: 2}), policy: defaults,
		change: func(in *Input) { in.TriggersChanged = true },
		want:   "latest commit2@60, true ok", pin: seenAt(branch, 2, 300), previous: "commit1",
	}, {
		name: "a trigger without news records itself alone", prior: created(defaults, remote{branch: 1}, false), policy: defaults,
		change: func(in *Input) { in.TriggersChanged = true },
		want:   "latest commit1@0, true ok", pin: seenAt(branch, 1, 0),
	}, {
		name: "the first triggers of an import", prior: imported, policy: defaults,
		change: func(in *Input) { in.TriggersChanged = true },
		want:   "latest commit1@0, true ok", pin: seenAt(branch, 1, 0),
	}, {
		name: "a trigger accepts a moved tag", prior: refreshedPin(defaults, remote{tag1: 1}, remote{tag1: 2}), policy: defaults,
		change: func(in *Input) { in.TriggersChanged = true },
		want:   "latest commit2@60, true ok", pin: seenAt(tag1, 2, 300), previous: "commit1",
	}, {
		name: "the same commit tagged again is no new commit", prior: refreshedPin(defaults, remote{tag1: 1}, remote{tag1: 1 + again}), policy: defaults,
		change: func(in *Input) { in.TriggersChanged = true },
		want:   "latest commit1@60, true ok", pin: seenAt(tag1, 1+again, 300),
	}, {
		name: "a policy accepts a moved tag", prior: refreshedPin(defaults, remote{tag1: 1}, remote{tag1: 2}), policy: followTag,
		change: func(*Input) {},
		want:   "latest commit2@60, true ok, update, moved object2@60", pin: seenAt(tag1, 1, 0),
	}, {
		name: "another match for a tag that is gone", prior: refreshedPin(defaults, remote{tag2: 2}, remote{tag1: 1}), policy: defaults,
		change: func(in *Input) { in.Policy.Update = UpdateFollow },
		want:   "latest commit1@60, true ok", pin: seenAt(tag1, 1, 300), previous: "commit2",
	}, {
		name: "what came after the candidate goes on waiting", prior: refreshed(refreshedPin(hour, remote{branch: 1}, remote{branch: 2}), hour, remote{branch: 3}, 121),
		policy: hour, change: func(in *Input) { in.TriggersChanged = true },
		want: "latest commit3@121, true ok, sightings commit3@121", pin: seenAt(branch, 2, 300), previous: "commit1",
	}, {
		name: "another plumbing forgets all but what was pinned", prior: refreshedPin(hour, remote{tag1: 1}, remote{tag1: 2}), policy: hour,
		change: func(in *Input) {
			offered := seenAt(branch, 7, 200)
			in.SamePlumbing, in.Offered = false, &offered
		},
		want: "latest commit7@200, true ok", pin: seenAt(branch, 7, 300), previous: "commit1",
	}, {
		name: "another plumbing, by an old observation", prior: refreshedPin(hour, remote{branch: 1}, remote{branch: 2}), policy: hour,
		change: func(in *Input) {
			offered := seenAt(tag1, 7, 30)
			in.Strict, in.SamePlumbing, in.Offered = true, false, &offered
		},
		want: "latest commit7@30, true ok", pin: seenAt(tag1, 7, 300), previous: "commit1",
	}, {
		name: "the same commit elsewhere", prior: created(defaults, remote{branch: 1}, false), policy: defaults,
		change: func(in *Input) {
			offered := seenAt("HEAD", 1, 200)
			in.SamePlumbing, in.Offered = false, &offered
		},
		want: "latest commit1@200, true ok", pin: seenAt("HEAD", 1, 300),
	}, {
		name: "a newer observation than the refresh's", prior: refreshedPin(defaults, remote{branch: 1}, remote{branch: 2}), policy: defaults,
		change: func(in *Input) {
			offered := seenAt(branch, 3, 200)
			in.Strict, in.Offered = true, &offered
		},
		want: "latest commit3@200, true ok, update", pin: seenAt(branch, 1, 0),
	}, {
		name: "an older one is pinned but is not the latest", prior: refreshedPin(defaults, remote{branch: 1}, remote{branch: 2}), policy: defaults,
		change: func(in *Input) {
			offered := seenAt(branch, 3, 30)
			in.Strict, in.Offered, in.TriggersChanged = true, &offered, true
		},
		want: "latest commit2@60, true ok, update", pin: seenAt(branch, 3, 300), previous: "commit1",
	}, {
		name:   "a strict pin no longer waits for an earlier commit",
		prior:  refreshed(refreshedPin(hour, remote{branch: 1}, remote{branch: 2}), hour, remote{branch: 3}, 121),
		policy: hour, change: func(in *Input) {
			offered := seenAt(branch, 3, 121)
			in.Strict, in.Offered = true, &offered
		},
		want: "latest commit3@121, true ok, sightings commit2@60! commit3@121", pin: seenAt(branch, 1, 0),
	}, {
		name: "a changed age is for the next refresh", prior: refreshed(created(hour, remote{branch: 1}, false), hour, remote{branch: 2}, 60), policy: defaults,
		change: func(in *Input) { in.Policy.Update, in.PriorPolicy = UpdateFollow, hour },
		want:   "latest commit2@60, true ok, sightings commit2@60", pin: seenAt(branch, 1, 0),
	}} {
		t.Run(c.name, func(t *testing.T) {
			in := planOf(c.prior, defaults)
			in.Policy, in.PriorPolicy = c.policy, c.policy
			c.change(&in)
			d := Decide(in)
			if d.Refusal != "" {
				t.Fatalf("refused: %s", d.Refusal)
			}
			got := Apply(in, d, at(300))
			if summary(got) != c.want || got.Pin != c.pin || got.Previous != c.previous {
				t.Errorf("got %s\n    %+v, previous %s\nwant %s\n    %+v, previous %s", summary(got), got.Pin, got.Previous, c.want, c.pin, c.previous)
			}
			if got.Facts.Imported {
				t.Error("an import ends with the first apply")
			}
			if got.Strict != in.Strict {
				t.Error("the form of the pin was not recorded")
			}
		})
	}
}

// A success that came with the plan counts from then on.
func TestApplyRecordsTheSuccess(t *testing.T) {
	rec := created(defaults, remote{branch: 1}, true)
	if got := rec.Facts.LastSuccess; !got.Equal(start) {
		t.Fatalf("created: last success at %v", got)
	}
	for minute, want := range map[int]time.Time{-10: start, 10: at(10)} {
		in := planOf(rec, defaults)
		offered := seenAt(branch, 1, minute)
		in.Offered = &offered
		if got := Apply(in, Decide(in), at(20)).Facts.LastSuccess; !got.Equal(want) {
			t.Errorf("an observation of minute %d: last success at %v, want %v", minute, got, want)
		}
	}
	// That of another plumbing says nothing.
	in := planOf(rec, defaults)
	offered := seenAt(tag1, 1, -10)
	in.SamePlumbing, in.Offered = false, &offered
	if got := Apply(in, Decide(in), at(20)).Facts.LastSuccess; !got.Equal(at(-10)) {
		t.Errorf("another plumbing: last success at %v", got)
	}
}

// A held pin that stops following has nothing left that the next success would
// have to clear.
func TestApplyForgetsTheFailureWithThePolicy(t *testing.T) {
	follow := with(func(p *Policy) { p.Update = UpdateFollow })
	rec := AbsorbFailure(refreshedPin(follow, remote{branch: 1}, remote{branch: 2}), follow, at(130))
	in := planOf(rec, follow)
	if got := Apply(in, Decide(in), at(140)); !got.Facts.Unread {
		t.Error("still following: the failure still counts")
	}
	in.Policy.Update = UpdateHold
	if got := Apply(in, Decide(in), at(140)); got.Facts.Unread {
		t.Error("no longer following, and the failure still counts")
	}
}

// TestI3_OnlyTimesDependOnTheClock: a plan and its apply differ in nothing that
// a plan shows as known.
func TestI3_OnlyTimesDependOnTheClock(t *testing.T) {
	in := planOf(refreshedPin(defaults, remote{tag1: 1}, remote{tag1: 1, tag2: 2}), defaults)
	in.TriggersChanged = true
	planned, applied := Apply(in, Decide(in), time.Time{}), Apply(in, Decide(in), at(500))
	if !applied.Pin.At.Equal(at(500)) {
		t.Errorf("pinned at %v", applied.Pin.At)
	}
	applied.Pin.At = planned.Pin.At
	if !reflect.DeepEqual(planned, applied) {
		t.Errorf("planned %+v\napplied %+v", planned, applied)
	}
}
