package lsremote

import (
	"bytes"
	"cmp"
	"slices"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
)

// peeledSuffix marks, in protocol 0 and 1, the line with what an annotated tag
// leads to. '^' cannot stand in a ref name, so no ref is called so.
const peeledSuffix = "^{}"

// refOverhead is what a kept Ref costs beside its texts, in bytes: four string
// headers on a 64-bit machine.
const refOverhead = 64

// collector keeps the wanted refs of one answer and lets the others pass at no
// cost. The parsers of the protocol versions feed it.
type collector struct {
	matcher
	format string // "sha1", "sha256", or "" until the first id tells
	limit  int64  // how large kept may become
	kept   int64  // bytes that the refs take

	refs    refList
	seen    int // refs that went by, wanted or not
	skipped int // wanted refs whose names are no UTF-8
}

// newCollector returns a collector for a normalised query that keeps at most
// limit bytes.
func newCollector(q Query, limit int64) *collector {
	return &collector{matcher: newMatcher(q), limit: limit}
}

// split checks that a line begins with an object id and a space, and returns
// both sides of it. Nothing is copied.
func (c *collector) split(line []byte) (id, rest []byte, err error) {
	if c.format == "" {
		// No capability told. The first id does, and the others must agree.
		for _, format := range []string{"sha1", "sha256"} {
			if bytes.IndexByte(line, ' ') == gitref.IDLen(format) {
				c.format = format
			}
		}
	}
	n := gitref.IDLen(c.format)
	if n == 0 || len(line) < n+2 || line[n] != ' ' || !isHex(line[:n]) {
		return nil, nil, protocolError(line, "a line is no ref of a %s repository", cmp.Or(c.format, "git"))
	}
	return line[:n], line[n+1:], nil
}

// setFormat sets the object format that the server announced.
func (c *collector) setFormat(format string) error {
	if gitref.IDLen(format) == 0 {
		return protocolError([]byte(format), "the repository has an unknown object format")
	}
	c.format = format
	return nil
}

// isHex tells whether b is all hex digits, in either case: a server must send
// ids in lower case, a client must accept both (gitprotocol-pack).
func isHex(b []byte) bool {
	var bad int8
	for _, c := range b {
		bad |= hexValue[c] // -1 has the sign bit, no digit has it
	}
	return bad >= 0
}

// keep records a wanted ref. peeled and target may be empty. The arguments are
// copied. kept is false for a ref that cannot be represented.
func (c *collector) keep(name, id, peeled, target []byte) (kept bool, err error) {
	if !utf8.Valid(name) || !fullName(name) {
		c.skipped++
		return false, nil
	}
	if !validTarget(target) {
		target = nil // as git does
	}
	cost := int64(refOverhead + len(name) + len(id) + len(peeled) + len(target))
	if c.kept += cost; c.kept > c.limit {
		return false, tooLarge(c.limit)
	}
	if !plainName(name) && gitref.CheckFull(string(name)) != nil {
		return false, protocolError(name, "the server advertises a ref with an impossible name")
	}
	if isZero(id) || len(peeled) > 0 && isZero(peeled) {
		return false, protocolError(name, "the server advertises a ref with an id of zeros")
	}
	c.refs.add(name, id, peeled, target)
	return true, nil
}

// plainName tells whether a name is so plain that it is certainly legal. Most
// are, and gitref.CheckFull, which knows all rules and has words for each,
// would take longer than everything else that is done for a ref.
func plainName(name []byte) bool {
	rest, found := bytes.CutPrefix(name, []byte("refs/"))
	if !found {
		return false
	}
	before := byte('/')
	for _, c := range rest {
		switch {
		case 'a' <= c && c <= 'z', 'A' <= c && c <= 'Z', '0' <= c && c <= '9', c == '-', c == '_':
			if c == 'l' && before == '.' {
				return false // may be ".lock"
			}
		case c != '/' && c != '.', before == '/' || before == '.':
			return false
		}
		before = c
	}
	return before != '/' && before != '.'
}

// validTarget tells whether target is empty or the name of a ref.
func validTarget(target []byte) bool {
	return len(target) == 0 || utf8.Valid(target) && gitref.CheckFull(string(target)) == nil
}

// fullName tells whether a name is of a kind that can be asked for.
func fullName(name []byte) bool {
	return string(name) == "HEAD" || bytes.HasPrefix(name, []byte("refs/"))
}

func isZero(id []byte) bool {
	for _, c := range id {
		if c != '0' {
			return false
		}
	}
	return true
}

// finish returns the refs sorted by name. Two refs of one name are an error,
// for there is no telling which one is true.
func (c *collector) finish(a *Advertisement) error {
	refs := c.refs.all()
	byName := func(x, y Ref) int { return cmp.Compare(x.Name, y.Name) }
	if !slices.IsSortedFunc(refs, byName) {
		slices.SortFunc(refs, byName)
	}
	for i := 1; i < len(refs); i++ {
		if refs[i].Name == refs[i-1].Name {
			return protocolError([]byte(refs[i].Name), "the server advertises one name twice")
		}
	}
	a.Refs, a.Skipped = refs, c.skipped
	a.ObjectFormat = cmp.Or(c.format, "sha1")
	return nil
}
