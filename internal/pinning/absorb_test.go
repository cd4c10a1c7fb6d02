package pinning

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
	"time"
)

// down is a remote that cannot be read.
var down remote

// summary is what a refresh has found, in one line:
// "latest commit2@60, true ok" and, where there is more to say, "update",
// "moved object3@60", "gone", "no match", "unread" and "sightings commit2@60!".
// "@" is when it was first seen, in minutes; "!" that it is old enough.
func summary(r Record) string {
	var b strings.Builder
	fmt.Fprintf(&b, "latest %s, %v %s", when(r.Latest.Commit, r.Latest.At), r.Ready, r.Reason)
	say := func(this bool, text string) {
		if this {
			b.WriteString(", " + text)
		}
	}
	f := r.Facts
	say(r.UpdateAvailable, "update")
	if f.Moved != nil {
		say(true, "moved "+when(f.Moved.Object, f.Moved.At))
	}
	say(f.Gone, "gone")
	say(f.NoMatch, "no match")
	say(f.Unread, "unread")
	say(len(f.Sightings) > 0, "sightings")
	for _, s := range f.Sightings {
		b.WriteString(" " + when(s.Commit, s.At))
		if s.Matured {
			b.WriteString("!")
		}
	}
	return b.String()
}

func when(name string, t time.Time) string {
	return fmt.Sprintf("%s@%d", name, int(t.Sub(start).Minutes()))
}

// refresh is one refresh, so many minutes after the pin was created.
type refresh struct {
	at     int
	remote remote
	want   string
}

// story is a pin, created from a remote at minute 0, and its refreshes.
type story struct {
	name      string
	policy    Policy
	strict    bool
	pinned    remote
	refreshes []refresh
}

func tell(t *testing.T, stories []story) {
	for _, s := range stories {
		t.Run(s.name, func(t *testing.T) {
			rec := created(s.policy, s.pinned, s.strict)
			pin := rec.Pin
			for _, r := range s.refreshes {
				if r.remote == nil {
					rec = AbsorbFailure(rec, s.policy, at(r.at))
				} else {
					rec = refreshed(rec, s.policy, r.remote, r.at)
				}
				if got := summary(rec); got != r.want {
					t.Fatalf("minute %d:\n got %s\nwant %s", r.at, got, r.want)
				}
				if rec.Pin != pin || rec.Previous != "" {
					t.Fatalf("minute %d: a refresh moved the pin to %v", r.at, rec.Pin)
				}
			}
		})
	}
}

func TestAbsorb(t *testing.T) {
	tell(t, []story{{
		name: "a branch moves", policy: defaults, pinned: remote{branch: 1},
		refreshes: []refresh{
			{1, remote{branch: 1}, "latest commit1@0, true ok"},
			{2, remote{branch: 2}, "latest commit2@2, true ok, update"},
			{3, remote{branch: 2}, "latest commit2@2, true ok, update"},
			{4, down, "latest commit2@2, true ok, update"},
			{5, remote{branch: 3}, "latest commit3@5, true ok, update"},
			{6, remote{branch: 1}, "latest commit1@6, true ok"},
		},
	}, {
		name: "a branch goes and comes back", policy: defaults, pinned: remote{branch: 1},
		refreshes: []refresh{
			{1, remote{branch: 2}, "latest commit2@1, true ok, update"},
			{2, remote{}, "latest commit2@1, true ref_missing, gone, no match"},
			{3, down, "latest commit2@1, true ref_missing, gone, no match"},
			{4, remote{branch: 2}, "latest commit2@1, true ok, update"},
		},
	}, {
		name: "a tag moves, through failures and deletion, and is back", policy: defaults, pinned: remote{tag1: 1},
		refreshes: []refresh{
			{1, remote{tag1: 2}, "latest commit2@1, false tag_moved, update, moved object2@1"},
			{2, remote{tag1: 2}, "latest commit2@1, false tag_moved, update, moved object2@1"},
			{3, down, "latest commit2@1, false tag_moved, update, moved object2@1"},
			{4, remote{tag1: 3}, "latest commit3@4, false tag_moved, update, moved object3@4"},
			{5, remote{}, "latest commit3@4, false tag_moved, moved object3@4, gone, no match"},
			{6, remote{tag1: 1}, "latest commit1@6, true ok"},
		},
	}, {
		name: "the same commit is tagged again", policy: defaults, pinned: remote{tag1: 1},
		refreshes: []refresh{{1, remote{tag1: 1 + again}, "latest commit1@1, false tag_moved, update, moved object100001@1"}},
	}, {
		name:   "a tag that is held has moved nevertheless",
		policy: with(func(p *Policy) { p.OnTagMoved = TagMovedHold }), pinned: remote{tag1: 1},
		refreshes: []refresh{{1, remote{tag1: 2}, "latest commit2@1, false tag_moved, update, moved object2@1"}},
	}, {
		name:   "a tag that is followed is ready; a later policy finds that it moved",
		policy: with(func(p *Policy) { p.OnTagMoved = TagMovedFollow }), pinned: remote{tag1: 1},
		refreshes: []refresh{{1, remote{tag1: 2}, "latest commit2@1, true ok, update, moved object2@1"}},
	}, {
		name: "another tag of the range is no conflict, a moved one is", policy: defaults, pinned: remote{tag1: 1},
		refreshes: []refresh{
			{1, remote{tag1: 1, tag2: 2}, "latest commit2@1, true ok, update"},
			{2, remote{tag1: 1, tag2: 3}, "latest commit3@2, true ok, update"},
			{3, remote{tag1: 4, tag2: 3}, "latest commit3@2, false tag_moved, update, moved object4@3"},
		},
	}, {
		name: "the pinned tag goes, another match stays", policy: defaults, pinned: remote{tag2: 2},
		refreshes: []refresh{
			{1, remote{tag1: 1}, "latest commit1@1, true ref_missing, update, gone"},
			{2, remote{}, "latest commit1@1, true ref_missing, gone, no match"},
		},
	}})
}

func TestAbsorbMinObservedAge(t *testing.T) {
	hour := with(func(p *Policy) { p.MinObservedAge = time.Hour })
	tell(t, []story{{
		name: "each commit counts from its first sighting", policy: hour, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{40, remote{branch: 3}, "latest commit3@40, true ok, sightings commit2@10 commit3@40"},
			{69, remote{branch: 3}, "latest commit3@40, true ok, sightings commit2@10 commit3@40"},
			{70, remote{branch: 3}, "latest commit3@40, true ok, update, sightings commit2@10! commit3@40"},
			{71, remote{branch: 4}, "latest commit4@71, true ok, update, sightings commit2@10! commit3@40 commit4@71"},
			{100, remote{branch: 4}, "latest commit4@71, true ok, update, sightings commit3@40! commit4@71"},
		},
	}, {
		name: "a strict pin is not offered an earlier one", policy: hour, strict: true, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{40, remote{branch: 3}, "latest commit3@40, true ok, sightings commit2@10 commit3@40"},
			{70, remote{branch: 3}, "latest commit3@40, true ok, sightings commit2@10! commit3@40"},
			{100, remote{branch: 3}, "latest commit3@40, true ok, update, sightings commit3@40!"},
		},
	}, {
		name: "back to an earlier commit, which keeps its age", policy: hour, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{20, remote{branch: 3}, "latest commit3@20, true ok, sightings commit2@10 commit3@20"},
			{30, remote{branch: 2}, "latest commit2@30, true ok, sightings commit2@10"},
			{70, remote{branch: 2}, "latest commit2@30, true ok, update, sightings commit2@10!"},
			{80, remote{branch: 3}, "latest commit3@80, true ok, update, sightings commit2@10! commit3@80"},
		},
	}, {
		name: "back to the pinned commit", policy: hour, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{70, remote{branch: 1}, "latest commit1@70, true ok"},
			{80, remote{branch: 2}, "latest commit2@80, true ok, sightings commit2@80"},
		},
	}, {
		name: "nothing ripens while the remote is down", policy: hour, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{100, down, "latest commit2@10, true ok, sightings commit2@10"},
			{101, remote{branch: 2}, "latest commit2@10, true ok, update, sightings commit2@10!"},
		},
	}, {
		name: "a branch that goes and comes back has lost no time", policy: hour, pinned: remote{branch: 1},
		refreshes: []refresh{
			{10, remote{branch: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{20, remote{}, "latest commit2@10, true ref_missing, gone, no match, sightings commit2@10"},
			{80, remote{branch: 3}, "latest commit3@80, true ok, update, sightings commit2@10! commit3@80"},
		},
	}, {
		name: "a tag that moves starts again", policy: with(func(p *Policy) { p.MinObservedAge, p.OnTagMoved = time.Hour, TagMovedFollow }),
		pinned: remote{tag1: 1},
		refreshes: []refresh{
			{10, remote{tag1: 2}, "latest commit2@10, true ok, moved object2@10, sightings commit2@10"},
			{60, remote{tag1: 3}, "latest commit3@60, true ok, moved object3@60, sightings commit3@60"},
			{70, remote{tag1: 3}, "latest commit3@60, true ok, moved object3@60, sightings commit3@60"},
			{120, remote{tag1: 3}, "latest commit3@60, true ok, update, moved object3@60, sightings commit3@60!"},
		},
	}, {
		name: "a tag that is withdrawn is no candidate", policy: hour, pinned: remote{tag1: 1},
		refreshes: []refresh{
			{10, remote{tag1: 1, tag2: 2}, "latest commit2@10, true ok, sightings commit2@10"},
			{20, remote{tag1: 1, tag2: 2, tag3: 3}, "latest commit3@20, true ok, sightings commit2@10 commit3@20"},
			{70, remote{tag1: 1, tag2: 2}, "latest commit2@70, true ok, update, sightings commit2@10!"},
			{71, remote{tag1: 1, tag3: 3}, "latest commit3@71, true ok, sightings commit3@71"},
			{72, remote{tag1: 1}, "latest commit1@72, true ok"},
		},
	}})
}

// The age counts what was seen before it was asked for, and the first reading
// after it was given up forgets what it had kept.
func TestAbsorbChangedAge(t *testing.T) {
	hour := with(func(p *Policy) { p.MinObservedAge = time.Hour })
	rec := refreshed(created(defaults, remote{branch: 1}, false), defaults, remote{branch: 2}, 10)
	for _, c := range []struct {
		at     int
		policy Policy
		want   string
	}{
		{20, hour, "latest commit2@10, true ok, sightings commit2@10"},
		{70, hour, "latest commit2@10, true ok, update, sightings commit2@10!"},
		{71, with(func(p *Policy) { p.MinObservedAge = 2 * time.Hour }), "latest commit2@10, true ok, sightings commit2@10"},
		{72, defaults, "latest commit2@10, true ok, update"},
	} {
		rec = refreshed(rec, c.policy, remote{branch: 2}, c.at)
		if got := summary(rec); got != c.want {
			t.Fatalf("minute %d:\n got %s\nwant %s", c.at, got, c.want)
		}
	}
}

// A branch that moves at each of a thousand refreshes still advances, however
// many commits would have to be remembered.
func TestAbsorbBusyBranch(t *testing.T) {
	for _, age := range []time.Duration{time.Minute, 30 * time.Minute, 2 * time.Hour, 10 * time.Hour} {
		p := with(func(p *Policy) { p.MinObservedAge = age })
		rec := created(p, remote{branch: 1}, false)
		for minute := 1; minute <= 3000; minute++ {
			rec = refreshed(rec, p, remote{branch: 1 + minute}, minute)
			if n := len(rec.Facts.Sightings); n > maxSightings {
				t.Fatalf("age %s: %d sightings", age, n)
			}
			candidate, found := rec.candidate(p)
			waited := at(minute).Sub(candidate.At)
			if found && (waited < age || waited > 2*age) {
				t.Fatalf("age %s, minute %d: the candidate was first seen %s ago", age, minute, waited)
			}
			if !found && at(minute).Sub(start) > age+time.Minute {
				t.Fatalf("age %s, minute %d: no candidate", age, minute)
			}
		}
		// It comes to rest: its tip counts from when it was first seen.
		last := remote{branch: 3001}
		rec = refreshed(rec, p, last, 3000+int(age.Minutes())-1)
		if candidate, _ := rec.candidate(p); candidate.Same(rec.Latest) {
			t.Errorf("age %s: the tip is ripe too early", age)
		}
		rec = refreshed(rec, p, last, 3000+int(age.Minutes()))
		if candidate, _ := rec.candidate(p); !candidate.Same(rec.Latest) {
			t.Errorf("age %s: the tip is not ripe: %s", age, summary(rec))
		}
	}
}

func TestAbsorbFreshness(t *testing.T) {
	fresh := with(func(p *Policy) { p.FreshnessThreshold = time.Hour })
	tell(t, []story{{
		name: "stale by the last success on record, and well again", policy: fresh, pinned: remote{branch: 1},
		refreshes: []refresh{
			{60, down, "latest commit1@0, true ok"},
			{61, down, "latest commit1@0, false stale"},
			{62, remote{branch: 1}, "latest commit1@0, true ok"},
			{122, down, "latest commit1@0, true ok"},
		},
	}, {
		name: "a conflict comes first", policy: fresh, pinned: remote{tag1: 1},
		refreshes: []refresh{
			{1, remote{tag1: 2}, "latest commit2@1, false tag_moved, update, moved object2@1"},
			{100, down, "latest commit2@1, false tag_moved, update, moved object2@1"},
		},
	}, {
		name: "a missing ref comes last", policy: fresh, pinned: remote{branch: 1},
		refreshes: []refresh{
			{1, remote{}, "latest commit1@0, true ref_missing, gone, no match"},
			{100, down, "latest commit1@0, false stale, gone, no match"},
		},
	}, {
		name: "without a threshold nothing is ever stale", policy: defaults, pinned: remote{branch: 1},
		refreshes: []refresh{{1e6, down, "latest commit1@0, true ok"}},
	}})
	rec := created(fresh, remote{branch: 1}, false)
	rec.Facts = Facts{} // the private state was lost
	if got := AbsorbFailure(rec, fresh, at(500)); got.Ready || got.Reason != ReasonNeverRead {
		t.Errorf("never read: %s", summary(got))
	}
	if got := AbsorbFailure(rec, defaults, at(500)); got.Ready || got.Reason != ReasonNeverRead {
		t.Errorf("never read, without a threshold: %s", summary(got))
	}
	if got := refreshed(rec, defaults, remote{branch: 1}, 500); !got.Ready || !got.Facts.LastSuccess.Equal(at(500)) {
		t.Errorf("read after all: %s", summary(got))
	}
}

// The failure of a refresh is a fact only where there is something to follow.
func TestI5_FailureIsRecordedWhereItHoldsAPin(t *testing.T) {
	follow := with(func(p *Policy) { p.Update = UpdateFollow })
	tell(t, []story{{
		name: "an update to follow", policy: follow, pinned: remote{branch: 1},
		refreshes: []refresh{
			{1, remote{branch: 2}, "latest commit2@1, true ok, update"},
			{2, down, "latest commit2@1, true ok, update, unread"},
			{3, down, "latest commit2@1, true ok, update, unread"},
			{4, remote{branch: 2}, "latest commit2@1, true ok, update"},
		},
	}, {
		name: "none to follow", policy: follow, pinned: remote{branch: 1},
		refreshes: []refresh{{2, down, "latest commit1@0, true ok"}},
	}, {
		name: "a strict pin is offered what it follows", policy: follow, strict: true, pinned: remote{branch: 1},
		refreshes: []refresh{
			{1, remote{branch: 2}, "latest commit2@1, true ok, update"},
			{2, down, "latest commit2@1, true ok, update"},
		},
	}})
}

// TestI7_NoTimeIsWrittenWithoutNews repeats a reading for a day.
func TestI7_NoTimeIsWrittenWithoutNews(t *testing.T) {
	for _, c := range []struct {
		name   string
		policy Policy
		remote remote
		writes []int // minutes at which something is written
	}{
		{"nothing moved", defaults, remote{tag1: 1}, nil},
		{"nothing moved, with an age", with(func(p *Policy) { p.MinObservedAge = time.Hour }), remote{tag1: 1}, nil},
		{"the branch of another pin", defaults, remote{tag1: 1, branch: 5}, nil},
		{"a conflict", defaults, remote{tag1: 2}, []int{20}},
		{"a missing ref", defaults, remote{}, []int{20}},
		{"a sighting, and that it is old enough", with(func(p *Policy) { p.MinObservedAge = time.Hour }), remote{tag1: 1, tag2: 2}, []int{20, 80}},
		{"a third of the threshold", with(func(p *Policy) { p.FreshnessThreshold = 24 * time.Hour }), remote{tag1: 1}, []int{480, 960, 1440}},
		{"news count as a success", with(func(p *Policy) { p.FreshnessThreshold = 24 * time.Hour }), remote{}, []int{20, 500, 980}},
	} {
		t.Run(c.name, func(t *testing.T) {
			rec := created(c.policy, remote{tag1: 1}, false)
			reading := c.remote.reading()
			if _, there := c.remote[branch]; there {
				s := seen(tag1, 1)
				reading.Newest = &s
			}
			var writes []int
			for minute := 20; minute <= 1440; minute += 20 {
				next := Absorb(rec, c.policy, reading, at(minute))
				if !reflect.DeepEqual(rec, next) {
					writes = append(writes, minute)
				}
				rec = next
			}
			if !reflect.DeepEqual(writes, c.writes) {
				t.Errorf("written at %v, want %v", writes, c.writes)
			}
		})
	}
}

// TestI7_OutageIsNoNews: a pin that is not stale is left alone by a failure.
func TestI7_OutageIsNoNews(t *testing.T) {
	for name, p := range map[string]Policy{
		"hold": defaults,
		"age":  with(func(p *Policy) { p.MinObservedAge = time.Hour }),
	} {
		rec := refreshed(created(p, remote{branch: 1}, false), p, remote{branch: 2}, 10)
		if next := AbsorbFailure(rec, p, at(5000)); !reflect.DeepEqual(rec, next) {
			t.Errorf("%s: %s became %s", name, summary(rec), summary(next))
		}
	}
}
