package gittest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
)

// Middleware changes what a server does; see HTTPOptions.Middleware.
type Middleware = func(http.Handler) http.Handler

// Instead lets h answer the requests that match says yes to.
func Instead(match func(*http.Request) bool, h http.Handler) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if match(r) {
				h.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// IsGet is a match for Instead.
func IsGet(r *http.Request) bool { return r.Method == http.MethodGet }

// IsPost is a match for Instead.
func IsPost(r *http.Request) bool { return r.Method == http.MethodPost }

// Script lets the first handler answer the first request, the second the
// second, and so on. After the last one, and in place of a nil, the server
// behind it answers.
func Script(answers ...http.Handler) Middleware {
	var n atomic.Int64
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if i := n.Add(1) - 1; i < int64(len(answers)) && answers[i] != nil {
				answers[i].ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// Chain is the middlewares in one, the first outermost.
func Chain(all ...Middleware) Middleware {
	return func(next http.Handler) http.Handler {
		for i := len(all) - 1; i >= 0; i-- {
			next = all[i](next)
		}
		return next
	}
}

// MissingDotGit redirects /acme/app/info/refs to /acme/app.git/info/refs, as
// GitLab does.
func MissingDotGit(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		for _, service := range []string{"/info/refs", "/git-upload-pack"} {
			if repo, ok := strings.CutSuffix(r.URL.EscapedPath(), service); ok && !strings.HasSuffix(repo, ".git") {
				target := repo + ".git" + service
				if r.URL.RawQuery != "" {
					target += "?" + r.URL.RawQuery
				}
				Redirect(http.StatusMovedPermanently, target).ServeHTTP(w, r)
				return
			}
		}
		next.ServeHTTP(w, r)
	})
}

// IgnorePrefixes takes the ref-prefix lines out of ls-refs, so that the real
// git behind it lists all refs: a server may do so.
func IgnorePrefixes(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		var kept bytes.Buffer
		for {
			text, special, err := readPkt(r.Body)
			if err != nil {
				break
			}
			kept.WriteString(special)
			if special == "" && !strings.HasPrefix(text, "ref-prefix ") {
				kept.Write(Pkt(text))
			}
		}
		r = r.Clone(r.Context())
		r.ContentLength = int64(kept.Len())
		r.Body = io.NopCloser(&kept)
		next.ServeHTTP(w, r)
	})
}

// V0OnPost answers a POST with the version 0 advertisement, under the content
// type of a result.
func V0OnPost(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodPost {
			next.ServeHTTP(w, r)
			return
		}
		get := r.Clone(r.Context())
		get.Method = http.MethodGet
		get.URL.Path = strings.TrimSuffix(r.URL.Path, "git-upload-pack") + "info/refs"
		get.URL.RawPath = ""
		get.URL.RawQuery = "service=git-upload-pack"
		get.Header.Del("Git-Protocol")
		get.Body, get.ContentLength = http.NoBody, 0
		answer := capture(next, get)
		answer.header.Set("Content-Type", ResultType)
		answer.send(w)
	})
}

// Tamper changes the body of each answer of the server behind it.
func Tamper(change func([]byte) []byte) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := capture(next, r)
			answer.body = *bytes.NewBuffer(change(answer.body.Bytes()))
			answer.send(w)
		})
	}
}

// TruncateKind says how HTTP shows, or hides, that an answer is cut off.
type TruncateKind int

// The ways in which an answer can be cut off.
const (
	ShortBody  TruncateKind = iota + 1 // Content-Length promises the whole
	BrokenBody                         // chunked, and the last chunk is missing
	CleanEnd                           // nothing: the body ends with the connection, HTTP/1.1 only
)

// Truncate sends only the first n bytes of each answer of the server behind it.
func Truncate(kind TruncateKind, n int) Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			answer := capture(next, r)
			whole := answer.body.Len()
			answer.body.Truncate(min(n, whole))
			if kind == CleanEnd {
				answer.sendRaw(w)
				return
			}
			if kind == ShortBody {
				answer.header.Set("Content-Length", strconv.Itoa(whole))
			}
			answer.send(w)
			if n < whole {
				_ = http.NewResponseController(w).Flush()
				panic(http.ErrAbortHandler)
			}
		})
	}
}

// captured is an answer that was not sent yet.
type captured struct {
	header http.Header
	status int
	body   bytes.Buffer
}

// capture lets h answer r into memory.
func capture(h http.Handler, r *http.Request) *captured {
	c := &captured{header: http.Header{}, status: http.StatusOK}
	h.ServeHTTP(c, r)
	c.header.Del("Content-Length")
	return c
}

func (c *captured) Header() http.Header         { return c.header }
func (c *captured) WriteHeader(status int)      { c.status = status }
func (c *captured) Write(p []byte) (int, error) { return c.body.Write(p) }

// send sends what is in c.
func (c *captured) send(w http.ResponseWriter) {
	for name, values := range c.header {
		w.Header()[name] = values
	}
	w.WriteHeader(c.status)
	_, _ = w.Write(c.body.Bytes())
}

// sendRaw sends what is in c so that the body ends with the connection.
func (c *captured) sendRaw(w http.ResponseWriter) {
	conn, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = conn.Close() }()
	var head bytes.Buffer
	fmt.Fprintf(&head, "HTTP/1.1 %d %s\r\nConnection: close\r\n", c.status, http.StatusText(c.status))
	_ = c.header.Write(&head)
	head.WriteString("\r\n")
	_, _ = conn.Write(append(head.Bytes(), c.body.Bytes()...))
}
