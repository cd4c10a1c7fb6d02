package pinning

// candidate returns the newest observation on record that p lets the pin move
// to, which may be the pin itself; false while there is none. Only
// MinObservedAge holds observations back: Update and OnTagMoved say when the
// candidate is taken, not which it is.
func (r Record) candidate(p Policy) (Seen, bool) {
	switch {
	case r.Facts.NoMatch || r.Latest.Commit == "":
		return Seen{}, false
	case p.MinObservedAge <= 0 || r.Latest.Same(r.Pin):
		return r.Latest, true
	}
	ripe, found := r.ripe()
	if r.Strict && !ripe.Same(r.Latest) {
		// An earlier commit is never offered to a strict pin again.
		return Seen{}, false
	}
	return ripe, found
}

// ripe returns the newest sighting that a refresh found to be old enough.
func (r Record) ripe() (Seen, bool) {
	for i := len(r.Facts.Sightings) - 1; i >= 0; i-- {
		if s := r.Facts.Sightings[i]; s.Matured {
			return s.Seen, true
		}
	}
	return Seen{}, false
}

// updateAvailable reports whether there is a candidate that differs from the
// pin.
func (r Record) updateAvailable(p Policy) bool {
	c, found := r.candidate(p)
	return found && !c.Same(r.Pin)
}

// candidate is the candidate of a plan for the plumbing on record.
func (in Input) candidate() (Seen, bool) {
	rec := *in.Prior
	rec.Strict = in.Strict
	if in.Strict {
		if in.Offered == nil {
			return Seen{}, false
		}
		// Only what is offered counts; what a refresh has found tells its age.
		rec.Latest, rec.Facts.NoMatch = *in.Offered, false
	}
	if in.Policy.MinObservedAge != in.PriorPolicy.MinObservedAge && !rec.Latest.Same(rec.Pin) {
		// Maturity is settled at a refresh: a changed age counts from the next.
		return Seen{}, false
	}
	return rec.candidate(in.Policy)
}
