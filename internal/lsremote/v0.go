package lsremote

import (
	"bytes"
	"strings"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
)

// Protocol versions 0 and 1 (gitprotocol-pack, "Reference Discovery"): the
// server lists all refs at once. The stream is read line by line; nothing is
// kept or allocated for a ref that is not wanted, and reading stops as soon as
// all that is wanted has gone by.

// noRefs is the name in the only line of a repository without refs, which is
// there to carry the capabilities.
const noRefs = "capabilities^{}"

// v0 is the state of one such reading.
type v0 struct {
	*collector
	targets map[string]string // of the wanted symbolic refs
	kept    bool              // the line before was a ref that was kept
	name    []byte            // of the ref that was kept last
	past    bool              // the refs are over, only "shallow" lines may follow
}

// readV0 reads an advertisement of version 0 or 1, whose first line (after
// "version 1") is given. ok is false if that was a flush packet. stopped is
// true if the stream was left before its flush packet.
func readV0(p *pktReader, c *collector, first []byte, ok bool, version int) (a *Advertisement, stopped bool, err error) {
	s := v0{collector: c}
	a = &Advertisement{Protocol: version}
	line := first
	if ok {
		if line, err = s.capabilities(first); err != nil {
			return nil, false, err
		}
	}
	for ok {
		if err = s.line(line); err != nil {
			return nil, false, err
		}
		if !s.kept && s.onlyExact() && s.refs.n == len(s.exact) {
			stopped = true
			break
		}
		if line, ok, err = p.line(); err != nil {
			return nil, false, err
		}
		if bytes.IndexByte(line, 0) >= 0 {
			return nil, false, protocolError(line, "a line that is not the first has a NUL in it")
		}
	}
	if err := c.finish(a); err != nil {
		return nil, false, err
	}
	a.Empty = s.seen == 0
	return a, stopped, nil
}

// capabilities takes the first line and returns it without what follows the
// NUL.
func (s *v0) capabilities(first []byte) ([]byte, error) {
	line, list, found := bytes.Cut(first, []byte{0})
	format := "sha1" // what a server without the capability has
	if found {
		for capability := range strings.FieldsSeq(string(list)) {
			key, value, _ := strings.Cut(capability, "=")
			switch key {
			case "object-format":
				format = value
			case "symref":
				if name, target, ok := strings.Cut(value, ":"); ok && s.wants([]byte(name)) {
					if s.targets == nil {
						s.targets = map[string]string{}
					}
					s.targets[name] = target
				}
			}
		}
	}
	return line, s.setFormat(format)
}

// line takes one line: a ref, what the ref before leads to, or a line that is
// no ref.
func (s *v0) line(line []byte) error {
	before := s.kept
	s.kept = false
	if shallow, found := bytes.CutPrefix(line, []byte("shallow ")); found {
		s.past = true
		if len(shallow) != gitref.IDLen(s.format) || !isHex(shallow) {
			return protocolError(line, "a line is not understood")
		}
		return nil
	}
	id, name, err := s.split(line)
	switch {
	case err != nil:
		return err
	case s.past:
		return protocolError(line, "a ref follows the end of the refs")
	case string(name) == noRefs:
		if s.seen > 0 || !isZero(id) {
			return protocolError(line, "a repository with refs says that it has none")
		}
		s.past = true
		return nil
	case string(name) == ".have":
		// An object that the server has from elsewhere: no ref.
		return nil
	}
	if base, found := bytes.CutSuffix(name, []byte(peeledSuffix)); found {
		return s.peel(before, base, id)
	}
	s.seen++
	if !s.wants(name) {
		return nil
	}
	var target []byte
	if t, found := s.targets[string(name)]; found {
		target = []byte(t)
	}
	s.kept, err = s.keep(name, id, nil, target)
	s.name = append(s.name[:0], name...)
	return err
}

// peel takes the line after an annotated tag. before tells whether the line
// before was a ref that was kept.
func (s *v0) peel(before bool, base, id []byte) error {
	switch {
	case before && bytes.Equal(s.name, base):
		if isZero(id) {
			return protocolError(base, "a tag leads to an id of zeros")
		}
		s.refs.peel(id)
		return nil
	case s.wants(base) && fullName(base) && utf8.Valid(base):
		return protocolError(base, "what a tag leads to does not stand in the line after it")
	}
	return nil
}
