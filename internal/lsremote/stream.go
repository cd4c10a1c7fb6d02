package lsremote

import (
	"context"
	"errors"
	"io"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// maxAhead bounds a request that is sent ahead, in bytes: it must fit into
// what a server takes without being read from.
const maxAhead = 16 << 10

// ahead reads over a stream that costs round trips. once opens it and converses
// over it in the given way.
//
// As with the direct ls-refs request of http, the request is sent before the
// server has said anything, which saves a round trip. A server that speaks
// version 0 or another object format chokes on it; some lose a part of their
// answer over that. Then it is asked again in the protocol's own order.
func (r *reading) ahead(ctx context.Context, once func(context.Context, way) (*Advertisement, error)) (*Advertisement, error) {
	first := r.learnt.of(r)
	a, err := once(ctx, first)
	if err == nil || first.order != postFirst || r.phase.get() != fault.PhaseRefs || ctx.Err() != nil || !mayHaveChoked(err) {
		return a, err
	}
	next := r.learnt.of(r)
	if next.order == postFirst && next.caps.objectFormat() == first.caps.objectFormat() {
		next = r.learnt.choked(r) // and not because of what it has announced
	}
	return once(ctx, next)
}

// mayHaveChoked tells whether an answer that had begun may have failed because
// of what was sent ahead.
func mayHaveChoked(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	return !ok || e.Kind == fault.Protocol || e.Kind == fault.Unavailable
}

// converse reads an advertisement over a two-way stream to git-upload-pack,
// which was told that version 2 is wanted and answers in the version that it
// has (gitprotocol-v2, "Initial Client Request"). Git, ssh and file share it.
// The streams' errors are returned as they are.
func (r *reading) converse(from io.Reader, to io.Writer, w way) (*Advertisement, error) {
	r.phase.set(fault.PhaseAnswer)
	p := newPktReader(counted{r: from, n: &r.log.BytesIn}, r.config.MaxBytes)
	out := counted{w: to, n: &r.log.BytesOut}
	early := lsRefsRequest(r.query, w.caps, r.agent)
	if w.caps.unborn || !r.query.Wants("HEAD") {
		// No other command can follow. A server that knows it ends by itself
		// behind its answer, and its session is free a round trip earlier.
		early = append(early, flushPkt...)
	}
	sent := w.order == postFirst && len(early) <= maxAhead
	if sent {
		// If nobody takes it any more, what was answered says why.
		_, _ = out.Write(early)
	}
	line, ok, err := p.line()
	if err != nil {
		return nil, err
	}
	r.phase.set(fault.PhaseRefs)
	if string(line) != "version 2" {
		r.learnt.version0(r, getFirst, endpoint{})
		a, stopped, err := readVersion0(p, r.newCollector(), line, ok)
		if err == nil && !stopped && !sent {
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
	if sent {
		r.learnt.announced(r, caps)
		if caps.objectFormat() != w.caps.objectFormat() {
			return nil, protocolError([]byte(caps.format), "the repository has another object format than before")
		}
		a, err := readLsRefs(p, r.newCollector(), w.caps)
		if err != nil || !caps.unborn || !r.wantsUnborn(a, w.caps) {
			return a, err
		}
	}
	// The final flush packet says that no other command follows.
	if _, err := out.Write(append(lsRefsRequest(r.query, caps, r.agent), flushPkt...)); err != nil {
		return nil, err
	}
	return readLsRefs(p, r.newCollector(), caps)
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
