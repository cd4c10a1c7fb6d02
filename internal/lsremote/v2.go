package lsremote

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
)

// Protocol version 2 (gitprotocol-v2): the server lists capabilities, the
// client sends the command ls-refs with ref prefixes, the server answers with
// those refs.

// capabilities is what a version 2 server announced, as far as ls-refs has a
// use for it. The zero value asks for nothing that would have to be announced.
type capabilities struct {
	format string // value of object-format; "" if it was not announced
	agent  bool   // the server wants to know who asks
	unborn bool   // ls-refs can tell where an unborn HEAD points
}

// objectFormat returns the format of the repository's ids. Without the
// capability it is sha1 (gitprotocol-v2, "object-format").
func (c capabilities) objectFormat() string { return cmp.Or(c.format, "sha1") }

// readCapabilities reads the capability advertisement after its first line,
// "version 2", up to its flush packet. Unknown capabilities are ignored, as the
// protocol demands.
func readCapabilities(p *pktReader) (capabilities, error) {
	var caps capabilities
	lsRefs := false
	for {
		line, ok, err := p.line()
		if err != nil {
			return capabilities{}, err
		}
		if !ok {
			break
		}
		key, value, _ := strings.Cut(string(line), "=")
		switch key {
		case "agent":
			caps.agent = true
		case "object-format":
			caps.format = value
		case "ls-refs":
			lsRefs = true
			for feature := range strings.FieldsSeq(value) {
				caps.unborn = caps.unborn || feature == "unborn"
			}
		}
	}
	if !lsRefs {
		return capabilities{}, protocolError(nil, "the server speaks protocol version 2 but has no ls-refs")
	}
	return caps, nil
}

// maxPrefixes is how many ref prefixes are sent. A server holds each ref against
// each of them, and git's own gives up on prefixes beyond 65,536: to ask for
// everything and pick here is quicker then.
const maxPrefixes = 1024

// lsRefsRequest returns the command that asks for the refs of a normalised
// query. Nothing is in it that caps did not announce: servers refuse what they
// do not know. agent is sent if the server wants one.
func lsRefsRequest(q Query, caps capabilities, agent string) []byte {
	b := appendPkt(nil, "command=ls-refs")
	if caps.agent {
		b = appendPkt(b, "agent="+agent)
	}
	if caps.format != "" {
		b = appendPkt(b, "object-format="+caps.format)
	}
	b = append(b, delimPkt...)
	b = appendPkt(b, "peel")
	b = appendPkt(b, "symrefs")
	if caps.unborn {
		b = appendPkt(b, "unborn")
	}
	for _, prefix := range sentPrefixes(q) {
		b = appendPkt(b, refPrefix+prefix)
	}
	return append(b, flushPkt...)
}

const refPrefix = "ref-prefix "

// sentPrefixes returns the prefixes by which the server is to choose refs, none
// if it is to send all.
func sentPrefixes(q Query) []string {
	all := slices.Concat(q.Prefixes, q.Refs)
	tooLong := func(prefix string) bool { return len(refPrefix)+len(prefix) >= maxPkt-pktHeader }
	if len(all) > maxPrefixes || slices.Contains(all, "") || slices.ContainsFunc(all, tooLong) {
		return nil
	}
	return all
}

// readLsRefs reads the answer to ls-refs, up to its flush packet.
func readLsRefs(p *pktReader, c *collector, caps capabilities) (*Advertisement, error) {
	a := &Advertisement{Protocol: 2}
	if caps.format != "" {
		if err := c.setFormat(caps.format); err != nil {
			return nil, err
		}
	}
	for {
		line, ok, err := p.line()
		if err != nil {
			return nil, err
		}
		if !ok {
			break
		}
		// A NUL begins the capabilities of a version 0 answer. Taking its lines
		// for those of version 2 would lose the peeled ids.
		if bytes.IndexByte(line, 0) >= 0 {
			return nil, protocolError(nil, "the answer to ls-refs has a NUL in it: it is not of protocol version 2")
		}
		if rest, found := bytes.CutPrefix(line, []byte("unborn ")); found {
			c.unbornV2(rest, a)
			continue
		}
		if err := c.refV2(line); err != nil {
			return nil, err
		}
	}
	if err := c.finish(a); err != nil {
		return nil, err
	}
	a.Empty = c.all && c.seen == 0
	return a, nil
}

// refV2 takes "id SP name *(SP attribute)". Unknown attributes are ignored.
func (c *collector) refV2(line []byte) error {
	id, rest, err := c.split(line)
	if err != nil {
		return err
	}
	name, attributes, _ := bytes.Cut(rest, []byte(" "))
	if len(name) == 0 || bytes.HasSuffix(name, []byte(peeledSuffix)) {
		return protocolError(line, "a line is no ref of protocol version 2")
	}
	c.seen++
	if !c.wants(name) {
		return nil
	}
	var peeled, target []byte
	for len(attributes) > 0 {
		var attribute []byte
		attribute, attributes, _ = bytes.Cut(attributes, []byte(" "))
		if value, found := bytes.CutPrefix(attribute, []byte("symref-target:")); found {
			target = value
		} else if value, found := bytes.CutPrefix(attribute, []byte("peeled:")); found {
			if len(value) != len(id) || !isHex(value) {
				return protocolError(line, "a tag leads to something that is no object id")
			}
			if peeled != nil {
				return protocolError(line, "a tag leads to two objects")
			}
			peeled = value
		}
	}
	_, err = c.keep(name, id, peeled, target)
	return err
}

// unbornV2 takes what follows "unborn ": the name of a symbolic ref without a
// commit, and where it points. Only HEAD has one.
func (c *collector) unbornV2(rest []byte, a *Advertisement) {
	name, attributes, _ := bytes.Cut(rest, []byte(" "))
	if string(name) != "HEAD" || !c.wants(name) {
		return
	}
	for attribute := range bytes.SplitSeq(attributes, []byte(" ")) {
		if target, found := bytes.CutPrefix(attribute, []byte("symref-target:")); found {
			if validTarget(target) {
				a.UnbornHead = string(target)
			}
		}
	}
}
