package lsremote

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// clock is a clock that only sleeping moves.
type clock struct {
	now   time.Time
	slept []time.Duration
}

func newClock() *clock { return &clock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *clock) Now() time.Time { return c.now }

func (c *clock) Sleep(ctx context.Context, d time.Duration) error {
	c.slept = append(c.slept, d)
	c.now = c.now.Add(d)
	return ctx.Err()
}

func (c *clock) config(r Retry) Config {
	return Config{Timeout: guard, Retry: r, Now: c.Now, Sleep: c.Sleep}
}

// Field case 52.
func TestRetry(t *testing.T) {
	root := gittest.Repos(t)
	again := func(n int, h http.Handler) (all []http.Handler) {
		for range n {
			all = append(all, h)
		}
		return all
	}
	late := "Fri, 02 Jan 2026 03:04:35 GMT" // 30 s from now
	for name, c := range map[string]struct {
		script []http.Handler
		kind   fault.Kind
		waits  [][2]time.Duration // from, to
		asked  string
		text   string
	}{
		"503 then 200": {again(1, gittest.Status(503, "")), "",
			[][2]time.Duration{{50 * time.Millisecond, 100 * time.Millisecond}}, "POST GET POST", ""},
		"429 with seconds": {again(1, gittest.Status(429, "", "Retry-After", "1")), "",
			[][2]time.Duration{{time.Second, 1013 * time.Millisecond}}, "POST GET POST", ""},
		"503 with a date": {again(1, gittest.Status(503, "", "Retry-After", late)), "",
			[][2]time.Duration{{30 * time.Second, 30013 * time.Millisecond}}, "POST GET POST", ""},
		"a reset": {again(1, gittest.ResetConnection()), "",
			[][2]time.Duration{{50 * time.Millisecond, 100 * time.Millisecond}}, "POST GET POST", ""},
		"a reset in the answer": {[]http.Handler{gittest.HTTPSteps(resultType, gittest.Send(pkts(idA + " HEAD")[:40]), func(context.Context, io.ReadWriteCloser) error { panic(http.ErrAbortHandler) })}, "",
			[][2]time.Duration{{50 * time.Millisecond, 100 * time.Millisecond}}, "POST GET POST", ""},
		"502 three times": {again(3, gittest.Status(502, "")), "",
			[][2]time.Duration{{50 * time.Millisecond, 100 * time.Millisecond}, {100 * time.Millisecond, 200 * time.Millisecond}, {125 * time.Millisecond, 250 * time.Millisecond}},
			"POST GET GET GET POST", ""},
		"503 for ever": {again(9, gittest.Status(503, "")), fault.Unavailable,
			[][2]time.Duration{{50 * time.Millisecond, 100 * time.Millisecond}, {100 * time.Millisecond, 200 * time.Millisecond}, {125 * time.Millisecond, 250 * time.Millisecond}},
			"POST GET GET GET", "503 Service Unavailable"},
		"429 beyond the timeout": {again(9, gittest.Status(429, "", "Retry-After", "3600")), fault.RateLimited, nil, "POST", "another try in 1h0m0s would come after the time allowed"},
		"429 until the timeout": {again(9, gittest.Status(429, "", "Retry-After", "25")), fault.RateLimited,
			[][2]time.Duration{{25 * time.Second, 25013 * time.Millisecond}, {25 * time.Second, 25025 * time.Millisecond}}, "POST GET GET", "429 Too Many Requests; another try in 25s"},
		"401": {again(9, gittest.Status(401, "")), fault.Authentication, nil, "POST", ""},
		"403": {again(9, gittest.Status(403, "", "Retry-After", "1")), fault.Forbidden, nil, "POST GET", ""},
		"404": {again(9, gittest.Status(404, "")), fault.NotFound, nil, "POST GET", ""},
		"400": {again(9, gittest.Status(400, "")), fault.NotGit, nil, "POST GET", ""},
		"407": {again(9, gittest.Status(407, "")), fault.Proxy, nil, "POST", ""},
		"501": {again(9, gittest.Status(501, "")), fault.Unavailable, nil, "POST GET", ""},
		"cut": {again(9, gittest.Answer(resultType, nil)), fault.NotGit, nil, "POST GET", ""},
	} {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: gittest.Script(c.script...)})
		now := newClock()
		log := &entries{}
		config := now.config(Retry{MaxAttempts: 4, MinWait: 100 * time.Millisecond, MaxWait: 250 * time.Millisecond})
		config.Log = log.add
		a, err := read(t, newTestClient(t, config), s.URL+"/a.git", refs("refs/heads/main"))
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) && c.text != "" {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if err == nil {
			only(t, a, wantMain)
		}
		var methods []string
		for _, request := range s.Requests() {
			methods = append(methods, request.Method)
		}
		if got := strings.Join(methods, " "); got != c.asked {
			t.Errorf("%s: asked %s", name, got)
		}
		if len(now.slept) != len(c.waits) {
			t.Errorf("%s: slept %v", name, now.slept)
			continue
		}
		for i, w := range c.waits {
			if d := now.slept[i]; d < w[0] || d > w[1] {
				t.Errorf("%s: slept %v, want %v", name, now.slept, c.waits)
			}
		}
		if e := log.last(t); e.Attempts != len(c.waits)+1 || e.Requests != len(methods) || e.Outcome != c.kind {
			t.Errorf("%s: logged %+v", name, e)
		}
	}
}

// An interrupt during a pause ends the reading as interrupted, the end of the
// time with what the server said.
func TestRetryEndsWithContext(t *testing.T) {
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(503, "")})
	r := mustParse(t, s.URL+"/a.git")
	ctx, cancel := context.WithCancel(t.Context())
	c := newTestClient(t, Config{Retry: Retry{MaxAttempts: 9, MinWait: time.Minute / 2, MaxWait: time.Minute / 2}, Timeout: 2 * guard,
		Sleep: func(ctx context.Context, d time.Duration) error {
			cancel()
			return sleep(ctx, d)
		}})
	_, err := c.Read(ctx, r, nil, refs("HEAD"))
	wantFault(t, err, fault.Canceled)

	ctx, cancel = context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	c = newTestClient(t, Config{Retry: Retry{MaxAttempts: 9, MinWait: time.Minute / 2, MaxWait: time.Minute / 2}, Timeout: 2 * guard})
	_, err = c.Read(ctx, r, nil, refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Unavailable), "503 Service Unavailable")
}

// A kept connection that the server has closed in the meantime is no failed
// attempt.
func TestHTTPStaleConnection(t *testing.T) {
	root := gittest.Repos(t)
	// Closed just when the second request arrives.
	s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: gittest.Script(nil, gittest.ResetConnection())})
	log := &entries{}
	c := newTestClient(t, Config{Log: log.add})
	for range 2 {
		only(t, mustRead(t, c, s.URL+"/a.git", refs("refs/heads/main")), wantMain)
		if e := log.last(t); e.Attempts != 1 {
			t.Errorf("logged %+v", e)
		}
	}
	if n := s.Connections(); n != 2 {
		t.Errorf("%d connections", n)
	}
	// Closed some time before.
	s = gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	c = newTestClient(t, Config{})
	for range 3 {
		only(t, mustRead(t, c, s.URL+"/a.git", refs("refs/heads/main")), wantMain)
		s.Down()
		if err := s.Up(); err != nil {
			t.Fatal(err)
		}
	}
}
