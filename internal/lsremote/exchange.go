package lsremote

import (
	"bytes"
	"compress/flate"
	"compress/gzip"
	"context"
	"crypto/x509"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// The types of the answers (gitprotocol-http, "Smart Clients").
const (
	adType     = "application/x-git-upload-pack-advertisement"
	resultType = "application/x-git-upload-pack-result"
)

// endpoint is where a repository answers.
type endpoint struct {
	base *url.URL // without the suffix of a service
	// foreign is true once a redirect has led to another origin. Then the
	// credentials have stayed behind, for good.
	foreign bool
}

// home is the endpoint that the user named.
func home(r *reading) endpoint { return endpoint{base: r.remote.HTTPURL("")} }

// url returns the URL of a service of the repository.
func (e endpoint) url(suffix, query string) *url.URL {
	u := *e.base
	u.RawPath = u.EscapedPath() + suffix
	u.Path += suffix
	u.RawQuery = query
	return &u
}

// request is one http request.
type request struct {
	method, suffix, query string
	version2              bool // ask for protocol version 2
	body                  []byte
}

// send makes a request, with the credentials unless the endpoint is foreign.
// A 401 is answered once by a renewed token, where the credentials have one.
func (r *reading) send(ctx context.Context, at endpoint, q request) (*exchange, error) {
	auth := r.auth
	if at.foreign {
		auth = anonymous
	}
	for renewed := false; ; renewed = true {
		r.phase.set(fault.PhaseAuth)
		header, err := auth.Header(ctx)
		if err != nil {
			return nil, err
		}
		x, err := r.roundTrip(ctx, at, q, header)
		if err != nil || x.resp.StatusCode != http.StatusUnauthorized || header == "" || renewed {
			return x, err
		}
		again, err := auth.Renew(ctx, header)
		if err == nil && !again {
			return x, nil
		}
		x.discard()
		if err != nil {
			return nil, err
		}
	}
}

// exchange is an http answer that is being read. Reading from it decompresses.
type exchange struct {
	*reading
	at     endpoint
	resp   *http.Response
	body   io.Reader
	cancel context.CancelFunc
	before int64 // BytesIn before the body
}

// roundTrip sends one request and returns when the header of the answer is
// there.
func (r *reading) roundTrip(ctx context.Context, at endpoint, q request, authorization string) (*exchange, error) {
	u := at.url(q.suffix, q.query)
	proxy, err := r.proxies.of(u)
	if err != nil {
		return nil, err
	}
	r.phase.set(fault.PhaseDial)
	ctx, cancel := context.WithCancel(ctx)
	d := &dialing{ctx: ctx, phase: &r.phase, proxy: proxy, forward: forwards(proxy, u)}
	traced := httptrace.WithClientTrace(d.with(ctx), &httptrace.ClientTrace{
		GotConn: func(httptrace.GotConnInfo) { r.phase.set(fault.PhaseAnswer) },
	})
	req, err := http.NewRequestWithContext(traced, q.method, u.String(), bytes.NewReader(q.body))
	if err != nil {
		cancel()
		return nil, err
	}
	req.URL = u // with the percent-encoding that the user wrote
	r.setHeader(req.Header, q, authorization)
	auth := r.auth
	if at.foreign {
		auth = anonymous
	}
	r.log.Requests++
	r.log.BytesOut += int64(len(q.body))
	resp, err := r.transports.of(auth).RoundTrip(req) //nolint:bodyclose // exchange.close does
	if err != nil {
		err = r.httpError(ctx, at, d, err)
		cancel()
		return nil, err
	}
	x := &exchange{reading: r, at: at, resp: resp, cancel: cancel, before: r.log.BytesIn}
	x.body = counted{r: resp.Body, n: &r.log.BytesIn}
	// The names of codings have no case (RFC 9110, section 8.4.1).
	if encoding := strings.ToLower(resp.Header.Get("Content-Encoding")); encoding == "gzip" || encoding == "x-gzip" {
		x.body = &gunzip{from: x.body}
	}
	return x, nil
}

// setHeader fills in what git's own client sends, as far as it matters.
func (r *reading) setHeader(h http.Header, q request, authorization string) {
	h.Set("User-Agent", r.config.UserAgent)
	h.Set("Accept-Encoding", "gzip")
	if q.version2 {
		h.Set("Git-Protocol", "version=2")
	}
	if authorization != "" {
		h.Set("Authorization", authorization)
	}
	if q.method == http.MethodPost {
		h.Set("Content-Type", "application/x-git-upload-pack-request")
		h.Set("Accept", resultType)
		// Not sent. It tells net/http that the request may be repeated when a
		// kept connection turns out to have been closed by the server.
		h["Idempotency-Key"] = []string{}
		return
	}
	h.Set("Accept", "*/*")
	// An advertisement from a cache would be an old one.
	h.Set("Cache-Control", "no-cache")
	h.Set("Pragma", "no-cache")
}

// httpError says why a request got no answer.
func (r *reading) httpError(ctx context.Context, at endpoint, d *dialing, err error) error {
	addr := at.base.Host
	text := err.Error()
	if e, ok := errors.AsType[*fault.Error](err); ok {
		e.Happened += r.aside(at)
		if e.Kind == fault.TLS && !at.foreign && errors.As(err, new(x509.UnknownAuthorityError)) && r.auth.Why != "" {
			// An entry that holds the authority may be meant for this URL.
			e.Happened += "; " + r.auth.Why
		}
		return e
	}
	switch {
	case ctx.Err() != nil:
		return err
	case isAlert(err), d.certAsked.Load():
		return alertError(addr, err)
	case strings.Contains(text, "malformed HTTP"), strings.Contains(text, "malformed MIME header"),
		strings.HasSuffix(text, "%!w(<nil>)"): // net/http's words for a server that speaks first, as ssh does
		return &fault.Error{Kind: fault.NotGit, Phase: fault.PhaseAnswer, Err: err, Happened: addr + " does not speak HTTP on this port",
			Advice: "Check the scheme and the port of the URL." + wantsTLS(at.base.Scheme)}
	case strings.Contains(text, "response headers exceeded"):
		return &fault.Error{Kind: fault.TooLarge, Phase: fault.PhaseAnswer, Err: err, Happened: "the header of the answer is too large",
			Advice: "Check what answers at this URL."}
	}
	return err
}

// wantsTLS returns a hint for a plain http request that failed as it does on a
// port for https, "" for any other scheme.
func wantsTLS(scheme string) string {
	if scheme != string(giturl.HTTP) {
		return ""
	}
	return " Plain http was spoken: does the URL want https://?"
}

// Read reads the body. The answer must be of an encoding that was asked for.
func (x *exchange) Read(b []byte) (int, error) {
	n, err := x.body.Read(b)
	switch {
	case err == nil: // as nearly always: what follows allocates
		return n, nil
	case errors.Is(err, gzip.ErrHeader), errors.Is(err, gzip.ErrChecksum), errors.As(err, new(flate.CorruptInputError)):
		e := protocolError(nil, "the compression of the answer is broken")
		e.Err = err
		return n, e
	}
	return n, err
}

// redirects tells whether the answer points elsewhere.
func (x *exchange) redirects() bool {
	switch x.resp.StatusCode {
	case http.StatusMovedPermanently, http.StatusFound, http.StatusSeeOther, http.StatusTemporaryRedirect, http.StatusPermanentRedirect:
		return true
	}
	return false
}

// mediaType returns the type of the answer without its parameters.
func (x *exchange) mediaType() string {
	media, _, err := mime.ParseMediaType(x.resp.Header.Get("Content-Type"))
	if err != nil {
		return ""
	}
	return media
}

// expect checks that the answer is a success of the type that git servers give
// to it. A body of any other kind is never looked at for refs.
func (x *exchange) expect(media string) error {
	if x.resp.StatusCode != http.StatusOK {
		return x.refusal()
	}
	if x.mediaType() != media {
		return x.notGit()
	}
	x.phase.set(fault.PhaseRefs)
	return nil
}

// worthDraining is how many bytes it is worth to read past the answer, so that
// a connection of HTTP/1.1 can be used again.
const worthDraining = 128 << 10

// drainTime is how long a body is waited for when all that counts is there: the
// refs, or a status that is an answer of its own. A server that falls silent in
// the middle of an error's text must not turn that error into a timeout.
const drainTime = time.Second

// soon gives up the body after drainTime, unless stop is called before.
func (x *exchange) soon() (stop func() bool) { return time.AfterFunc(drainTime, x.cancel).Stop }

// finish reads to the end of the body, where that serves the connection. It
// fails only where the end holds a checksum of what was read before.
// stopped is true when the answer was left before its end.
func (x *exchange) finish(p *pktReader, stopped bool) error {
	read := x.log.BytesIn - x.before
	left := x.resp.ContentLength - read
	if x.resp.ContentLength < 0 {
		left = read // nobody knows; likely it is about as much as went by
	}
	if stopped && (x.resp.ProtoMajor > 1 || left > worthDraining) {
		return nil
	}
	defer x.soon()()
	err := p.drain(worthDraining)
	if _, compressed := x.body.(*gunzip); compressed && !stopped {
		return err
	}
	return nil
}

// close ends the exchange.
func (x *exchange) close() {
	_ = x.resp.Body.Close()
	x.cancel()
}

// gunzip decompresses. It reads the header only when the first byte is wanted.
type gunzip struct {
	from io.Reader
	z    *gzip.Reader
}

func (g *gunzip) Read(b []byte) (int, error) {
	if g.z == nil {
		z, err := gzip.NewReader(g.from)
		if err != nil {
			return 0, err
		}
		g.z = z
	}
	return g.z.Read(b)
}
