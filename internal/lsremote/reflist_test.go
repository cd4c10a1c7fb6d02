package lsremote

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// Refs come out as they went in, wherever the ends of the blocks that they
// are kept in happen to be; a peeled id may follow later.
func TestRefListKeepsTexts(t *testing.T) {
	var l refList
	var want []Ref
	for i := range 10_000 {
		r := Ref{Name: "refs/tags/" + strings.Repeat("x", i*7%301) + fmt.Sprint(i), ID: idA}
		switch i % 5 {
		case 1:
			r.Peeled = idB
		case 2, 3:
			r.Peeled, r.Target = long, "refs/heads/"+strings.Repeat("y", i%17)
		case 4:
			r.ID, r.Target = long, "refs/heads/main"
		}
		want = append(want, r)
		later := i%5 == 3
		peeled := strings.ToUpper(r.Peeled)
		if later {
			peeled = ""
		}
		l.add([]byte(r.Name), []byte(strings.ToUpper(r.ID)), []byte(peeled), []byte(r.Target))
		if later {
			l.peel([]byte(r.Peeled))
		}
	}
	if got := l.all(); l.n != len(want) || !slices.Equal(got, want) || cap(got) != len(want) {
		t.Error("the list differs")
	}
	if got := new(refList).all(); got != nil {
		t.Errorf("nothing is %v", got)
	}
}

// The longest texts of a packet.
func TestRefListLongTexts(t *testing.T) {
	want := Ref{Name: "refs/heads/" + strings.Repeat("x", 30_000), ID: long, Target: "refs/heads/" + strings.Repeat("y", maxPkt/2), Peeled: long}
	var l refList
	l.add([]byte(want.Name), []byte(want.ID), []byte(want.Peeled), []byte(want.Target))
	if got := l.all(); len(got) != 1 || got[0] != want {
		t.Error("the ref differs")
	}
}

// A hundred thousand refs take what their texts and the slice of them take,
// and no second copy of either.
func TestRefListMemory(t *testing.T) {
	const n, size = 100_000, 64
	id, name := []byte(idA), []byte("refs/tags/v1.2.3")
	texts := len(id) + len(name) + len("  \n ")
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	var l refList
	for range n {
		l.add(name, id, nil, nil)
	}
	refs := l.all()
	runtime.ReadMemStats(&after)
	got, limit := after.TotalAlloc-before.TotalAlloc, uint64(n*(size+texts))*11/10
	if len(refs) != n || got > limit {
		t.Errorf("%d refs took %d bytes, more than %d", len(refs), got, limit)
	}
}
