package lsremote

// The chunks of a refList grow, for most answers hold one ref and some hold a
// hundred thousand.
const (
	minChunk = 4
	maxChunk = 4096
)

// refList collects refs without moving those that it has: to move a hundred
// thousand again and again, as append does, would cost more than to read them.
// Until all are there and their number is known, it holds them as records.
type refList struct {
	text  arena
	full  [][]record
	chunk []record
	n     int
}

// record is the texts of a ref one after the other: name, id, target and peeled
// id. It takes a third of the memory of a Ref.
type record struct {
	text             string
	name, id, target uint16 // how long they are; no packet holds more
}

// add copies what it is given. Ids become lower case.
func (l *refList) add(name, id, peeled, target []byte) {
	if len(l.chunk) == cap(l.chunk) {
		if len(l.chunk) > 0 {
			l.full = append(l.full, l.chunk)
		}
		l.chunk = make([]record, 0, min(max(2*cap(l.chunk), minChunk), maxChunk))
	}
	start := l.text.begin(len(name) + len(id) + len(target) + len(peeled))
	l.text.write(name)
	l.text.writeID(id)
	l.text.write(target)
	l.text.writeID(peeled)
	l.chunk = append(l.chunk, record{l.text.from(start), uint16(len(name)), uint16(len(id)), uint16(len(target))})
	l.n++
}

// last returns the record that was added last. There must be one.
func (l *refList) last() *record { return &l.chunk[len(l.chunk)-1] }

// peel adds the peeled id to the last ref, which must have none.
func (l *refList) peel(id []byte) { l.last().text = l.text.extend(l.last().text, id) }

// all returns all refs in the order in which they were added, nil for none.
func (l *refList) all() []Ref {
	if l.n == 0 {
		return nil
	}
	refs := make([]Ref, 0, l.n)
	for _, chunk := range append(l.full, l.chunk) {
		for _, r := range chunk {
			refs = append(refs, r.ref())
		}
	}
	return refs
}

func (r record) ref() Ref {
	id := int(r.name) + int(r.id)
	target := id + int(r.target)
	return Ref{Name: r.text[:r.name], ID: r.text[r.name:id], Target: r.text[id:target], Peeled: r.text[target:]}
}
