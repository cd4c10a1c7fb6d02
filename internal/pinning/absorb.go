package pinning

import (
	"slices"
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

// Absorb returns rec with what the reading has told. It moves no pin: it sets
// Latest, UpdateAvailable, Ready, Reason and Facts. p is the policy on record,
// because a refresh does not see the new configuration. Times in the result
// change only when there is news (invariant I7).
func Absorb(rec Record, p Policy, r Reading, now time.Time) Record {
	next := rec
	tracked, there := r.Lookup(rec.Pin.TrackingRef)
	next.Facts.Gone = !there
	next.Facts.NoMatch = r.Newest == nil
	next.Facts.Moved = moved(rec, tracked, there, now)
	if r.Newest != nil && !r.Newest.Same(rec.Latest) {
		next.Latest = *r.Newest
		next.Latest.At = now
	}
	next.Facts.Sightings = sightings(rec, p.MinObservedAge, r, now)
	next.UpdateAvailable = updateAvailable(next, p)
	// A success is worth a line in the state only together with other news, or
	// once a third of the threshold has gone by: else every refresh would be a
	// change.
	due := p.FreshnessThreshold > 0 && now.Sub(rec.Facts.LastSuccess) >= p.FreshnessThreshold/3
	if rec.Facts.LastSuccess.IsZero() || due {
		next.Facts.LastSuccess = now
	}
	next.judge(p, false)
	if !sameNews(rec, next) {
		next.Facts.LastSuccess = now
	}
	return next
}

// AbsorbFailure returns rec after a reading that failed: nothing is forgotten,
// and the pin turns stale once the last success on record is too old.
func AbsorbFailure(rec Record, p Policy, now time.Time) Record {
	_, stale := p.Stale(rec.Facts.LastSuccess, now)
	next := rec
	next.judge(p, stale && !rec.Facts.LastSuccess.IsZero())
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

// sightings returns the commits that wait for their age, or have reached it.
func sightings(rec Record, age time.Duration, r Reading, now time.Time) []Sighting {
	if age <= 0 || r.Newest == nil || r.Newest.Same(rec.Pin) {
		// Nothing to wait for; or the remote went back to what is pinned, so
		// that what was seen in between is no longer what it offers.
		return nil
	}
	var list []Sighting
	for _, s := range rec.Facts.Sightings {
		// A tag must still name what was seen: a tag that moves starts again. A
		// branch leaves no such trace, its earlier commits stay good.
		if now, there := r.Lookup(s.TrackingRef); isTag(s.TrackingRef) && (!there || now.Object != s.Object) {
			continue
		}
		if s.Same(*r.Newest) && !s.Same(rec.Facts.Sightings[len(rec.Facts.Sightings)-1].Seen) {
			// Rolled back to an earlier commit: it starts again, and what came
			// after it is forgotten.
			break
		}
		list = append(list, s)
	}
	if n := len(list); n == 0 || !list[n-1].Same(*r.Newest) {
		seen := *r.Newest
		seen.At = now
		list = append(list, Sighting{Seen: seen})
	}
	newestMatured := 0
	for i := range list {
		list[i].Matured = now.Sub(list[i].At) >= age
		if list[i].Matured {
			newestMatured = i
		}
	}
	// Older matured ones can never become the candidate again.
	list = list[newestMatured:]
	if over := len(list) - maxSightings; over > 0 {
		// Drop from the young end, before the newest: the old ones are about to
		// mature, and a busy branch must not starve.
		list = slices.Delete(list, maxSightings-1, maxSightings-1+over)
	}
	return list
}

// sameNews reports whether next says nothing that rec did not say.
func sameNews(rec, next Record) bool {
	a, b := rec.Facts, next.Facts
	sameMoved := (a.Moved == nil) == (b.Moved == nil) && (a.Moved == nil || *a.Moved == *b.Moved)
	return rec.Latest == next.Latest && rec.UpdateAvailable == next.UpdateAvailable &&
		rec.Ready == next.Ready && rec.Reason == next.Reason &&
		sameMoved && a.Gone == b.Gone && a.NoMatch == b.NoMatch &&
		slices.Equal(a.Sightings, b.Sightings)
}
