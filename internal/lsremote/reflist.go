package lsremote

import "slices"

// The chunks of a refList grow, for most answers hold one ref and some hold a
// hundred thousand.
const (
	minChunk = 4
	maxChunk = 4096
)

// refList collects refs without moving those that it has: to move a hundred
// thousand again and again, as append does, would cost more than to read them.
type refList struct {
	full  [][]Ref
	chunk []Ref
	n     int
}

func (l *refList) add(r Ref) {
	if len(l.chunk) == cap(l.chunk) {
		if len(l.chunk) > 0 {
			l.full = append(l.full, l.chunk)
		}
		l.chunk = make([]Ref, 0, min(max(2*cap(l.chunk), minChunk), maxChunk))
	}
	l.chunk = append(l.chunk, r)
	l.n++
}

// last returns the ref that was added last. There must be one.
func (l *refList) last() *Ref { return &l.chunk[len(l.chunk)-1] }

// all returns all refs in the order in which they were added, nil for none.
func (l *refList) all() []Ref {
	if len(l.full) == 0 {
		return l.chunk
	}
	return slices.Concat(append(l.full, l.chunk)...)
}
