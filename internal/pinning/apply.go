package pinning

import (
	"slices"
	"time"
)

// Apply returns the record after d, the decision on in, was carried out at the
// time at (UTC, whole seconds). d is no refusal. It is what a plan shows and
// what an apply writes: of the result, only times depend on at.
func Apply(in Input, d Decision, at time.Time) Record {
	var next Record
	if in.Prior != nil {
		next = *in.Prior
	}
	fresh := in.Prior == nil || !in.SamePlumbing
	if fresh {
		next.Facts, next.Latest = Facts{}, Seen{}
	}
	next.Strict = in.Strict
	next.Facts.Imported = false
	if d.Move || in.Strict || in.Policy.Update != UpdateFollow {
		next.Facts.Unread = false
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
	if in.Offered != nil {
		if in.Offered.At.After(next.Facts.LastSuccess) {
			next.Facts.LastSuccess = in.Offered.At
		}
		if !in.Offered.Same(next.Latest) && in.Offered.At.After(next.Latest.At) {
			next.Latest = *in.Offered
		}
	}
	if fresh || in.Policy.MinObservedAge == in.PriorPolicy.MinObservedAge {
		next.UpdateAvailable = next.updateAvailable(in.Policy)
	}
	// The plan of a stale pin is refused: what gets here is not stale, and no
	// planned value may ask the clock.
	next.judge(in.Policy, false)
	return next
}

// after returns the sightings that came after to; none if to is not among them.
func after(list []Sighting, to Seen) []Sighting {
	at := slices.IndexFunc(list, func(s Sighting) bool { return s.Same(to) })
	if at < 0 || at == len(list)-1 {
		return nil
	}
	return slices.Clone(list[at+1:])
}
