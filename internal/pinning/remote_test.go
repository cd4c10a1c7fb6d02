package pinning

import (
	"strconv"
	"strings"
	"time"
)

var start = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at is the time so many minutes after start.
func at(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// remote is a remote as one reading shows it: full ref name → what it names,
// as a number. The selector of its pin is the one ref that is no tag or, among
// tags, the highest.
type remote map[string]int

const (
	branch = "refs/heads/main"
	tag1   = "refs/tags/v1.0.0"
	tag2   = "refs/tags/v1.1.0"
	tag3   = "refs/tags/v1.2.0"
)

// again is added to a number for another tag object of the same commit.
const again = 100000

// seen is what ref names as number n. An annotated tag's object is not its
// commit.
func seen(ref string, n int) Seen {
	commit := "commit" + strconv.Itoa(n%again)
	s := Seen{Commit: commit, Object: commit, TrackingRef: ref}
	if version, tag := strings.CutPrefix(ref, "refs/tags/v"); tag {
		s.Object, s.Version = "object"+strconv.Itoa(n), version
	}
	return s
}

func seenAt(ref string, n, minutes int) Seen {
	s := seen(ref, n)
	s.At = at(minutes)
	return s
}

func (r remote) newest() *Seen {
	best := ""
	for ref := range r {
		best = max(best, ref)
	}
	if best == "" {
		return nil
	}
	s := seen(best, r[best])
	return &s
}

func (r remote) reading() Reading {
	return Reading{Newest: r.newest(), Lookup: func(ref string) (Seen, bool) {
		n, there := r[ref]
		s := seen(ref, n)
		s.Version = "" // a lookup knows no versions
		return s, there
	}}
}

// created is the record of a pin created from r at start.
func created(p Policy, r remote, strict bool) Record {
	offered := r.newest()
	offered.At = start
	in := Input{Policy: p, Strict: strict, Offered: offered}
	return Apply(in, Decide(in), start)
}

// refreshed is rec after reading r so many minutes after start.
func refreshed(rec Record, p Policy, r remote, minutes int) Record {
	return Absorb(rec, p, r.reading(), at(minutes))
}

// planOf is the input of a plan with the policy on record.
func planOf(rec Record, p Policy) Input {
	return Input{Prior: &rec, PriorPolicy: p, Policy: p, SamePlumbing: true, Strict: rec.Strict}
}

var defaults = Policy{Update: UpdateHold, OnTagMoved: TagMovedError, OnMissing: MissingHold}

// with is a change of a policy.
func with(change func(*Policy)) Policy {
	p := defaults
	change(&p)
	return p
}
