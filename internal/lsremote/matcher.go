package lsremote

// matcher decides for each advertised name, without allocating, whether it is
// wanted.
type matcher struct {
	exact    map[string]struct{}
	prefixes []string // sorted, none begins with another
	all      bool
}

// newMatcher takes a normalised query.
func newMatcher(q Query) matcher {
	m := matcher{prefixes: q.Prefixes, exact: make(map[string]struct{}, len(q.Refs))}
	for _, r := range q.Refs {
		m.exact[r] = struct{}{}
	}
	m.all = len(q.Prefixes) == 1 && q.Prefixes[0] == ""
	return m
}

// wants tells whether the ref with the full name is asked for.
func (m *matcher) wants(name []byte) bool {
	if m.all {
		return true
	}
	// The compiler makes no copy for a map lookup, a comparison or a slice of
	// a converted byte slice.
	if _, ok := m.exact[string(name)]; ok {
		return true
	}
	// The only prefix that can fit is the greatest one that is not greater
	// than the name: whatever stands between a prefix and a name that begins
	// with it begins with that prefix as well, and no such prefix is left.
	lo, hi := 0, len(m.prefixes)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if m.prefixes[mid] <= string(name) {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 {
		return false
	}
	p := m.prefixes[lo-1]
	return len(name) >= len(p) && string(name[:len(p)]) == p
}

// onlyExact tells whether all wanted refs are known by name, so that one can
// know that all were seen.
func (m *matcher) onlyExact() bool { return len(m.prefixes) == 0 }
