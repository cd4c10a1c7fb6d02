package pinning

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

	// The next two come from the clock and from the memory of the process, and
	// may differ in the second plan that Terraform makes during apply. So they
	// may only ever turn a plan into an error.

	// ReadFailed is true when the pin's own refresh failed in this process.
	ReadFailed bool
	// Stale is true when Policy.Stale says so of the newest success on record or
	// in this process.
	Stale bool
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
	RefusedTriggerUnread   Refusal = "trigger_unread"   // triggers changed, the remote cannot be read
	RefusedTriggerMissing  Refusal = "trigger_missing"  // triggers changed, nothing fits the selector
	RefusedTagMoved        Refusal = "tag_moved"
	RefusedStale           Refusal = "stale" // freshness_threshold is exceeded, or nothing was ever read
	RefusedRefMissing      Refusal = "ref_missing"
	RefusedFollowUnread    Refusal = "follow_unread" // set to follow an update while the remote cannot be read
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
// input gives the same decision in the plan and in the apply. What it decides is
// written down in testdata/decide.md, which a test holds against it and the
// documentation quotes.
func Decide(in Input) Decision {
	if in.Prior == nil || !in.SamePlumbing {
		// The first reading of a plumbing pins the tip, whatever the policy.
		if in.Offered == nil {
			return Decision{Refusal: RefusedNothingObserved}
		}
		return Decision{Move: true, To: *in.Offered}
	}
	candidate, found := in.candidate()
	update := found && !candidate.Same(in.Prior.Pin)
	elsewhere := update && candidate.TrackingRef != in.Prior.Pin.TrackingRef
	conflict := in.conflict()
	triggered := in.TriggersChanged && !in.Prior.Facts.Imported
	follow := in.Policy.Update == UpdateFollow
	switch {
	// A trigger is used up by the apply: a plan that cannot look fails rather
	// than pass it by.
	case triggered && in.missing():
		return Decision{Refusal: RefusedTriggerMissing}
	case triggered && in.unread():
		return Decision{Refusal: RefusedTriggerUnread}
	// Only a trigger that moves the pin accepts the move of a tag.
	case conflict != nil && in.Policy.OnTagMoved == TagMovedError && !(triggered && update):
		return Decision{Refusal: RefusedTagMoved, Conflict: conflict}
	case in.Stale:
		return Decision{Refusal: RefusedStale}
	case in.Prior.Facts.Gone && in.Policy.OnMissing == MissingError && !(elsewhere && (triggered || follow)):
		return Decision{Refusal: RefusedRefMissing}
	case triggered && update:
		return Decision{Move: true, To: candidate}
	case triggered && !found:
		return Decision{Note: NoteTooYoung}
	case triggered:
		return Decision{}
	case in.Strict && in.Offered == nil:
		return Decision{Note: NoteObservationFailed}
	case !follow && in.TriggersChanged:
		return Decision{Note: NoteTriggersRecorded}
	case !follow, !update:
		return Decision{}
	// on_tag_moved is "hold": the conflict would have been refused otherwise.
	case conflict != nil && !elsewhere:
		return Decision{}
	// A failed refresh moves no pin, not even to what an earlier one had found.
	case !in.Strict && in.Prior.Facts.Unread:
		return Decision{}
	case !in.Strict && in.ReadFailed:
		return Decision{Refusal: RefusedFollowUnread}
	}
	return Decision{Move: true, To: candidate}
}

// unread reports whether there is no reading that a trigger could re-pin from.
func (in Input) unread() bool {
	if in.Strict {
		return in.Offered == nil
	}
	return in.ReadFailed
}

// missing reports whether there is none because the remote was read and
// nothing fits the selector.
func (in Input) missing() bool {
	return in.Prior.Facts.NoMatch && !in.ReadFailed && (!in.Strict || in.Offered == nil)
}

// conflict returns what the pinned tag names instead of the pinned object: as
// the last refresh found it or, where none has, as a strict pin's observation
// shows. nil when there is no conflict, or none by the policy.
func (in Input) conflict() *Seen {
	pin := in.Prior.Pin
	switch {
	case in.Policy.OnTagMoved == TagMovedFollow:
		return nil
	case in.Prior.Facts.Moved != nil:
		return in.Prior.Facts.Moved
	case in.Strict && in.Offered != nil && isTag(pin.TrackingRef) &&
		in.Offered.TrackingRef == pin.TrackingRef && in.Offered.Object != pin.Object:
		return in.Offered
	}
	return nil
}
