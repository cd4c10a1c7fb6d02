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

// begin makes room for a text of n bytes, which the next calls of write and
// writeID are to add, and returns where it begins.
func (a *arena) begin(n int) (start int) {
	if a.room() < n {
		a.size = min(max(2*a.size, minBlock), maxBlock)
		a.block = strings.Builder{}
		a.block.Grow(max(a.size, n))
	}
	return a.block.Len()
}

// room is how many bytes can be added without moving what is there.
func (a *arena) room() int { return a.block.Cap() - a.block.Len() }

func (a *arena) write(b []byte) { a.block.Write(b) }

// writeID adds a hex object id, in lower case.
func (a *arena) writeID(id []byte) {
	for _, c := range id {
		if 'A' <= c && c <= 'F' {
			c += 'a' - 'A'
		}
		a.block.WriteByte(c)
	}
}

// from returns the text that begins at start.
func (a *arena) from(start int) string { return a.block.String()[start:] }

// extend returns last, which must be the last text of the arena, with an id
// behind it.
func (a *arena) extend(last string, id []byte) string {
	if a.room() < len(id) {
		a.begin(len(last) + len(id))
		a.block.WriteString(last)
	}
	start := a.block.Len() - len(last)
	a.writeID(id)
	return a.from(start)
}
