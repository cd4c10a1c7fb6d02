package lsremote

import (
	"fmt"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Field cases 34 and 53: each status has its own error, which says who asked,
// what the server said, and what to do. None is tried twice in the same way.
func TestHTTPStatus(t *testing.T) {
	basic := map[string]string{"username": "me", "password": "s3cr3t-pa55"}
	bearer := map[string]string{"bearerToken": "s3cr3t-pa55"}
	json := func(code int, text string) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/json; charset=utf-8")
			w.WriteHeader(code)
			fmt.Fprint(w, text)
		})
	}
	for name, c := range map[string]struct {
		answer http.Handler
		secret map[string]string
		kind   fault.Kind
		asked  []string // methods, in order
		parts  []string
	}{
		"401 anonymous": {gittest.Status(401, "", "WWW-Authenticate", `Basic realm="x, y", Bearer`), nil, fault.Authentication, []string{"POST"},
			[]string{"401 Unauthorized to a request without credentials (the provider has no credentials)", "it wants Basic or Bearer", `such as { url = "http://`, "secret = { username"}},
		"401 with an empty password": {gittest.Status(401, "", "WWW-Authenticate", "Basic"), map[string]string{"username": "s3cr3t-pa55", "password": ""}, fault.Authentication, []string{"POST"},
			[]string{"secret keys username; it wants Basic; the password is empty or missing", "Set password", "token as the user name"}},
		"401 without a password, Bearer wanted": {gittest.Status(401, "", "WWW-Authenticate", "Bearer"), map[string]string{"username": "s3cr3t-pa55"}, fault.Authentication, []string{"POST"},
			[]string{"the password is empty or missing", "give bearerToken"}},
		"401 to an empty secret": {gittest.Status(401, ""), map[string]string{}, fault.Authentication, []string{"POST"},
			[]string{"to a request without credentials (credentials[0] (url ", "has an empty secret)", "Fill in that secret"}},
		"401 Basic": {gittest.Status(401, "bad me:s3cr3t-pa55\n\x1b[31mtoken", "WWW-Authenticate", "basic"), basic, fault.Authentication, []string{"POST"},
			[]string{"401 Unauthorized to Basic credentials of credentials[0]", "secret keys password, username", `"bad me:*** [31mtoken"`, "once only"}},
		"401 Bearer wanted": {gittest.Status(401, "", "WWW-Authenticate", "Bearer"), basic, fault.Authentication, []string{"POST"},
			[]string{"give bearerToken"}},
		"401 Basic wanted": {gittest.Status(401, "", "WWW-Authenticate", `Basic realm="git"`), bearer, fault.Authentication, []string{"POST"},
			[]string{"Bearer credentials", "give username and password"}},
		"403": {json(403, `{"message":"SSO: authorize s3cr3t-pa55","documentation_url":"x"}`), basic, fault.Forbidden, []string{"POST", "GET"},
			[]string{"403 Forbidden to Basic credentials", "SSO: authorize ***"}},
		"403 with a page": {gittest.Answer("text/html", nil), nil, fault.NotGit, []string{"POST", "GET"}, []string{"web page"}},
		"404 anonymous": {gittest.Status(404, ""), nil, fault.NotFound, []string{"POST", "GET"},
			[]string{"404 Not Found to a request without credentials", "not visible without credentials", "is not public: add an entry"}},
		"404 with credentials": {gittest.Status(404, "no such project"), basic, fault.NotFound, []string{"POST", "GET"},
			[]string{"404 Not Found to Basic credentials", "these credentials may not see it", "no such project"}},
		"410":        {gittest.Status(410, ""), nil, fault.NotFound, []string{"POST", "GET"}, []string{"410 Gone"}},
		"400":        {gittest.Status(400, "no"), nil, fault.NotGit, []string{"POST", "GET"}, []string{"400 Bad Request", `"no"`}},
		"407":        {gittest.Status(407, ""), nil, fault.Proxy, []string{"POST"}, []string{"the proxy answered 407"}},
		"429":        {gittest.Status(429, "slow down", "Retry-After", "7"), nil, fault.RateLimited, []string{"POST"}, []string{"429 Too Many Requests", "slow down"}},
		"503":        {gittest.Status(503, ""), nil, fault.Unavailable, []string{"POST"}, []string{"503 Service Unavailable"}},
		"500":        {gittest.Status(500, ""), nil, fault.Unavailable, []string{"POST", "GET"}, []string{"500 Internal Server Error"}},
		"501":        {gittest.Status(501, ""), nil, fault.Unavailable, []string{"POST", "GET"}, []string{"501 Not Implemented"}},
		"599":        {gittest.Status(599, ""), nil, fault.Unavailable, []string{"POST"}, []string{"answered 599"}},
		"bad JSON":   {json(403, `{"message":`), nil, fault.Forbidden, []string{"POST", "GET"}, nil},
		"JSON error": {json(403, `{"message":7,"error":"quota"}`), nil, fault.Forbidden, []string{"POST", "GET"}, []string{`"quota"`}},
		"huge text":  {gittest.Status(403, strings.Repeat("x", 1<<20)), nil, fault.Forbidden, []string{"POST", "GET"}, nil},
	} {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: c.answer})
		client := newTestClient(t, Config{Retry: Retry{MaxAttempts: 1}})
		r := mustParse(t, s.URL+"/a.git")
		_, err := client.Read(t.Context(), r, authFor(t, r, s.URL, c.secret), refs("HEAD"))
		if fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e := wantFault(t, err, c.kind)
		wantText(t, err, append(c.parts, "HEAD of "+s.URL+"/a.git")...)
		gittest.AssertNoSecrets(t, name, fmt.Appendf(nil, "%v %+v", err, *e), "s3cr3t-pa55")
		if len(e.Server) > 400 {
			t.Errorf("%s: %d bytes of the server's text", name, len(e.Server))
		}
		var asked []string
		for _, request := range s.Requests() {
			asked = append(asked, request.Method)
		}
		if !reflect.DeepEqual(asked, c.asked) {
			t.Errorf("%s: asked by %v", name, asked)
		}
	}
}

// Who has entries, but none for this URL, is told which there are, over https
// and http as over ssh, and also where an entry that does not match holds the
// authority that is missing.
func TestNoEntryMatches(t *testing.T) {
	const other = "https://git.example.com/acme"
	readBeside := func(url string, secret map[string]string) error {
		r := mustParse(t, url)
		_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, other, secret), refs("HEAD"))
		return err
	}
	const want = "no entry matches: the provider's credentials are for " + other
	for status, kind := range map[int]fault.Kind{401: fault.Authentication, 403: fault.Forbidden, 404: fault.NotFound} {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(status, "")})
		err := readBeside(s.URL+"/a.git", map[string]string{"username": "me", "password": "s3cr3t-pa55"})
		wantText(t, wantFault(t, err, kind), "to a request without credentials ("+want+")")
	}
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{}})
	err := readBeside(s.URL+"/a.git", map[string]string{"ca.crt": s.CA.PEM})
	wantText(t, wantFault(t, err, fault.TLS), "authority that is not trusted here; "+want, "ca.crt in the secret")
}

// What the server said is scrubbed before it is cut to size, so that no half
// of a secret is left at the cut.
func TestI6ServerTextIsScrubbedFirst(t *testing.T) {
	const secret = "0123456789abcdefghijklmnopqrstuvwxyz"
	for n := range 60 {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(403, strings.Repeat("x", 260+n)+" "+secret)})
		r := mustParse(t, s.URL+"/a.git")
		_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, map[string]string{"bearerToken": secret}), refs("HEAD"))
		if strings.Contains(wantFault(t, err, fault.Forbidden).Server, secret[:6]) {
			t.Fatalf("%d bytes before it: %v", n, err)
		}
	}
}

func TestChallenges(t *testing.T) {
	for _, c := range []struct {
		values []string
		want   []string
	}{
		{nil, nil},
		{[]string{""}, nil},
		{[]string{"Basic"}, []string{"Basic"}},
		{[]string{`Basic realm="a, Digest b", charset="UTF-8"`}, []string{"Basic"}},
		{[]string{`Basic realm="a\", Digest b", Bearer realm=x`}, []string{"Basic", "Bearer"}},
		{[]string{"Negotiate", `Basic realm="x"`, "basic"}, []string{"Negotiate", "Basic", "basic"}},
		{[]string{"NTLM, Negotiate,,Bearer"}, []string{"NTLM", "Negotiate", "Bearer"}},
		{[]string{`"quoted", <b>x</b>, realm="s3cr3t"`}, nil},
		{[]string{"a, b, c, d, e, f, g"}, []string{"a", "b", "c", "d", "e"}},
	} {
		if got := challenges(c.values); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%q: got %q", c.values, got)
		}
	}
}

func TestParseRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for in, want := range map[string]time.Duration{
		"":                               0,
		"0":                              0,
		"7":                              7 * time.Second,
		" 120 ":                          2 * time.Minute,
		"99999999":                       maxRetryAfter,
		"99999999999999999999":           0,
		"-1":                             0,
		"+1":                             0,
		"1.5":                            0,
		"soon":                           0,
		"Fri, 02 Jan 2026 03:04:35 GMT":  30 * time.Second,
		"Fri, 02 Jan 2026 03:04:00 GMT":  0,
		"Friday, 02-Jan-26 03:05:05 GMT": time.Minute,
		"Fri Jan  2 03:04:06 2026":       time.Second,
		"Fri, 02 Jan 2099 03:04:35 GMT":  maxRetryAfter,
	} {
		if got := parseRetryAfter(in, now); got != want {
			t.Errorf("%q: got %s, want %s", in, got, want)
		}
	}
}

func FuzzRetryAfter(f *testing.F) {
	f.Add("120", int64(0))
	f.Add("Fri, 02 Jan 2026 03:04:35 GMT", int64(1767323045))
	f.Fuzz(func(t *testing.T, value string, now int64) {
		if got := parseRetryAfter(value, time.Unix(now, 0)); got < 0 || got > maxRetryAfter {
			t.Errorf("%q at %d: %s", value, now, got)
		}
	})
}
