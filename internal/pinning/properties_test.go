package pinning

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"
	"time"
)

const (
	walks = 1500
	steps = 40
)

// walk is the life of one pin by chance: its remote changes, it is refreshed or
// cannot be, policies, triggers, plumbing and form change, plans are made and
// applied.
type walk struct {
	t      *testing.T
	random *rand.Rand
	minute int
	ref    string // of the selector; a tag stands for a semver range
	number int    // of the newest commit
	remote remote
	seen   []Seen // all that was ever read of this plumbing
	policy Policy // on record
	rec    Record
}

// TestProperties walks with fixed seeds.
func TestProperties(t *testing.T) {
	for seed := range uint64(walks) {
		w := &walk{t: t, random: rand.New(rand.NewPCG(seed, 4)), number: 1}
		w.policy = w.anyPolicy()
		w.newPlumbing()
		offered := w.observe()
		in := Input{Policy: w.policy, Strict: w.chance(2), Offered: &offered}
		w.rec = Apply(in, Decide(in), w.now())
		for range steps {
			w.minute += w.random.IntN(50)
			w.step()
			if t.Failed() {
				t.Fatalf("seed %d, minute %d, policy %+v, record %s", seed, w.minute, w.policy, summary(w.rec))
			}
		}
	}
}

func (w *walk) step() {
	switch w.random.IntN(5) {
	case 0, 1:
		w.change()
	case 2, 3:
		w.refresh()
	default:
		w.plan()
	}
	if got := stored(w.t, w.rec.Facts); !reflect.DeepEqual(got, w.rec.Facts) {
		w.t.Errorf("facts %+v came back as %+v", w.rec.Facts, got)
	}
	if n := len(w.rec.Facts.Sightings); n > maxSightings {
		w.t.Errorf("%d sightings", n)
	}
	if conflict := w.rec.Facts.Moved != nil && w.policy.OnTagMoved != TagMovedFollow; (w.rec.Reason == ReasonTagMoved) != conflict {
		w.t.Errorf("reason %s, conflict %v", w.rec.Reason, conflict)
	}
	if ready := w.rec.Reason == ReasonOK || w.rec.Reason == ReasonRefMissing; w.rec.Ready != ready {
		w.t.Errorf("ready %v, reason %s", w.rec.Ready, w.rec.Reason)
	}
}

// change is one push to the remote.
func (w *walk) change() {
	refs := []string{w.ref}
	if isTag(w.ref) {
		refs = []string{tag1, tag2, tag3}
	}
	ref := refs[w.random.IntN(len(refs))]
	switch w.random.IntN(4) {
	case 0:
		delete(w.remote, ref)
	case 1:
		w.remote[ref] = max(1, w.number-w.random.IntN(3)) // back
	default:
		w.number++
		w.remote[ref] = w.number
	}
}

// refresh reads the remote, or fails to.
func (w *walk) refresh() {
	before := w.rec
	if w.chance(3) {
		w.rec = AbsorbFailure(w.rec, w.policy, w.now())
		if !reflect.DeepEqual(AbsorbFailure(w.rec, w.policy, w.now()), w.rec) {
			w.t.Error("the second failure says something else")
		}
		if w.rec.Latest != before.Latest || w.rec.UpdateAvailable != before.UpdateAvailable {
			w.t.Error("a failure has found something")
		}
		w.checkFailureMovesNothing()
	} else {
		reading := w.remote.reading()
		for _, ref := range []string{w.ref, w.rec.Pin.TrackingRef} {
			if s, there := reading.Lookup(ref); there {
				w.seen = append(w.seen, s)
			}
		}
		if reading.Newest != nil {
			w.seen = append(w.seen, *reading.Newest)
		}
		w.rec = Absorb(w.rec, w.policy, reading, w.now())
		if again := Absorb(w.rec, w.policy, reading, w.now()); !reflect.DeepEqual(again, w.rec) {
			w.t.Errorf("I7: the same reading again is news: %s, then %s", summary(w.rec), summary(again))
		}
		if later := Absorb(w.rec, w.quiet(), reading, w.now().Add(1000*time.Hour)); w.policy == w.quiet() && !reflect.DeepEqual(later, w.rec) {
			w.t.Errorf("I7: the same reading later is news: %s, then %s", summary(w.rec), summary(later))
		}
		if w.rec.UpdateAvailable != w.rec.updateAvailable(w.policy) {
			w.t.Error("update_available is not what the candidate says")
		}
	}
	if w.rec.Pin != before.Pin || w.rec.Previous != before.Previous {
		w.t.Error("a refresh moved the pin")
	}
}

// checkFailureMovesNothing (I5): whatever is configured, a self-observing pin
// stays where it is after a refresh that failed.
func (w *walk) checkFailureMovesNothing() {
	in := planOf(w.rec, w.policy)
	in.Strict, in.ReadFailed, in.TriggersChanged = false, true, w.chance(2)
	if w.chance(2) {
		in.Policy = w.anyPolicy()
	}
	if d := Decide(in); d.Move {
		w.t.Errorf("I5: moved to %v after a failure", d.To)
	}
}

// plan makes a plan and, mostly, applies it.
func (w *walk) plan() {
	in := planOf(w.rec, w.policy)
	in.TriggersChanged = w.chance(4)
	if w.chance(4) {
		in.Policy = w.anyPolicy()
	}
	if w.chance(6) {
		in.Strict = !in.Strict
	}
	if w.chance(6) {
		in.SamePlumbing = false
		w.newPlumbing()
	}
	if (in.Strict || !in.SamePlumbing) && !w.chance(4) && w.remote.newest() != nil {
		offered := w.observe()
		in.Offered = &offered
	}
	d := w.decide(in)
	if d.Refusal != "" && !in.SamePlumbing {
		// Terraform keeps the old state, and the user the old configuration.
		// The walk cannot go back: it ends with a first pin elsewhere.
		offered := w.observe()
		in.Offered = &offered
		d = w.decide(in)
	}
	if d.Refusal != "" {
		return
	}
	w.apply(in, d)
}

// decide checks what is true of every decision.
func (w *walk) decide(in Input) Decision {
	before := w.rec
	before.Facts.Sightings = slices.Clone(before.Facts.Sightings)
	d := Decide(in)
	if !reflect.DeepEqual(d, Decide(in)) {
		w.t.Error("the same input, another decision")
	}
	if !reflect.DeepEqual(before, *in.Prior) {
		w.t.Error("a decision changed the record")
	}
	if d.Move && d.Refusal != "" {
		w.t.Error("refused and moved")
	}
	if d.Move && !slices.ContainsFunc(w.seen, d.To.Same) {
		w.t.Errorf("I1, I2: %v was never read of this plumbing", d.To)
	}
	// The clock and the process's memory make errors, never another plan.
	for range 3 {
		volatile := in
		volatile.ReadFailed, volatile.Stale = w.chance(2), w.chance(2)
		if other := Decide(volatile); other.Refusal == "" && d.Refusal == "" && !reflect.DeepEqual(d, other) {
			w.t.Errorf("I3: %+v becomes %+v", d, other)
		}
	}
	return d
}

// apply checks that what is applied stays as it is.
func (w *walk) apply(in Input, d Decision) {
	w.rec, w.policy = Apply(in, d, w.now()), in.Policy
	if d.Move && !w.rec.Pin.Same(d.To) || !d.Move && w.rec.Pin != in.Prior.Pin {
		w.t.Errorf("decided %+v, applied %v", d, w.rec.Pin)
	}
	if in.Policy.MinObservedAge != in.PriorPolicy.MinObservedAge && in.SamePlumbing {
		return // what a changed age comes to, the next refresh settles
	}
	next := planOf(w.rec, w.policy)
	if next.Strict {
		next.Offered = in.Offered
	}
	d = Decide(next)
	if d.Move {
		w.t.Errorf("the next plan moves from %v to %v", w.rec.Pin, d.To)
	}
	if got := Apply(next, d, w.now().Add(time.Hour)); !reflect.DeepEqual(got, w.rec) {
		w.t.Errorf("applied %s, then %s", summary(w.rec), summary(got))
	}
}

func (w *walk) now() time.Time { return at(w.minute) }

func (w *walk) chance(oneIn int) bool { return w.random.IntN(oneIn) == 0 }

// newPlumbing turns to another remote, which has a ref to pin.
func (w *walk) newPlumbing() {
	w.ref = []string{branch, "HEAD", tag1, tag2}[w.random.IntN(4)]
	w.number += 100 // no commit is in two remotes
	w.remote, w.seen = remote{w.ref: w.number}, nil
}

// observe reads the newest of the remote, or of an empty one after a push.
func (w *walk) observe() Seen {
	if w.remote.newest() == nil {
		w.number++
		w.remote[w.ref] = w.number
	}
	s := *w.remote.newest()
	s.At = w.now()
	w.seen = append(w.seen, s)
	return s
}

// quiet is the policy on record without what makes time pass.
func (w *walk) quiet() Policy {
	p := w.policy
	p.MinObservedAge, p.FreshnessThreshold = 0, 0
	return p
}

func (w *walk) anyPolicy() Policy {
	p := Policy{
		Update:     []Update{UpdateHold, UpdateFollow}[w.random.IntN(2)],
		OnTagMoved: []TagMoved{TagMovedError, TagMovedHold, TagMovedFollow}[w.random.IntN(3)],
		OnMissing:  []Missing{MissingHold, MissingError}[w.random.IntN(2)],
	}
	if w.chance(2) {
		p.MinObservedAge = time.Duration(1+w.random.IntN(3)) * time.Hour
	}
	if w.chance(2) {
		p.FreshnessThreshold = 24 * time.Hour
	}
	return p
}
