package pinning

import (
	"reflect"
	"time"
)

// maxSightings bounds what one pin keeps in private state.
const maxSightings = 64

// Reading is one successful reading of the pin's own plumbing.
type Reading struct {
	// Newest is what the selector picks now; nil when nothing fits it.
	Newest *Seen
	// Lookup returns what a full ref name names in this reading.
	Lookup func(trackingRef string) (Seen, bool)
}

// Absorb returns rec with what the reading, made at the time now (UTC, whole
// seconds), has told. It moves no pin: it sets Latest, UpdateAvailable, Ready,
// Reason and Facts. p is the policy on record, because a refresh does not see
// the new configuration. Without news, rec is returned as it is: every written
// time would be a change (invariant I7).
func Absorb(rec Record, p Policy, r Reading, now time.Time) Record {
	next := rec
	tracked, there := r.Lookup(rec.Pin.TrackingRef)
	next.Facts.Unread = false
	next.Facts.Gone = !there
	next.Facts.NoMatch = r.Newest == nil
	next.Facts.Moved = moved(rec, tracked, there, now)
	if r.Newest != nil && !r.Newest.Same(rec.Latest) {
		next.Latest = *r.Newest
		next.Latest.At = now
	}
	next.Facts.Sightings = sightings(next, p.MinObservedAge, r, now)
	next.UpdateAvailable = next.updateAvailable(p)
	next.Facts.LastSuccess = now
	next.judge(p, false)

	return withNews(rec, next, p, now)
}

// AbsorbBeside is Absorb for a member of a set of which another member could not
// be read: what the pin could move to stays as it was, so that no plan moves a
// part of the set. What says whether the pin is good is absorbed.
func AbsorbBeside(rec Record, p Policy, r Reading, now time.Time) Record {
	next := Absorb(rec, p, r, now)
	next.Latest, next.UpdateAvailable = rec.Latest, rec.UpdateAvailable
	next.Facts.Sightings, next.Facts.NoMatch = rec.Facts.Sightings, rec.Facts.NoMatch
	next.Facts.Unread = unread(rec, p)
	return withNews(rec, next, p, now)
}

// withNews returns next, which was read at now, if it says anything that rec
// does not, and rec otherwise. A success is worth a line in the state only
// together with other news, or once a third of the threshold has gone by.
func withNews(rec, next Record, p Policy, now time.Time) Record {
	last := rec.Facts.LastSuccess
	due := last.IsZero() || (p.FreshnessThreshold > 0 && now.Sub(last) >= p.FreshnessThreshold/3)
	quiet := next
	quiet.Facts.LastSuccess = last
	if !due && reflect.DeepEqual(quiet, rec) {
		return rec
	}
	return next
}

// unread reports whether a reading that brought nothing to move to is worth
// remembering: an outage is no news of a pin that has nothing to follow.
func unread(rec Record, p Policy) bool {
	return p.Update == UpdateFollow && !rec.Strict && rec.UpdateAvailable
}

// AbsorbFailure returns rec after a reading that failed at the time now:
// nothing is forgotten, and the pin turns stale once the last success on record
// is too old.
func AbsorbFailure(rec Record, p Policy, now time.Time) Record {
	next := rec
	next.Facts.Unread = unread(rec, p)
	_, stale := p.Stale(rec.Facts.LastSuccess, now)
	next.judge(p, stale)
	return next
}

// moved returns the conflict after a reading: what the pinned tag names now,
// nil when it names the pinned object. A tag that is gone neither starts nor
// ends a conflict.
func moved(rec Record, tracked Seen, there bool, now time.Time) *Seen {
	switch {
	case !isTag(rec.Pin.TrackingRef):
		return nil
	case !there:
		return rec.Facts.Moved
	case tracked.Object == rec.Pin.Object:
		return nil
	case rec.Facts.Moved != nil && rec.Facts.Moved.Object == tracked.Object:
		return rec.Facts.Moved
	}
	tracked.At = now
	return &tracked
}

// sightings returns the commits that wait for their age, or have reached it,
// oldest first. rec has the reading's Latest, which is the last of them unless
// there are too many.
func sightings(rec Record, age time.Duration, r Reading, now time.Time) []Sighting {
	switch {
	case age <= 0 || rec.Latest.Same(rec.Pin):
		// Nothing to wait for; or the remote went back to what is pinned, so
		// that what was seen in between is no longer what it offers.
		return nil
	case r.Newest == nil:
		return rec.Facts.Sightings
	}
	var list []Sighting
	for _, s := range rec.Facts.Sightings {
		// A tag must still name what was seen: a tag that moves starts again. A
		// branch leaves no such trace, its earlier commits stay good.
		if ref, there := r.Lookup(s.TrackingRef); isTag(s.TrackingRef) && (!there || ref.Object != s.Object) {
			continue
		}
		list = append(list, s)
		if s.Same(rec.Latest) {
			// Where it was rolled back, what came after is forgotten.
			break
		}
	}
	if n := len(list); n == 0 || !list[n-1].Same(rec.Latest) {
		list = append(list, Sighting{Seen: rec.Latest})
	}
	ripest := 0
	for i := range list {
		list[i].Matured = now.Sub(list[i].At) >= age
		if list[i].Matured {
			ripest = i
		}
	}
	// What came before the newest ripe one can no longer become the candidate.
	list = list[ripest:]
	// Beyond the bound the young ones go: the old ones are about to ripen, or a
	// busy branch would starve. The newest is not lost, it is rec.Latest.
	return list[:min(len(list), maxSightings)]
}
