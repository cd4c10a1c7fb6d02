package pinning

import (
	"strings"
	"time"
)

// Seen is one commit as a tracking ref named it at one time.
type Seen struct {
	// Commit is the peeled id, Object the id that the ref itself names.
	Commit string `json:"commit"`
	Object string `json:"object"`
	// TrackingRef is the full ref name, "HEAD" included.
	TrackingRef string `json:"tracking_ref"`
	// Version is the SemVer text of a semver selector, "" otherwise.
	Version string `json:"version,omitempty"`
	// At is when this was first seen so (UTC, whole seconds).
	At time.Time `json:"at"`
}

// Same reports whether s and o name the same thing, whenever they were seen.
func (s Seen) Same(o Seen) bool {
	return s.Commit == o.Commit && s.Object == o.Object &&
		s.TrackingRef == o.TrackingRef && s.Version == o.Version
}

// Record is everything that is remembered of one pin: the pin itself and what
// refreshes have learnt since. It belongs to one plumbing (invariant I2): when
// the URL or the selector changes, only Pin and Previous are worth anything.
type Record struct {
	// Pin is what is pinned; Pin.At is when it was recorded.
	Pin Seen
	// Previous is the commit pinned before, "" if there was none.
	Previous string
	// Latest is the newest observation whatever the policy says.
	Latest Seen
	// UpdateAvailable is true when a candidate exists and differs from Pin.
	UpdateAvailable bool
	Ready           bool
	Reason          Reason
	// Strict is true when the pin was fed an observation.
	Strict bool
	Facts  Facts
}

// Facts is what a refresh has to remember beyond what users see. It is stored
// as JSON in the resource's private state and written only when it carries
// news, because a changed private state alone makes
// `plan -refresh-only -detailed-exitcode` report a change (invariant I7).
type Facts struct {
	// Imported is true until the first apply after an import: triggers are
	// recorded then, not obeyed.
	Imported bool `json:"imported,omitempty"`
	// LastSuccess is the newest successful reading worth remembering.
	LastSuccess time.Time `json:"last_success,omitzero"`
	// Moved is what the pinned tag names instead of the pinned object; nil
	// while there is no conflict. It outlives failed readings.
	Moved *Seen `json:"moved,omitempty"`
	// Gone is true when the remote was read and did not advertise the pinned
	// tracking ref.
	Gone bool `json:"gone,omitempty"`
	// NoMatch is true when the remote was read and nothing fits the selector.
	NoMatch bool `json:"no_match,omitempty"`
	// Unread is true when the last refresh failed while a pin that follows by
	// itself had an update to take: it is not taken then.
	Unread bool `json:"unread,omitempty"`
	// Sightings are the commits seen since the pinned one, oldest first; kept
	// only where min_observed_age is set.
	Sightings []Sighting `json:"sightings,omitempty"`
}

// Sighting is a commit that waits to be old enough. Seen.At is when we first
// saw it.
type Sighting struct {
	Seen
	// Matured is true once it had been seen for min_observed_age at a refresh.
	// It is settled there and stored, so that a plan depends on no clock.
	Matured bool `json:"matured,omitempty"`
}

// Reason is the fixed code behind Ready.
type Reason string

// The reasons, in the order in which they are checked.
const (
	ReasonTagMoved   Reason = "tag_moved"
	ReasonNeverRead  Reason = "never_read"
	ReasonStale      Reason = "stale"
	ReasonRefMissing Reason = "ref_missing" // ready: the recorded commit is still good
	ReasonOK         Reason = "ok"
)

// judge sets Ready and Reason. stale is whether the last success on record is
// older than the freshness threshold, as found by the last refresh.
func (r *Record) judge(p Policy, stale bool) {
	switch {
	case r.Facts.Moved != nil && p.OnTagMoved != TagMovedFollow:
		r.Ready, r.Reason = false, ReasonTagMoved
	case r.Facts.LastSuccess.IsZero():
		r.Ready, r.Reason = false, ReasonNeverRead
	case stale:
		r.Ready, r.Reason = false, ReasonStale
	case r.Facts.Gone:
		r.Ready, r.Reason = true, ReasonRefMissing
	default:
		r.Ready, r.Reason = true, ReasonOK
	}
}

// isTag reports whether a tracking ref is a tag: only a tag promises to stay.
func isTag(trackingRef string) bool { return strings.HasPrefix(trackingRef, "refs/tags/") }
