package gittest

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// The content types of git's smart HTTP (gitprotocol-http(5)).
const (
	AdvertisementType = "application/x-git-upload-pack-advertisement" // of GET info/refs
	ResultType        = "application/x-git-upload-pack-result"        // of POST git-upload-pack
)

// Answer answers every request with status 200 and body.
func Answer(contentType string, body []byte) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = w.Write(body)
	})
}

// Status answers every request with a status and a text. header holds names
// and values by turns, such as "Retry-After", "1".
func Status(code int, text string, header ...string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		for i := 0; i+1 < len(header); i += 2 {
			w.Header().Set(header[i], header[i+1])
		}
		w.WriteHeader(code)
		_, _ = io.WriteString(w, text)
	})
}

// HTML answers every request with status 200 and a page, as a login portal
// does.
func HTML(page string) http.Handler {
	return Answer("text/html; charset=utf-8", []byte(page))
}

// Redirect answers every request with a redirect to url, whatever was asked.
func Redirect(code int, url string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", url)
		w.WriteHeader(code)
	})
}

// RedirectBase redirects every request to the same path and query under base,
// such as the URL of another server.
func RedirectBase(code int, base string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Location", base+r.URL.RequestURI())
		w.WriteHeader(code)
	})
}

// RedirectLoop redirects every request to itself.
func RedirectLoop(code int) http.Handler { return RedirectBase(code, "") }

// HTTPSteps answers with status 200 and then takes steps in place of a body,
// sending at once what they write. To begin without any answer, use Silence.
func HTTPSteps(contentType string, steps ...Step) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		// Only after the request was read does the server notice a client
		// that goes away.
		_, _ = io.Copy(io.Discard, r.Body)
		w.Header().Set("Content-Type", contentType)
		w.WriteHeader(http.StatusOK)
		_ = takeSteps(r.Context(), httpBody{w, http.NewResponseController(w), r.Context()}, steps)
	})
}

// httpBody is the body of an answer as a conversation sees it: there is
// nothing to read.
type httpBody struct {
	w          io.Writer
	controller *http.ResponseController
	ctx        context.Context
}

func (b httpBody) Write(p []byte) (int, error) {
	n, err := b.w.Write(p)
	if err == nil {
		err = b.controller.Flush()
	}
	return n, err
}

func (b httpBody) Read([]byte) (int, error) { return 0, io.EOF }

func (b httpBody) Close() error { return nil }

// Silence reads the request and never answers.
func Silence() http.Handler {
	return http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		<-r.Context().Done()
	})
}

// ResetConnection ends the connection of every request with a TCP reset; with
// HTTP/2, it resets the request's stream.
func ResetConnection() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		c, _, err := http.NewResponseController(w).Hijack()
		if err != nil {
			panic(http.ErrAbortHandler)
		}
		reset(c)
	})
}

// GzipBomb answers with a short body that unpacks to about size bytes: data
// again and again.
func GzipBomb(contentType string, data []byte, size int) http.Handler {
	var packed bytes.Buffer
	z := gzip.NewWriter(&packed)
	for n := 0; n < size; n += len(data) {
		_, _ = z.Write(data) // a bytes.Buffer takes everything
	}
	_ = z.Close()
	return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Content-Encoding", "gzip")
		w.Header().Set("Content-Length", strconv.Itoa(packed.Len()))
		_, _ = w.Write(packed.Bytes())
	})
}

// Slowly waits before next answers, unless the client goes away.
func Slowly(wait time.Duration, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if pause(r.Context(), wait) {
			next.ServeHTTP(w, r)
		}
	})
}

// Dumb serves the files under root, as a web server does that knows nothing of
// git. The fixture repositories are ready for it.
func Dumb(root string) http.Handler { return http.FileServer(http.Dir(root)) }
