package lsremote

import (
	"context"
	"errors"
	"io"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// reading is one call of Client.Read.
type reading struct {
	*Client
	remote giturl.Remote
	auth   *gitauth.Auth
	query  Query // normalised
	phase  phase
	log    LogEntry
	got    *collector // of the answer that was read last
	// attempt counts from 1.
	attempt int
}

// phase is how far an attempt has come. A dial that runs beside the reading
// sets it too.
type phase struct{ value atomic.Pointer[fault.Phase] }

func (p *phase) set(now fault.Phase) { p.value.Store(&now) }

func (p *phase) get() fault.Phase {
	if v := p.value.Load(); v != nil {
		return *v
	}
	return fault.PhaseDial
}

// once makes one attempt.
func (r *reading) once(ctx context.Context) (*Advertisement, error) {
	r.phase.set(fault.PhaseDial)
	switch r.remote.Scheme {
	case giturl.HTTPS, giturl.HTTP:
		return r.http(ctx)
	case giturl.SSH:
		return r.ssh(ctx)
	case giturl.Git:
		return r.gitDaemon(ctx)
	default:
		return r.file(ctx)
	}
}

// newCollector returns the collector for one answer.
func (r *reading) newCollector() *collector {
	r.got = newCollector(r.query, r.config.MaxBytes)
	return r.got
}

// fail turns whatever ended an attempt into a *fault.Error. What is none says
// no more than that a connection broke, or that ctx has ended.
func (r *reading) fail(ctx context.Context, err error) *fault.Error {
	if e, ok := errors.AsType[*fault.Error](err); ok && (ctx.Err() == nil || !isCut(err)) {
		return e // the stream may also be cut because ctx has ended
	}
	at := r.phase.get()
	if e := fault.FromContext(ctx, at); e != nil {
		// A host that never answers does so to everybody.
		e.HostWide = e.Kind == fault.Timeout && at != fault.PhaseRefs
		return e
	}
	e := lost(at, err, r.scrub)
	if at == fault.PhaseAnswer {
		e.Advice += wantsTLS(string(r.remote.Scheme))
	}
	return e
}

// explain makes an error ready for the user: what was asked of which remote,
// and the server's text without secrets, and cleaned.
func (r *reading) explain(e *fault.Error) *fault.Error {
	shown := *e
	shown.Asked = r.query.String() + " of " + r.remote.String()
	shown.Happened = r.scrub(e.Happened)
	shown.Advice = r.scrub(e.Advice)
	if hint := r.remote.PortHint(); hint != "" {
		shown.Advice += " " + hint
	}
	// Once more as it will be seen: a secret may have had something invisible in it.
	shown.Server = fault.Clean(r.scrub(fault.Visible(r.scrub(e.Server))))
	return &shown
}

// scrub hides the secrets of the reading in text.
func (r *reading) scrub(text string) string { return r.proxies.scrub(r.auth.Scrub(text)) }

// entry returns what the log says about the reading.
func (r *reading) entry(a *Advertisement, outcome fault.Kind, took time.Duration) LogEntry {
	e := r.log
	e.Host, e.Path = r.remote.Host, r.remote.Path
	if r.remote.Port != 0 {
		e.Host += ":" + strconv.Itoa(r.remote.Port)
	}
	e.Attempts, e.Outcome, e.Duration = r.attempt, outcome, took
	if r.got != nil {
		e.RefsSeen = r.got.seen
	}
	if a != nil {
		e.Protocol, e.RefsKept = a.Protocol, len(a.Refs)
	}
	return e
}

// counted counts the bytes that are read and written through it.
type counted struct {
	r io.Reader
	w io.Writer
	n *int64
}

func (c counted) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	*c.n += int64(n)
	return n, err
}

func (c counted) Write(b []byte) (int, error) {
	n, err := c.w.Write(b)
	*c.n += int64(n)
	return n, err
}
