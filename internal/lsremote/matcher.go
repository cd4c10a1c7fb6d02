package lsremote

// matcher decides for each advertised name, without allocating, whether it is
// wanted.
type matcher struct {
	exact    []string // sorted
	prefixes []string // sorted, none begins with another
	all      bool
}

// newMatcher takes a normalised query.
func newMatcher(q Query) matcher {
	return matcher{exact: q.Refs, prefixes: q.Prefixes, all: len(q.Prefixes) == 1 && q.Prefixes[0] == ""}
}

// wants tells whether the ref with the full name is asked for.
func (m *matcher) wants(name []byte) bool {
	if m.all {
		return true
	}
	if i := lastUpTo(m.exact, name); i >= 0 && m.exact[i] == string(name) {
		return true
	}
	// The only prefix that can fit is the greatest one that is not greater
	// than the name: whatever stands between a prefix and a name that begins
	// with it begins with that prefix as well, and no such prefix is left.
	i := lastUpTo(m.prefixes, name)
	if i < 0 {
		return false
	}
	p := m.prefixes[i]
	return len(name) >= len(p) && string(name[:len(p)]) == p
}

// lastUpTo returns the index of the greatest text that is not greater than
// name in a sorted list, -1 if all are.
func lastUpTo(sorted []string, name []byte) int {
	lo, hi := 0, len(sorted)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		// The compiler makes no copy for the comparison of a converted slice.
		if sorted[mid] <= string(name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo - 1
}

// onlyExact tells whether all wanted refs are known by name, so that one can
// know that all were seen.
func (m *matcher) onlyExact() bool { return len(m.prefixes) == 0 }
