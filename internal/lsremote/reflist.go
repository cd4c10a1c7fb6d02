package lsremote

import (
	"bytes"
	"slices"
	"strings"
)

// The blocks of a refList grow, so that one ref costs little and a hundred
// thousand refs cost few allocations.
const (
	minBlock = 256
	maxBlock = 64 << 10
)

// refList collects refs as lines of text, "id SP name SP target SP peeled", and
// makes Refs of them only when it is known how many they are. To grow a slice of
// Refs, or to join pieces of it, would take that slice's memory twice.
type refList struct {
	full  []string // blocks of lines
	block strings.Builder
	size  int // of block
	n     int
}

// add takes a ref. target and peeled may be empty. All texts are copied; none
// may have a space or a line feed in it.
func (l *refList) add(name, id, peeled, target []byte) {
	// Once more the id: there must be room for what peel may bring.
	l.makeRoom(len("\n   ") + 2*len(id) + len(name) + len(target))
	if l.block.Len() > 0 {
		l.block.WriteByte('\n')
	}
	l.writeID(id)
	l.block.WriteByte(' ')
	l.block.Write(name)
	l.block.WriteByte(' ')
	l.block.Write(target)
	l.block.WriteByte(' ')
	l.writeID(peeled)
	l.n++
}

// peel adds to the ref that was added last, without it, what it leads to.
func (l *refList) peel(id []byte) { l.writeID(id) }

// writeID writes a hex object id, in lower case.
func (l *refList) writeID(id []byte) {
	if slices.ContainsFunc(id, isUpper) {
		id = bytes.ToLower(id) // allocates, and is hardly ever needed
	}
	l.block.Write(id)
}

func isUpper(c byte) bool { return 'A' <= c && c <= 'Z' }

// makeRoom sees to it that the block need not grow for n bytes more, which
// would move what is in it.
func (l *refList) makeRoom(n int) {
	if l.block.Cap()-l.block.Len() >= n {
		return
	}
	if l.block.Len() > 0 {
		l.full = append(l.full, l.block.String())
	}
	l.size = min(max(2*l.size, minBlock), maxBlock)
	l.block = strings.Builder{}
	l.block.Grow(max(l.size, n))
}

// all returns all refs in the order in which they were added, nil for none. Their
// texts are parts of the blocks.
func (l *refList) all() []Ref {
	if l.n == 0 {
		return nil
	}
	refs := make([]Ref, 0, l.n)
	for _, block := range append(l.full, l.block.String()) {
		for block != "" {
			var r Ref
			r.ID, block, _ = strings.Cut(block, " ")
			r.Name, block, _ = strings.Cut(block, " ")
			r.Target, block, _ = strings.Cut(block, " ")
			r.Peeled, block, _ = strings.Cut(block, "\n")
			refs = append(refs, r)
		}
	}
	return refs
}
