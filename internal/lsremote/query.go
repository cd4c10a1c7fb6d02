package lsremote

import (
	"slices"
	"strconv"
	"strings"
)

// Query says which refs of a remote are wanted. A ref is wanted when Refs
// names it or when it begins with one of Prefixes. The zero Query wants
// nothing.
type Query struct {
	// Refs are exact full names: "refs/heads/main", "HEAD". No suffix, no
	// glob, no decoding; case counts.
	Refs []string
	// Prefixes are prefixes of full names, compared byte by byte:
	// "refs/tags/". "" wants everything, HEAD included; "refs/" does not
	// want HEAD.
	Prefixes []string
}

// Everything wants every ref that a remote advertises.
func Everything() Query { return Query{Prefixes: []string{""}} }

// Normalize returns the one spelling of q: sorted, without duplicates, without
// a prefix that a shorter one covers and without a ref that a prefix covers.
// Queries that want the same refs by way of the same prefixes become equal. q
// is left as it is.
func (q Query) Normalize() Query {
	var n Query
	for _, p := range sorted(q.Prefixes) {
		// Sorted, a prefix comes before all that begin with it, and nothing
		// else can stand between them.
		if last := len(n.Prefixes) - 1; last < 0 || !strings.HasPrefix(p, n.Prefixes[last]) {
			n.Prefixes = append(n.Prefixes, p)
		}
	}
	for _, r := range sorted(q.Refs) {
		if !n.wantsByPrefix(r) {
			n.Refs = append(n.Refs, r)
		}
	}
	return n
}

// sorted returns a sorted copy of names without duplicates.
func sorted(names []string) []string {
	c := slices.Clone(names)
	slices.Sort(c)
	return slices.Compact(c)
}

// Wants tells whether the ref with the full name is asked for.
func (q Query) Wants(full string) bool {
	return slices.Contains(q.Refs, full) || q.wantsByPrefix(full)
}

func (q Query) wantsByPrefix(full string) bool {
	return slices.ContainsFunc(q.Prefixes, func(p string) bool { return strings.HasPrefix(full, p) })
}

// Covers tells whether an answer to q holds the answer to o: whether every ref
// that o wants is wanted by q too. An Advertisement read for q then answers o.
func (q Query) Covers(o Query) bool {
	for _, p := range o.Prefixes {
		if !q.wantsByPrefix(p) {
			return false
		}
	}
	for _, r := range o.Refs {
		if !q.Wants(r) {
			return false
		}
	}
	return true
}

// Empty tells whether q wants nothing.
func (q Query) Empty() bool { return len(q.Refs) == 0 && len(q.Prefixes) == 0 }

// Key returns a text that is equal for two queries exactly when their
// normalised forms are.
func (q Query) Key() string {
	n := q.Normalize()
	var b strings.Builder
	for _, r := range n.Refs {
		b.WriteString(" =")
		b.WriteString(strconv.Quote(r))
	}
	for _, p := range n.Prefixes {
		b.WriteString(" ^")
		b.WriteString(strconv.Quote(p))
	}
	return b.String()
}

// maxNamed is how many names String spells out.
const maxNamed = 3

// String says what is asked for, for messages: "refs/heads/main", "all refs",
// "refs/tags/*, HEAD and 4 more".
func (q Query) String() string {
	n := q.Normalize()
	if n.Empty() {
		return "no refs"
	}
	if n.Covers(Everything()) {
		return "all refs"
	}
	names := slices.Clone(n.Refs)
	for _, p := range n.Prefixes {
		names = append(names, p+"*")
	}
	if more := len(names) - maxNamed; more > 0 {
		return strings.Join(names[:maxNamed], ", ") + " and " + strconv.Itoa(more) + " more"
	}
	return strings.Join(names, ", ")
}
