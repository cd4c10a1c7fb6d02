package gittest

import (
	"bytes"
	"io"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"
)

// bodyLimit bounds how much of a request's body is kept.
const bodyLimit = 64 << 10

// Request is what a server saw of one request.
type Request struct {
	Method string
	Proto  string // "HTTP/1.1", "HTTP/2.0"
	Host   string // the Host header; of a CONNECT, the target
	URI    string // the request target as sent
	Path   string // as sent, percent-encoding kept
	Query  url.Values
	Header http.Header // with Authorization
	Body   string      // as far as it was read, at most the first 64 KiB
	Time   time.Time
}

// recorder keeps the requests that went through record.
type recorder struct {
	recordMu sync.Mutex
	requests []*recorded
}

type recorded struct {
	request Request
	body    bytes.Buffer
}

// record keeps each request before next sees it.
func (c *recorder) record(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		kept := &recorded{request: Request{
			Method: r.Method,
			Proto:  r.Proto,
			Host:   r.Host,
			URI:    r.RequestURI,
			Path:   r.URL.EscapedPath(),
			Query:  r.URL.Query(),
			Header: r.Header.Clone(),
			Time:   time.Now(),
		}}
		c.recordMu.Lock()
		c.requests = append(c.requests, kept)
		c.recordMu.Unlock()
		if r.Body != nil && r.Body != http.NoBody {
			r.Body = &recordedBody{ReadCloser: r.Body, owner: c, kept: kept}
		}
		next.ServeHTTP(w, r)
	})
}

// Requests returns what was asked so far, oldest first.
func (c *recorder) Requests() []Request {
	c.recordMu.Lock()
	defer c.recordMu.Unlock()
	requests := make([]Request, len(c.requests))
	for i, kept := range c.requests {
		requests[i] = kept.request
		requests[i].Header = kept.request.Header.Clone()
		requests[i].Body = kept.body.String()
	}
	return requests
}

// Count returns how many requests had one of methods; all of them if none is
// given.
func (c *recorder) Count(methods ...string) int {
	c.recordMu.Lock()
	defer c.recordMu.Unlock()
	n := 0
	for _, kept := range c.requests {
		if len(methods) == 0 || slices.Contains(methods, kept.request.Method) {
			n++
		}
	}
	return n
}

// Forget drops the requests so far.
func (c *recorder) Forget() {
	c.recordMu.Lock()
	defer c.recordMu.Unlock()
	c.requests = nil
}

// recordedBody copies what is read of a body.
type recordedBody struct {
	io.ReadCloser
	owner *recorder
	kept  *recorded
}

func (b *recordedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	b.owner.recordMu.Lock()
	defer b.owner.recordMu.Unlock()
	room := max(0, bodyLimit-b.kept.body.Len())
	b.kept.body.Write(p[:min(n, room)])
	return n, err
}
