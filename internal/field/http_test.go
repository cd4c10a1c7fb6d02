package field

import (
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

const (
	user     = "acme"
	password = "s3cr3t/Pa$$+w%rd"
	token    = "tok3n-ABCDEFGHIJKLMNOPQRSTUVWXYZ"
)

var basicSecret = map[string]string{"username": user, "password": password}

// guarded is a server that wants the Basic credentials.
func guarded(t *testing.T, root string, m gittest.Middleware) *gittest.HTTP {
	t.Helper()
	return gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: user, Password: password, Middleware: m})
}

// missingDotGit: GitLab's redirect within one origin keeps the credentials.
func missingDotGit(t *testing.T) []row {
	root := gittest.Repos(t)
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "g/sub/deep/r.git")
	s := guarded(t, root, gittest.MissingDotGit)
	return []row{
		{id: 31, what: "no .git, redirect, Basic", url: s.URL + "/a", secret: basicSecret},
		{id: 31, what: "subgroups, no .git", url: s.URL + "/g/sub/deep/r", secret: basicSecret, prefix: s.URL + "/g/sub/"},
		{id: 31, what: "subgroups, with .git", url: s.URL + "/g/sub/deep/r.git", secret: basicSecret},
		{id: 31, what: "no .git, no credentials", url: s.URL + "/a", kind: fault.Authentication},
	}
}

// redirects to another origin are followed without the credentials, and the
// error says so.
func redirects(t *testing.T) []row {
	root := gittest.Repos(t)
	closed, open := guarded(t, root, nil), gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	secure := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: user, Password: password, TLS: &gittest.TLSOptions{CA: systemCA}})
	named := func(s *gittest.HTTP) string { return strings.Replace(s.URL, "127.0.0.1", "localhost", 1) }
	to := func(what, target string, s *gittest.HTTP, kind fault.Kind, says ...string) row {
		from := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectBase(http.StatusFound, target)})
		return row{id: 32, what: what, url: from.URL + "/a.git", secret: basicSecret, kind: kind, says: says, again: s.Forget, check: func(t *testing.T) {
			for _, r := range s.Requests() {
				if r.Header.Get("Authorization") != "" {
					t.Errorf("the credentials went to %s", target)
				}
			}
		}}
	}
	fixed := func(what, location string, tls *gittest.TLSOptions) row {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: tls, Handler: gittest.Redirect(http.StatusFound, location)})
		secret := basicSecret
		if tls != nil {
			secret = with(secret, "ca.crt", s.CA.PEM)
		}
		return row{id: 32, what: what, url: s.URL + "/a.git", secret: secret, kind: fault.Redirect, says: []string{"refused"}}
	}
	loop := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectLoop(http.StatusFound)})
	return []row{
		to("other port, needs auth", closed.URL, closed, fault.Redirect, "credentials were withheld", closed.URL),
		to("other host, needs auth", named(closed), closed, fault.Redirect, "credentials were withheld", named(closed)),
		to("other host, open", named(open), open, ""),
		to("other port, open", open.URL, open, ""),
		to("http to https, needs auth", secure.URL, secure, fault.Redirect, "credentials were withheld", secure.URL),
		fixed("https to http", open.URL+"/a.git/info/refs", &gittest.TLSOptions{CA: systemCA}),
		fixed("file:///etc/passwd", "file:///etc/passwd", nil),
		fixed("ext::", "ext::sh -c id", nil),
		{id: 32, what: "a loop", url: loop.URL + "/a.git", secret: basicSecret, kind: fault.Redirect, says: []string{"more than 20 times"}},
	}
}

// schemes: Basic to a host that wants Bearer, and the reverse.
func schemes(t *testing.T) []row {
	root := gittest.Repos(t)
	basic, bearer := guarded(t, root, nil), gittest.ServeHTTP(t, root, gittest.HTTPOptions{Bearer: token})
	me := func(s *gittest.HTTP) string { return strings.Replace(s.URL, "://", "://"+user+"@", 1) + "/a.git" }
	tokenSecret := map[string]string{"bearerToken": token}
	return []row{
		{id: 34, what: "Basic host, Basic", url: basic.URL + "/a.git", secret: basicSecret},
		{id: 34, what: "Bearer host, bearerToken", url: bearer.URL + "/a.git", secret: tokenSecret},
		{id: 34, what: "Basic host, bearerToken", url: basic.URL + "/a.git", secret: tokenSecret, kind: fault.Authentication, says: []string{"Bearer credentials", "it wants Basic", "username and password"}},
		{id: 34, what: "Bearer host, Basic", url: bearer.URL + "/a.git", secret: basicSecret, kind: fault.Authentication, says: []string{"Basic credentials", "it wants Bearer", "bearerToken"}},
		{id: 34, what: "password only", url: basic.URL + "/a.git", secret: map[string]string{"password": password}, kind: fault.Credentials, says: []string{"no username"}},
		{id: 34, what: "password, user in the URL", url: me(basic), prefix: basic.URL, secret: map[string]string{"password": password}},
		{id: 34, what: "token and Basic together", url: basic.URL + "/a.git", secret: with(basicSecret, "bearerToken", token), kind: fault.Input, says: []string{"together with"}},
		{id: 34, what: "bearerToken, user in the URL", url: me(bearer), prefix: bearer.URL, secret: tokenSecret},
		{id: 34, what: "a line break behind the password", url: basic.URL + "/a.git", secret: with(basicSecret, "password", password+"\n"), kind: fault.Credentials, says: []string{"line break", "trimspace"}},
		{id: 34, what: "plain http to another host", url: "http://git.example.com/a.git", secret: basicSecret, kind: fault.Credentials, says: []string{"plain http", "allow_http"}, alone: true},
	}
}

// refusals keep their status and the server's words.
func refusals(t *testing.T) []row {
	says := func(what string, h http.Handler, secret map[string]string, kind fault.Kind, parts ...string) row {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h})
		r := row{id: 53, what: what, url: s.URL + "/acme/app.git", secret: secret, kind: kind, says: append(parts, "/acme/app.git")}
		r.config.Retry.MaxAttempts = 1
		return r
	}
	const quota = "quota\x1b[31m exceeded until\nnoon"
	json := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusForbidden)
		_, _ = w.Write([]byte(`{"message":"SSO required"}`))
	})
	return []row{
		says("401 with a body", gittest.Status(401, "token expired"), basicSecret, fault.Authentication, "401", "token expired", "secret keys password, username"),
		says("401 without credentials", gittest.Status(401, "", "WWW-Authenticate", `Basic realm="x"`), nil, fault.Authentication, "without credentials", "Basic"),
		says("403 with a body", gittest.Status(403, quota), basicSecret, fault.Forbidden, "403", "quota[31m exceeded until noon", "secret keys"),
		says("403, JSON body", json, basicSecret, fault.Forbidden, "SSO required"),
		says("404 with credentials", gittest.Status(404, "no such project"), basicSecret, fault.NotFound, "404", "no such project", "may not see it"),
		says("404 without credentials", gittest.Status(404, ""), nil, fault.NotFound, "without credentials", "credentials"),
		says("410", gittest.Status(410, "moved away"), nil, fault.NotFound, "410", "moved away"),
		says("400 with a body", gittest.Status(400, "bad client"), basicSecret, fault.NotGit, "400", "bad client"),
		says("407 without a proxy", gittest.Status(407, ""), nil, fault.Proxy, "407"),
		says("500 with a body", gittest.Status(500, "stack trace"), nil, fault.Unavailable, "500", "stack trace"),
		says("a secret echoed by the server", gittest.Status(403, "your password "+password+" is wrong"), basicSecret, fault.Forbidden, "your password *** is wrong"),
	}
}

// retries: what may pass is asked again, what will not is asked once. The first
// request is a POST alone; a retry is a GET and then the POST.
func retries(t *testing.T) []row {
	root := gittest.Repos(t)
	script := func(what string, want int, kind fault.Kind, answers ...http.Handler) row {
		var step atomic.Pointer[gittest.Middleware]
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: func(next http.Handler) http.Handler {
			return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { (*step.Load())(next).ServeHTTP(w, r) })
		}})
		again := func() {
			m := gittest.Script(answers...)
			step.Store(&m)
		}
		return row{id: 52, what: what, url: s.URL + "/a.git", kind: kind, again: again, check: func(t *testing.T) {
			if got := s.Count(); got != want {
				t.Errorf("%d requests, want %d", got, want)
			}
		}}
	}
	limited := gittest.Status(429, "slow down", "Retry-After", "1")
	endless := script("429 for ever, Retry-After: 1", 2, fault.RateLimited, limited, limited, limited, limited, limited, limited)
	endless.config.Timeout, endless.config.Retry.MaxAttempts = 1500*time.Millisecond, 100
	endless.says = []string{"429", "slow down"}
	down := gittest.Status(503, "maintenance")
	broken := script("503 for ever", 4, fault.Unavailable, down, down, down, down, down, down, down, down)
	broken.says = []string{"503", "maintenance"}
	return []row{
		script("503, then well", 3, "", down),
		script("429 with Retry-After: 1, then well", 3, "", limited),
		endless, broken,
		script("a reset, then well", 3, "", gittest.ResetConnection()),
		script("401 is tried once", 1, fault.Authentication, gittest.Status(401, "no")),
		script("403: POST and GET once each", 2, fault.Forbidden, gittest.Status(403, "no"), gittest.Status(403, "no")),
		script("404: POST and GET once each", 2, fault.NotFound, gittest.Status(404, "no"), gittest.Status(404, "no")),
	}
}
