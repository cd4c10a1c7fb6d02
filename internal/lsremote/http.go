package lsremote

import (
	"context"
	"errors"
	"net/http"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// http reads over https or http.
//
// Asking costs one round trip where the server allows it: the ls-refs command
// is sent without having read the capabilities, with nothing in it that would
// have to be announced. What does not answer that with refs is asked in git's
// own order: capabilities first, then ls-refs with them, or the version 0 or 1
// advertisement that came instead; and last without any wish for version 2.
// What was learnt serves the next reading.
func (r *reading) http(ctx context.Context) (*Advertisement, error) {
	way := r.learnt.of(r)
	if way.order != postFirst || r.attempt > 1 {
		// After a failure git's own order is the better bet.
		return r.discover(ctx, way.order, false)
	}
	a, err := r.post(ctx, way.at, way.caps)
	switch {
	case err == nil && r.wantsUnborn(a, way.caps):
		// Only a server that announced it may be asked where an unborn HEAD
		// points. If it does not tell, the answer is right as it is.
		if more, err := r.discover(ctx, getFirst, false); err == nil {
			return more, nil
		}
		return a, nil
	case err == nil || !worthAnother(err):
		return a, err
	}
	r.learnt.forget(r)
	late, lateErr := r.discover(ctx, getFirst, true)
	if lateErr != nil {
		return nil, r.both(ctx, err, lateErr)
	}
	return late, nil
}

// wantsUnborn tells whether HEAD was asked for, is not there, and nobody asked
// where it points.
func (r *reading) wantsUnborn(a *Advertisement, caps capabilities) bool {
	_, there := a.Lookup("HEAD")
	return !there && !caps.unborn && r.query.Wants("HEAD")
}

// worthAnother tells whether a failed request leaves hope for another kind of
// request: the server did not like this one, or the repository is elsewhere.
// Everything else is final: refused credentials first of all, which must not
// be tried again and again. (403 is not about who asks; a server may say it of
// a request that it does not understand.)
func worthAnother(err error) bool {
	e, ok := errors.AsType[*fault.Error](err)
	if !ok || e.Phase == fault.PhaseCredentials {
		return false // the connection broke, ctx has ended, or there is no token
	}
	switch e.Kind {
	case fault.NotFound, fault.Forbidden, fault.NotGit, fault.Protocol, fault.Redirect:
		return true
	case fault.Unavailable:
		return e.Status != 0 && !e.Transient || e.Status == http.StatusInternalServerError
	}
	return false
}

// both makes one error of those of the direct request and of git's own order.
func (r *reading) both(ctx context.Context, early, late error) error {
	first, last := r.fail(ctx, early), r.fail(ctx, late)
	if first.Kind == last.Kind && first.Status == last.Status {
		return last // the server gave the same answer twice
	}
	merged := *last
	merged.Happened += "; the direct ls-refs request before it failed too: " + first.Happened
	return &merged
}

// discover reads in git's own order. refused is true when the server has
// refused the direct request before.
func (r *reading) discover(ctx context.Context, o order, refused bool) (*Advertisement, error) {
	at, x, err := r.getRefs(ctx, o != v0Only)
	if err != nil {
		return nil, err
	}
	defer x.close()
	if err := x.expect(adType); err != nil {
		return nil, err
	}
	p := newPktReader(x, r.config.MaxBytes)
	line, ok, err := firstLine(p)
	if err != nil {
		return nil, err
	}
	if string(line) != "version 2" {
		a, stopped, err := readVersion0(p, r.newCollector(), line, ok)
		if err == nil {
			err = x.finish(p, stopped)
		}
		if err == nil {
			r.learnt.version0(r, o, at)
		}
		return a, err
	}
	if o == v0Only {
		return nil, protocolError(nil, "the server speaks protocol version 2 although it was not asked to")
	}
	caps, err := readCapabilities(p)
	if err == nil {
		err = x.finish(p, false)
	}
	if err != nil {
		return nil, err
	}
	x.close()
	a, err := r.post(ctx, at, caps)
	if err != nil && worthAnother(err) {
		late, lateErr := r.discover(ctx, v0Only, refused)
		if lateErr != nil {
			return nil, r.both(ctx, err, lateErr)
		}
		return late, nil
	}
	if err == nil {
		r.learnt.version2(r, at, caps, refused)
	}
	return a, err
}

// firstLine returns the first line of an answer to info/refs, past the banner
// "# service=git-upload-pack" and its flush packet. git http-backend leaves
// the banner out for version 2, GitHub does not. More lines may stand in the
// banner.
func firstLine(p *pktReader) (line []byte, ok bool, err error) {
	line, ok, err = p.line()
	if err != nil || !isBanner(line) {
		return line, ok, err
	}
	for ok && err == nil {
		_, ok, err = p.line()
	}
	if err != nil {
		return nil, false, err
	}
	return p.line()
}

func isBanner(line []byte) bool { return len(line) > 0 && line[0] == '#' }

// post sends the ls-refs command to a repository and reads the refs.
func (r *reading) post(ctx context.Context, at endpoint, caps capabilities) (*Advertisement, error) {
	x, err := r.send(ctx, at, request{method: http.MethodPost, suffix: "/git-upload-pack", version2: true,
		body: lsRefsRequest(r.query, caps, r.agent)})
	if err != nil {
		return nil, err
	}
	defer x.close()
	if x.redirects() {
		// Following it would turn the POST into a GET. The GET of info/refs
		// finds out where the repository is.
		return nil, &fault.Error{Kind: fault.Redirect, Phase: fault.PhaseAnswer, Status: x.resp.StatusCode,
			Happened: "the server redirects the ls-refs request", Advice: "Use the URL that the server redirects to."}
	}
	if err := x.expect(resultType); err != nil {
		return nil, err
	}
	p := newPktReader(x, r.config.MaxBytes)
	a, err := readLsRefs(p, r.newCollector(), caps)
	if err == nil {
		err = x.finish(p, false)
	}
	return a, err
}
