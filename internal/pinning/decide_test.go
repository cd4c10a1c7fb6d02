package pinning

import (
	"testing"
	"time"
)

// TestSpecification holds the whole product of what a decision can depend on
// against testdata/decide.md. Each case is brought about by readings as they
// come, so that the facts that refreshes store are checked with it.
func TestSpecification(t *testing.T) {
	s := readSpecification(t)
	cases, all := 0, histories{}
	s.each(func(w words) {
		c, distinct := newCase(w, all)
		if !distinct {
			return
		}
		cases++
		if w.is("recorded", "this plumbing") && !w.is("refresh", "skipped") {
			want := s.lookup(t, "Ready and reason", w).then
			if got := readiness(c.prior); got != want {
				t.Fatalf("ready, reason are %s, want %s\n%s", got, want, w)
			}
		}
		candidate := s.lookup(t, "The candidate", w).then
		w.set("candidate", candidate)
		plan := s.lookup(t, "The plan", w)
		got, want := describe(Decide(c.input)), c.expected(plan.then, candidate)
		if got != want {
			t.Fatalf("%s: %s, want %s\n%s", plan.name, got, want, w)
		}
		if w.is("recorded", "this plumbing") && w.is("refresh", "read") && !w.is("min_observed_age", "changed") {
			if want := w.is("candidate", "the newest", "an earlier one"); c.prior.UpdateAvailable != want {
				t.Fatalf("update_available is %v, want %v\n%s", c.prior.UpdateAvailable, want, w)
			}
		}
	})
	s.checkUse(t)
	t.Logf("%d cases", cases)
}

// testCase is what the words of a case come to.
type testCase struct {
	*history
	input Input
}

// expected is the decision that an outcome in the specification stands for.
func (c testCase) expected(then, candidate string) string {
	switch {
	case then == "moves to what was read", then == "moves to the candidate" && candidate == "the newest":
		return "moves to " + c.newest.Object + " of " + c.newest.TrackingRef
	case then == "moves to the candidate":
		return "moves to " + c.earlier.Object + " of " + c.earlier.TrackingRef
	}
	return then
}

func describe(d Decision) string {
	switch {
	case d.Refusal != "":
		return "fails: " + string(d.Refusal)
	case d.Move:
		return "moves to " + d.To.Object + " of " + d.To.TrackingRef
	case d.Note != "":
		return "stays, warns: " + string(d.Note)
	}
	return "stays"
}

func readiness(r Record) string {
	if r.Ready {
		return "true, " + string(r.Reason)
	}
	return "false, " + string(r.Reason)
}

// The readings of a case: one when the pin is created, one an hour later, and
// one two hours after that.
const (
	firstHour = 60
	lastHour  = 180
	theAge    = time.Hour
	threshold = 24 * time.Hour
)

// history is what has happened to a pin before a plan.
type history struct {
	prior           Record
	earlier, newest *Seen // as read at the first and the last hour
	now, success    time.Time
}

// histories are shared by the cases that differ only in what is configured now.
type histories map[string]*history

func (all histories) of(w words) *history {
	key := make([]byte, 0, 16)
	for _, word := range []string{"feed", "refresh", "last success", "selector", "pinned ref", "on_tag_moved", "min_observed_age", "freshness_threshold"} {
		key = append(key, byte(w.at[word]))
	}
	if w.is("update", "follow") {
		key = append(key, 'f')
	}
	if w.is("triggers", "first after import") {
		key = append(key, 'i')
	}
	h := all[string(key)]
	if h == nil {
		h = newHistory(w)
		all[string(key)] = h
	}
	return h
}

func newHistory(w words) *history {
	first, second, last := w.remotes()
	h := &history{earlier: first.newest(), newest: last.newest(), now: at(lastHour)}
	if w.is("last success", "old") {
		h.now = h.now.Add(2 * threshold)
	}
	_, policy := w.policies()
	h.prior = created(policy, remote{w.pinnedRef(): 1}, w.is("feed", "observation"))
	h.prior.Facts.Imported = w.is("triggers", "first after import")
	h.prior = refreshed(h.prior, policy, first, firstHour)
	if second != nil {
		h.prior = refreshed(h.prior, policy, second, firstHour+1)
	}
	h.prior = refreshed(h.prior, policy, last, lastHour)
	if w.is("last success", "never") {
		h.prior.Facts.LastSuccess = time.Time{}
	}
	h.success = h.prior.Facts.LastSuccess
	if w.is("last success", "recent") {
		h.success = h.now
	}
	if w.is("refresh", "failed") {
		h.prior = AbsorbFailure(h.prior, policy, h.now)
	}
	return h
}

// newCase builds a case; false if another one is the same.
func newCase(w words, all histories) (testCase, bool) {
	c := testCase{history: all.of(w)}
	c.input = Input{SamePlumbing: w.is("recorded", "this plumbing"), Strict: w.is("feed", "observation"),
		TriggersChanged: !w.is("triggers", "same"), ReadFailed: w.is("refresh", "failed")}
	if !w.is("recorded", "nothing") {
		c.input.Prior = &c.prior
	}
	if (c.input.Strict || !c.input.SamePlumbing) && !c.input.ReadFailed {
		c.input.Offered = c.newest
	}
	c.input.Policy, c.input.PriorPolicy = w.policies()
	_, c.input.Stale = c.input.Policy.Stale(c.success, c.now)
	succeeded := w.is("refresh", "read") || c.input.Offered != nil
	return c, w.is("last success", "recent") || (c.input.SamePlumbing && !succeeded)
}

// pinnedRef is the ref that the selector of a case had picked.
func (w words) pinnedRef() string {
	switch w.get("selector") {
	case "branch":
		return branch
	case "HEAD":
		return "HEAD"
	}
	return tag1
}

// remotes are the remote at the first hour, a minute later unless nil, and at
// the last hour. What is new is there at the first hour to reach its age, at
// the last to be too young.
func (w words) remotes() (first, second, last remote) {
	ref := w.pinnedRef()
	first, last = remote{ref: 1}, remote{ref: 1}
	young := w.is("min_observed_age", "too young")
	earlier := w.is("min_observed_age", "reached earlier")
	switch w.get("pinned ref") {
	case "moved":
		last[ref] = 3
		if earlier {
			first[ref] = 2
		} else if !young {
			first[ref] = 3
		}
	case "deleted":
		delete(last, ref)
	case "moved then deleted":
		first[ref] = 3
		delete(last, ref)
	case "back again":
		first[ref], second = 3, remote{}
	}
	if w.is("selector", "semver with another match") {
		last[tag3] = 5
		if earlier {
			first[tag2], last[tag2] = 4, 4
		} else if !young {
			first[tag3] = 5
		}
	}
	return first, second, last
}

// policies are the configured policy, and the one in the state.
func (w words) policies() (policy, prior Policy) {
	policy = Policy{Update: UpdateFollow, OnTagMoved: TagMoved(w.get("on_tag_moved")), OnMissing: Missing(w.get("on_missing"))}
	if w.is("update", "hold") {
		policy.Update = UpdateHold
	}
	if !w.is("min_observed_age", "unset") {
		policy.MinObservedAge = theAge
	}
	if w.is("freshness_threshold", "set") {
		policy.FreshnessThreshold = threshold
	}
	prior = policy
	if w.is("update", "newly follow") {
		prior.Update = UpdateHold
	}
	if w.is("min_observed_age", "changed") {
		policy.MinObservedAge = 0
	}
	return policy, prior
}

// An observation may tell more than the pin's own refresh: under
// -refresh=false, or where only the data source could read.
func TestDecideStrictObservationNewerThanTheRefresh(t *testing.T) {
	follow := with(func(p *Policy) { p.Update = UpdateFollow })
	tagged := created(follow, remote{tag1: 1}, true)
	gone := refreshed(created(follow, remote{branch: 1}, true), follow, remote{}, 10)
	for _, c := range []struct {
		name    string
		prior   Record
		change  func(*Input)
		offered Seen
		want    string
	}{
		{"a branch has moved", created(follow, remote{branch: 1}, true), func(*Input) {}, seen(branch, 2), "moves to commit2 of refs/heads/main"},
		{"only the data source could read", created(follow, remote{branch: 1}, true), func(in *Input) { in.ReadFailed = true },
			seen(branch, 2), "moves to commit2 of refs/heads/main"},
		{"a tag has moved", tagged, func(*Input) {}, seen(tag1, 2), "fails: tag_moved"},
		{"a tag has moved, and is held", tagged, func(in *Input) { in.Policy.OnTagMoved = TagMovedHold }, seen(tag1, 2), "stays"},
		{"a tag has moved, and is followed", tagged, func(in *Input) { in.Policy.OnTagMoved = TagMovedFollow },
			seen(tag1, 2), "moves to object2 of refs/tags/v1.0.0"},
		{"a tag has moved, and a trigger accepts it", tagged, func(in *Input) { in.TriggersChanged = true },
			seen(tag1, 2), "moves to object2 of refs/tags/v1.0.0"},
		{"another tag", tagged, func(*Input) {}, seen(tag2, 2), "moves to object2 of refs/tags/v1.1.0"},
		{"a ref is back", gone, func(*Input) {}, seen(branch, 2), "moves to commit2 of refs/heads/main"},
		{"a ref is back for a trigger", gone, func(in *Input) { in.TriggersChanged = true }, seen(branch, 2), "moves to commit2 of refs/heads/main"},
		{"no refresh has seen it for long enough", created(follow, remote{branch: 1}, true), func(in *Input) {
			in.Policy.MinObservedAge, in.PriorPolicy.MinObservedAge = theAge, theAge
		}, seen(branch, 2), "stays"},
	} {
		in := planOf(c.prior, follow)
		in.Offered = &c.offered
		c.change(&in)
		d := Decide(in)
		if got := describe(d); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		if d.Refusal == RefusedTagMoved && (d.Conflict == nil || !d.Conflict.Same(c.offered)) {
			t.Errorf("%s: the conflict is %v", c.name, d.Conflict)
		}
	}
}

// The refusal names what the tag names now, as the last refresh found it.
func TestDecideNamesTheConflict(t *testing.T) {
	rec := refreshed(created(defaults, remote{tag1: 1}, false), defaults, remote{tag1: 2}, 10)
	d := Decide(planOf(rec, defaults))
	if d.Refusal != RefusedTagMoved || d.Conflict == nil || d.Conflict.Object != "object2" || d.Conflict.Commit != "commit2" {
		t.Errorf("%s, conflict %+v", describe(d), d.Conflict)
	}
}

// TestI2_PlumbingChange: nothing of the old plumbing is ever a candidate.
func TestI2_PlumbingChange(t *testing.T) {
	follow := with(func(p *Policy) { p.Update = UpdateFollow })
	rec := refreshed(created(follow, remote{branch: 1}, false), follow, remote{branch: 2}, 10)
	in := planOf(rec, follow)
	in.SamePlumbing, in.TriggersChanged = false, true
	if got := describe(Decide(in)); got != "fails: nothing_observed" {
		t.Errorf("without a reading: %s", got)
	}
	offered := seen(tag1, 3)
	in.Offered = &offered
	if got := describe(Decide(in)); got != "moves to object3 of refs/tags/v1.0.0" {
		t.Errorf("with a reading: %s", got)
	}
}
