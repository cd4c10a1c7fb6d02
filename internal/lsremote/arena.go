package lsremote

import "strings"

// The blocks of an arena grow, so that one ref costs little and a hundred
// thousand refs cost few allocations.
const (
	minBlock = 256
	maxBlock = 64 << 10
)

// arena keeps many short texts in few allocations. A text stays valid for
// ever; it keeps the block that it is in alive.
type arena struct {
	block strings.Builder
	size  int
}

// keep returns a copy of b.
func (a *arena) keep(b []byte) string {
	a.makeRoom(len(b))
	start := a.block.Len()
	a.block.Write(b)
	return a.block.String()[start:]
}

// keepID returns a copy of a hex object id, in lower case.
func (a *arena) keepID(id []byte) string {
	a.makeRoom(len(id))
	start := a.block.Len()
	for _, c := range id {
		if 'A' <= c && c <= 'F' {
			c += 'a' - 'A'
		}
		a.block.WriteByte(c)
	}
	return a.block.String()[start:]
}

// makeRoom sees to it that the block need not grow for n bytes more, which
// would move what is in it.
func (a *arena) makeRoom(n int) {
	if a.block.Cap()-a.block.Len() >= n {
		return
	}
	a.size = min(max(2*a.size, minBlock), maxBlock)
	a.block = strings.Builder{}
	a.block.Grow(max(a.size, n))
}
