package pinning

import "time"

// Update says when a pin follows its remote.
type Update string

// The values of Update.
const (
	UpdateHold   Update = "hold"   // stays until triggers change
	UpdateFollow Update = "follow" // every plan proposes the candidate
)

// TagMoved says what to do when a pinned tag names another object.
type TagMoved string

// The values of TagMoved.
const (
	TagMovedError  TagMoved = "error"
	TagMovedHold   TagMoved = "hold"
	TagMovedFollow TagMoved = "follow" // the tag is treated like a branch
)

// Missing says what to do when a reachable remote no longer has the ref.
type Missing string

// The values of Missing.
const (
	MissingHold  Missing = "hold"
	MissingError Missing = "error"
)

// Policy is how a pin may move.
type Policy struct {
	Update     Update
	OnTagMoved TagMoved
	OnMissing  Missing
	// MinObservedAge is how long a commit must have been seen before it becomes
	// the candidate; 0 means at once.
	MinObservedAge time.Duration
	// FreshnessThreshold is how old the last successful reading may be; 0 means
	// any age.
	FreshnessThreshold time.Duration
}

// Stale reports whether the last success is older than the threshold at now,
// and how old it is. A zero last success is stale; a zero threshold never is.
func (p Policy) Stale(lastSuccess, now time.Time) (age time.Duration, stale bool) {
	if p.FreshnessThreshold <= 0 {
		return 0, false
	}
	if lastSuccess.IsZero() {
		return 0, true
	}
	age = now.Sub(lastSuccess)
	return age, age > p.FreshnessThreshold
}
