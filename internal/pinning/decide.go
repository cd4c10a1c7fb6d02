package pinning

import "time"

// Input is all that a decision depends on.
type Input struct {
	// Prior is what is recorded; nil on creation.
	Prior *Record
	// PriorPolicy is the policy that was in force when Prior was last
	// refreshed.
	PriorPolicy Policy
	// SamePlumbing is true when URL and selector are those of Prior.
	SamePlumbing bool
	// Policy is the configured one.
	Policy Policy
	// TriggersChanged is true when triggers differ from those on record.
	TriggersChanged bool
	// Strict is true when the pin is fed an observation.
	Strict bool
	// Offered is the observation handed to a strict pin or, for a self-observing
	// one, the fresh reading of a creation or a plumbing change. nil when there
	// is none or it failed.
	Offered *Seen
	// ReadFailed is true when a self-observing pin's own refresh failed in this
	// process. It may only ever turn a plan into an error.
	ReadFailed bool
}

// Decision is what a plan does with a pin.
type Decision struct {
	// Move is true when the pin moves to To; otherwise it stays.
	Move bool
	To   Seen
	// Refusal is why there can be no plan; "" when there can. The pin stays.
	Refusal Refusal
	// Note is worth a warning; "" when nothing is.
	Note Note
	// Conflict is what the pinned tag names instead, for RefusedTagMoved.
	Conflict *Seen
}

// Refusal is a fixed code of a plan that must fail.
type Refusal string

// The refusals.
const (
	RefusedNothingObserved Refusal = "nothing_observed" // creation or plumbing change without a reading
	RefusedTagMoved        Refusal = "tag_moved"
	RefusedRefMissing      Refusal = "ref_missing"
	RefusedTriggerUnread   Refusal = "trigger_unread"  // triggers changed, the remote cannot be read
	RefusedTriggerMissing  Refusal = "trigger_missing" // triggers changed, the ref is gone
)

// Note is a fixed code of a plan that deserves a word.
type Note string

// The notes.
const (
	NoteTriggersRecorded  Note = "triggers_recorded"  // an imported pin records its first triggers
	NoteTooYoung          Note = "too_young"          // triggers changed, no commit is old enough
	NoteObservationFailed Note = "observation_failed" // a strict pin holds: its observation failed
)

// Decide says whether the pin stays or moves. It is a pure function: the same
// input gives the same decision in the plan and in the apply.
func Decide(in Input) Decision {
	if in.Prior == nil || !in.SamePlumbing {
		// The first reading of a plumbing pins the tip, whatever the policy.
		if in.Offered == nil {
			return Decision{Refusal: RefusedNothingObserved}
		}
		return Decision{Move: true, To: *in.Offered}
	}
	candidate, found := in.candidate()
	elsewhere := found && candidate.TrackingRef != in.Prior.Pin.TrackingRef
	conflict := in.conflict()
	// The first triggers of an imported pin are recorded, not obeyed: they accept
	// no move either.
	accepted := in.TriggersChanged && !in.Prior.Facts.Imported
	if conflict != nil && in.Policy.OnTagMoved == TagMovedError && !accepted {
		return Decision{Refusal: RefusedTagMoved, Conflict: conflict}
	}
	mayMove := in.TriggersChanged || in.Policy.Update == UpdateFollow
	if in.Prior.Facts.Gone && in.Policy.OnMissing == MissingError && !(elsewhere && mayMove) {
		return Decision{Refusal: RefusedRefMissing}
	}
	if in.TriggersChanged {
		return in.trigger(candidate, found)
	}
	if in.Strict && in.Offered == nil {
		return Decision{Note: NoteObservationFailed}
	}
	held := conflict != nil && in.Policy.OnTagMoved == TagMovedHold && !elsewhere
	if in.Policy.Update != UpdateFollow || held || !found || candidate.Same(in.Prior.Pin) {
		return Decision{}
	}
	return Decision{Move: true, To: candidate}
}

// trigger decides a plan whose triggers changed. A trigger is used up by the
// apply, so a plan that cannot honour it fails rather than pass it by.
func (in Input) trigger(candidate Seen, found bool) Decision {
	switch {
	case in.Prior.Facts.Imported:
		return Decision{Note: NoteTriggersRecorded}
	case in.Strict && in.Offered == nil, !in.Strict && in.ReadFailed:
		return Decision{Refusal: RefusedTriggerUnread}
	case !in.Strict && in.Prior.Facts.NoMatch:
		return Decision{Refusal: RefusedTriggerMissing}
	case !found:
		return Decision{Note: NoteTooYoung}
	case candidate.Same(in.Prior.Pin):
		return Decision{}
	}
	return Decision{Move: true, To: candidate}
}

// candidate is the newest observation that the policy lets the pin move to.
func (in Input) candidate() (Seen, bool) {
	if in.Policy.MinObservedAge != in.PriorPolicy.MinObservedAge {
		// Maturity is settled at a refresh; a changed age counts from the next.
		return Seen{}, false
	}
	if !in.Strict {
		return candidate(*in.Prior, in.Policy)
	}
	if in.Offered == nil {
		return Seen{}, false
	}
	if in.Policy.MinObservedAge > 0 {
		// Only what was offered, and only once a refresh found it old enough.
		ripe, found := candidate(*in.Prior, in.Policy)
		return *in.Offered, (found && ripe.Same(*in.Offered)) || in.Offered.Same(in.Prior.Pin)
	}
	return *in.Offered, true
}

// conflict returns what the pinned tag names instead of the pinned object: as
// the last refresh found it, or as a strict pin's own observation shows.
func (in Input) conflict() *Seen {
	if in.Policy.OnTagMoved == TagMovedFollow {
		return nil
	}
	if in.Prior.Facts.Moved != nil {
		return in.Prior.Facts.Moved
	}
	pin := in.Prior.Pin
	if in.Strict && in.Offered != nil && isTag(pin.TrackingRef) &&
		in.Offered.TrackingRef == pin.TrackingRef && in.Offered.Object != pin.Object {
		return in.Offered
	}
	return nil
}

// candidate is the newest observation on record that the policy lets a
// self-observing pin move to.
func candidate(rec Record, p Policy) (Seen, bool) {
	if rec.Facts.NoMatch {
		return Seen{}, false
	}
	if p.MinObservedAge <= 0 {
		return rec.Latest, rec.Latest.Commit != ""
	}
	for i := len(rec.Facts.Sightings) - 1; i >= 0; i-- {
		if s := rec.Facts.Sightings[i]; s.Matured {
			return s.Seen, true
		}
	}
	return Seen{}, false
}

func updateAvailable(rec Record, p Policy) bool {
	c, found := candidate(rec, p)
	return found && !c.Same(rec.Pin)
}

// Apply returns the record after decision d was carried out at time at. It is
// what a plan shows and what an apply writes; only times may differ.
func Apply(in Input, d Decision, at time.Time) Record {
	var next Record
	if in.Prior != nil {
		next = *in.Prior
	}
	fresh := in.Prior == nil || !in.SamePlumbing
	if fresh {
		next.Facts, next.Latest = Facts{}, Seen{}
	}
	if d.Move {
		if in.Prior != nil && in.Prior.Pin.Commit != d.To.Commit {
			next.Previous = in.Prior.Pin.Commit
		}
		next.Pin = d.To
		next.Pin.At = at
		next.Facts.Moved, next.Facts.Gone, next.Facts.NoMatch = nil, false, false
		next.Facts.Sightings = after(next.Facts.Sightings, d.To)
	}
	next.Facts.Imported = false
	if in.Offered != nil {
		if in.Offered.At.After(next.Facts.LastSuccess) {
			next.Facts.LastSuccess = in.Offered.At
		}
		if !in.Offered.Same(next.Latest) && in.Offered.At.After(next.Latest.At) {
			next.Latest = *in.Offered
		}
	}
	if fresh || in.Policy.MinObservedAge == in.PriorPolicy.MinObservedAge {
		next.UpdateAvailable = updateAvailable(next, in.Policy)
	}
	// Staleness depends on the clock, and no planned value may: what the last
	// refresh found stays until the next, unless a fresh reading was made.
	next.judge(in.Policy, !fresh && next.Reason == ReasonStale && in.Policy.FreshnessThreshold > 0)
	return next
}

// after returns the sightings that came after to.
func after(list []Sighting, to Seen) []Sighting {
	for i, s := range list {
		if s.Same(to) {
			return append([]Sighting(nil), list[i+1:]...)
		}
	}
	return nil
}
