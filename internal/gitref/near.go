package gitref

import (
	"cmp"
	"slices"
	"strings"

	"golang.org/x/text/unicode/norm"
)

const (
	// maxEdits bounds the edit distance at which a name counts as near; a
	// short name allows a third of its length.
	maxEdits = 3
	// maxEditBytes bounds the names that are compared by edit distance. It
	// keeps a hostile advertisement of endless names cheap.
	maxEditBytes = 200
)

// The ranks of nearness, best first. Another kind of ref comes right behind
// the same kind. An edit distance is added to rankEdit.
const (
	rankOtherKind = iota // tag for branch, or the like
	rankFold             // differs in case or in Unicode normalisation
	rankFoldOther
	rankVersion // differs in a leading "v"
	rankVersionOther
	rankSuffix // "login" for "feature/login"
	rankEdit
	farAway = rankEdit + maxEdits + 1
)

// Near returns up to n of have, full ref names, that a person may have meant
// by the full name want, best first: the same short name as another kind of
// ref, a difference in case or Unicode normalisation only, in a leading "v"
// only, in what stands before the last slash, then a few edits. The order does
// not depend on the order of have.
func Near(want string, have []string, n int) []string {
	type candidate struct {
		name string
		rank int
	}
	w := newSpelling(want)
	var found []candidate
	for _, name := range have {
		if name == want {
			continue
		}
		if rank := w.rank(name); rank < farAway {
			found = append(found, candidate{name, rank})
		}
	}
	slices.SortFunc(found, func(a, b candidate) int {
		return cmp.Or(cmp.Compare(a.rank, b.rank), cmp.Compare(a.name, b.name))
	})
	found = slices.Compact(found)
	var names []string
	for _, c := range found[:min(n, len(found))] {
		names = append(names, c.name)
	}
	return names
}

// spelling is a name in the forms in which it is compared.
type spelling struct {
	kind, short string
	folded      string // NFC, lower-case
	bare        string // folded, without a leading "v"
}

func newSpelling(full string) spelling {
	s := spelling{}
	s.kind, s.short = Natural(full)
	s.folded = strings.ToLower(norm.NFC.String(s.short))
	s.bare = strings.TrimPrefix(s.folded, "v")
	return s
}

// rank says how near the full name is to s, farAway if it is not.
func (s spelling) rank(full string) int {
	o := newSpelling(full)
	other := 0
	if o.kind != s.kind {
		other = 1
	}
	switch {
	case o.short == s.short:
		return rankOtherKind
	case o.folded == s.folded:
		return rankFold + other
	case o.bare == s.bare:
		return rankVersion + other
	case full == "HEAD" && !strings.HasSuffix(s.short, "/HEAD"):
		return farAway // every pull request ends in "/head"
	case strings.HasSuffix(o.folded, "/"+s.folded), strings.HasSuffix(s.folded, "/"+o.folded):
		return rankSuffix
	case other == 1:
		return farAway
	}
	return rankEdit + s.edits(o)
}

// edits returns the edit distance of the folded names, maxEdits+1 if it is
// greater than what is near.
func (s spelling) edits(o spelling) int {
	a, b := s.folded, o.folded
	if len(a) > maxEditBytes || len(b) > maxEditBytes {
		return maxEdits + 1
	}
	x, y := []rune(a), []rune(b)
	limit := min(maxEdits, len(x)/3)
	if longer := len(y) - len(x); longer > limit || -longer > limit {
		return maxEdits + 1
	}
	if d := distance(x, y, limit); d <= limit {
		return d
	}
	return maxEdits + 1
}

// distance is the optimal string alignment distance (insertions, deletions,
// replacements, and swaps of two neighbours), or anything above limit if it is
// above limit.
func distance(a, b []rune, limit int) int {
	// What both begin or end with costs nothing, and names of one remote have
	// much in common.
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	before, row, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range a {
		next[0] = i + 1
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			next[j+1] = min(row[j+1]+1, next[j]+1, row[j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, row, next = row, next, before
		if slices.Min(row) > limit {
			break // the rows to come have no less
		}
	}
	return row[len(b)]
}
