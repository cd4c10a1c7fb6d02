package lsremote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Field case 31: GitLab's missing ".git". The credentials stay on the origin,
// and the second reading goes straight to where the repository is.
func TestRedirectMissingDotGit(t *testing.T) {
	for name, post := range map[string]gittest.Middleware{
		"the POST is redirected": func(next http.Handler) http.Handler { return next },
		"the POST is not found": gittest.Instead(func(r *http.Request) bool {
			return gittest.IsPost(r) && !strings.Contains(r.URL.Path, ".git/")
		}, gittest.Status(404, "")),
	} {
		s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{User: "me", Password: "s3cr3t",
			Middleware: gittest.Chain(post, gittest.MissingDotGit)})
		c := newTestClient(t, Config{})
		r := mustParse(t, s.URL+"/a")
		auth := authFor(t, r, s.URL, map[string]string{"username": "me", "password": "s3cr3t"})
		for i, want := range [][]string{
			{"POST /a/git-upload-pack v2", "GET /a/info/refs v2", getA, postA},
			{postA},
		} {
			a, err := c.Read(t.Context(), r, auth, refs("refs/heads/main"))
			if err != nil {
				t.Fatalf("%s: reading %d: %v", name, i, err)
			}
			only(t, a, wantMain)
			wantTrail(t, s, want...)
		}
	}
}

// Where the repository was before is forgotten when it is not there any more.
func TestRedirectIsForgotten(t *testing.T) {
	root := gittest.Repos(t)
	moved := "/a.git"
	s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case strings.HasPrefix(r.URL.Path, "/old.git/"):
				gittest.Redirect(301, moved+strings.TrimPrefix(r.URL.Path, "/old.git")+"?"+r.URL.RawQuery).ServeHTTP(w, r)
			case strings.HasPrefix(r.URL.Path, moved):
				next.ServeHTTP(w, r)
			default:
				http.NotFound(w, r)
			}
		})
	}})
	c := newTestClient(t, Config{})
	only(t, mustRead(t, c, s.URL+"/old.git", refs("refs/heads/main")), wantMain)
	moved = "/s.git"
	a := mustRead(t, c, s.URL+"/old.git", prefix("refs/heads/"))
	if len(a.Refs) != 1 || a.Refs[0].ID == mainA {
		t.Errorf("got %+v", a.Refs)
	}
}

// Field case 32 and trap 11: credentials never cross an origin.
func TestI6RedirectWithholdsCredentials(t *testing.T) {
	root := gittest.Repos(t)
	secrets := map[string]string{"username": "me", "password": "s3cr3t-pa55"}
	open := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	closed := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "me", Password: "s3cr3t-pa55"})
	hidden := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Handler: gittest.Status(404, "")})
	for name, c := range map[string]struct {
		to   *gittest.HTTP
		kind fault.Kind
	}{
		"to an open server":        {open, ""},
		"to one that wants some":   {closed, fault.Redirect},
		"to one that hides things": {hidden, fault.Redirect},
	} {
		from := gittest.ServeHTTP(t, "", gittest.HTTPOptions{User: "me", Password: "s3cr3t-pa55", Handler: gittest.RedirectBase(302, c.to.URL)})
		client := newTestClient(t, Config{})
		r := mustParse(t, from.URL+"/a.git")
		for range 2 {
			a, err := client.Read(t.Context(), r, authFor(t, r, from.URL, secrets), refs("refs/heads/main"))
			if fault.KindOf(err) != c.kind {
				t.Fatalf("%s: %v", name, err)
			}
			if err == nil {
				only(t, a, wantMain)
			} else {
				wantText(t, wantFault(t, err, c.kind), "credentials were withheld", from.URL+" redirects to "+c.to.URL, "use the repository's URL there")
			}
		}
		for _, request := range c.to.Requests() {
			if request.Header.Get("Authorization") != "" {
				t.Errorf("%s: the credentials came along on %s %s", name, request.Method, request.Path)
			}
		}
		for i, request := range from.Requests() {
			if request.Header.Get("Authorization") == "" {
				t.Errorf("%s: request %d came without credentials", name, i)
			}
		}
	}
}

// Once left behind, credentials stay behind, even if the last redirect leads
// home.
func TestI6RedirectThereAndBack(t *testing.T) {
	var there *gittest.HTTP
	home := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasPrefix(r.URL.Path, "/back/"):
			w.WriteHeader(401)
		default:
			gittest.RedirectBase(302, there.URL).ServeHTTP(w, r)
		}
	})})
	there = gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectBase(302, home.URL+"/back")})
	r := mustParse(t, home.URL+"/a.git")
	_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, home.URL, map[string]string{"bearerToken": "s3cr3t"}), refs("HEAD"))
	wantFault(t, err, fault.Redirect)
	for _, request := range home.Requests() {
		if strings.HasPrefix(request.Path, "/back/") && request.Header.Get("Authorization") != "" {
			t.Error("the credentials came back")
		}
	}
}

// Without credentials a redirect withholds nothing, and a 401 is one.
func TestRedirectAnonymous(t *testing.T) {
	closed := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(401, "", "WWW-Authenticate", "Basic")})
	from := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectBase(302, closed.URL)})
	_, err := read(t, newTestClient(t, Config{}), from.URL+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Authentication), from.URL+" redirects to "+closed.URL)
}

// From http to https on one host is another origin, and allowed; the other
// way is not.
func TestRedirectScheme(t *testing.T) {
	root := gittest.Repos(t)
	s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{}})
	up := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectBase(301, s.URL)})
	r := mustParse(t, up.URL+"/a.git")
	// The authority is in the secret, and is for the origin of the prefix only.
	_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, up.URL, map[string]string{"username": "u", "password": "p", "ca.crt": s.CA.PEM}), refs("HEAD"))
	wantText(t, wantFault(t, err, fault.TLS), up.URL+" redirects to "+s.URL)

	down := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: s.CA}, Handler: gittest.RedirectBase(301, up.URL)})
	r = mustParse(t, down.URL+"/a.git")
	_, err = newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, down.URL, map[string]string{"ca.crt": s.CA.PEM}), refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Redirect), "from https to http")
	up.Forget()
}

// Field cases 28 and 32, trap 11: what is not followed, and that nothing of a
// query is shown.
func TestI6RedirectRefused(t *testing.T) {
	for name, c := range map[string]struct {
		location string
		kind     fault.Kind
		text     string
	}{
		"a login page":        {"/login?token=s3cr3t#s3cr3t", fault.NotGit, "probably a login page"},
		"a login page, far":   {"https://me:s3cr3t@sso.example.invalid/login?x=s3cr3t", fault.NotGit, "location https://sso.example.invalid/login"},
		"a file":              {"file:///etc/passwd", fault.Redirect, "away from the web"},
		"ext":                 {"ext::sh -c s3cr3t", fault.Redirect, "redirects"},
		"mail":                {"mailto:s3cr3t@example.invalid", fault.Redirect, "away from the web"},
		"ftp":                 {"ftp://example.invalid/a.git/info/refs", fault.Redirect, "away from the web"},
		"no URL":              {"http://[::1/s3cr3t/info/refs", fault.Redirect, "no URL"},
		"no location":         {"", fault.Redirect, "no URL"},
		"another path":        {"/a.git/info/refs/more", fault.NotGit, "no git repository"},
		"hidden in the query": {"/login?next=/info/refs", fault.NotGit, "no git repository"},
		"no host":             {"http:///info/refs", fault.Redirect, "away from the web"},
	} {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Redirect(302, c.location)})
		r := mustParse(t, s.URL+"/a.git")
		_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, nil), refs("HEAD"))
		if fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
			continue
		}
		e := wantFault(t, err, c.kind)
		wantText(t, err, c.text)
		if strings.Contains(fmt.Sprintf("%v %+v", err, *e), "s3cr3t") {
			t.Errorf("%s: the query is shown: %v", name, err)
		}
	}
}

func TestOrigin(t *testing.T) {
	for in, want := range map[string]string{
		"https://Git.Example.com:443/a": "https://git.example.com",
		"http://git.example.com:80":     "http://git.example.com",
		"http://git.example.com:443":    "http://git.example.com:443",
		"https://[::1]:443":             "https://[::1]",
		"https://[::1]:8443":            "https://[::1]:8443",
		"https://me:pw@git.example.com": "https://git.example.com",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := origin(u); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

func TestRedirectLoop(t *testing.T) {
	for _, code := range []int{301, 302, 303, 307, 308} {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.RedirectLoop(code)})
		_, err := read(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD"))
		wantText(t, wantFault(t, err, fault.Redirect), "more than 20 times")
		if n := s.Count(); n != 1+maxRedirects+1 {
			t.Errorf("%d: %d requests", code, n)
		}
	}
}

// The query of the target is not taken over; git's own is sent.
func TestRedirectQuery(t *testing.T) {
	for _, query := range []string{"", "?service=git-upload-pack", "?token=abc", "?service=git-receive-pack"} {
		s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{Middleware: gittest.Instead(func(r *http.Request) bool {
			return strings.HasPrefix(r.URL.Path, "/old/")
		}, gittest.Redirect(307, "/a.git/info/refs"+query))})
		only(t, mustRead(t, newTestClient(t, Config{}), s.URL+"/old", refs("refs/heads/main")), wantMain)
		for _, request := range s.Requests() {
			if got := request.Query.Encode(); request.Method == "GET" && got != "service=git-upload-pack" {
				t.Errorf("%q: asked with %q", query, got)
			}
		}
	}
}
