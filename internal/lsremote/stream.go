package lsremote

import (
	"io"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// converse reads an advertisement over a two-way stream to git-upload-pack,
// which was told that version 2 is wanted and answers in the version that it
// has (gitprotocol-v2, "Initial Client Request"). Git, ssh and file share it.
// The streams' errors are returned as they are.
func (r *reading) converse(from io.Reader, to io.Writer) (*Advertisement, error) {
	r.phase.set(fault.PhaseAnswer)
	p := newPktReader(counted{r: from, n: &r.log.BytesIn}, r.config.MaxBytes)
	out := counted{w: to, n: &r.log.BytesOut}
	c := r.newCollector()

	line, ok, err := p.line()
	if err != nil {
		return nil, err
	}
	r.phase.set(fault.PhaseRefs)
	if string(line) != "version 2" {
		a, stopped, err := readVersion0(p, c, line, ok)
		if err == nil && !stopped {
			// "I want nothing": without it the server complains in its log. It
			// may be gone already, and the refs are here.
			_, _ = io.WriteString(out, flushPkt)
		}
		return a, err
	}
	caps, err := readCapabilities(p)
	if err != nil {
		return nil, err
	}
	request, err := lsRefsRequest(r.query, caps, r.agent)
	if err != nil {
		return nil, err
	}
	// The final flush packet says that no other command follows.
	if _, err := out.Write(append(request, flushPkt...)); err != nil {
		return nil, err
	}
	return readLsRefs(p, c, caps)
}

// readVersion0 reads an advertisement of version 0 or 1, from its first line on.
func readVersion0(p *pktReader, c *collector, line []byte, ok bool) (a *Advertisement, stopped bool, err error) {
	version := 0
	if string(line) == "version 1" {
		version = 1
		if line, ok, err = p.line(); err != nil {
			return nil, false, err
		}
	}
	return readV0(p, c, line, ok, version)
}
