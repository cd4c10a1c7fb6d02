package lsremote

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Ids of the fixture repositories.
const (
	mainA  = "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"
	c1     = "27301587030f0eb318eb04f4f364a08b5aaa7073"
	c2     = "125014d5fd4336fc3180d34b1497e18ca0e7cedc"
	c3     = "53ece16ed327c0c21d5392ab1caeff021100d61e"
	tag110 = "436e3364e3cb07b36810e33df1df4c14d05243cc"
	tag120 = "be75db58f8427f7c4354362a2227fdb3fcdb0ae9"
	mainX  = "2e3dddbc83e02e2177ed9d18edbb2edb5063fc086051b25ad5b8c9a11f4d5f1f"
	tagX   = "57d7453c78087823a66afea4d480a3e745db9debbc7fc3ded1f7e792ccdcf366"
)

var wantMain = Ref{Name: "refs/heads/main", ID: mainA}

// only fails unless the advertisement holds exactly the one ref.
func only(t testing.TB, a *Advertisement, want Ref) {
	t.Helper()
	if len(a.Refs) != 1 || a.Refs[0] != want {
		t.Fatalf("got %+v, want %+v", a.Refs, want)
	}
}

// trail tells what a server was asked, such as "POST /a.git/git-upload-pack v2".
func trail(s *gittest.HTTP) []string {
	var all []string
	for _, r := range s.Requests() {
		line := r.Method + " " + r.Path
		if r.Header.Get("Git-Protocol") == "version=2" {
			line += " v2"
		}
		all = append(all, line)
	}
	s.Forget()
	return all
}

func wantTrail(t *testing.T, s *gittest.HTTP, want ...string) {
	t.Helper()
	if got := trail(s); strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Errorf("the server was asked:\n%s\nwant:\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
}

const (
	postA = "POST /a.git/git-upload-pack v2"
	getA  = "GET /a.git/info/refs v2"
)

// Trap 1 and 2: one round trip where the server allows it.
func TestHTTPOneRequest(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{})
	log := &entries{}
	c := newTestClient(t, Config{Log: log.add, UserAgent: "git/gitpin-1.2.3"})
	for range 2 {
		a := mustRead(t, c, s.URL+"/a.git", refs("refs/heads/main"))
		only(t, a, wantMain)
		if a.Protocol != 2 || a.ObjectFormat != "sha1" || a.Empty || a.ReadAt.IsZero() {
			t.Errorf("got %+v", a)
		}
		e := log.last(t)
		if e.Requests != 1 || e.Attempts != 1 || e.Protocol != 2 || e.RefsSeen != 1 || e.RefsKept != 1 ||
			e.BytesIn != 4+40+1+15+1+4 || e.BytesOut == 0 || e.Host != s.Addr() || e.Path != "/a.git" || e.Outcome != "" {
			t.Errorf("logged %+v", e)
		}
	}
	request := s.Requests()[0]
	if want := "0014command=ls-refs\n00010009peel\n000csymrefs\n001fref-prefix refs/heads/main\n0000"; request.Body != want {
		t.Errorf("sent %q", request.Body)
	}
	for name, want := range map[string]string{
		"User-Agent": "git/gitpin-1.2.3", "Accept": resultType, "Content-Type": "application/x-git-upload-pack-request",
		"Accept-Encoding": "gzip", "Authorization": "", "Idempotency-Key": "", "Cookie": "",
	} {
		if got := request.Header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	wantTrail(t, s, postA, postA)
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections for two readings", n)
	}
}

// Traps 5, 6, 7 and field cases 1, 2, 4, 5, 11, 13, in both protocol versions.
func TestHTTPNames(t *testing.T) {
	root := gittest.Repos(t)
	for name, o := range map[string]gittest.HTTPOptions{"v2": {}, "v0": {V0Only: true}, "no prefixes": {Middleware: gittest.IgnorePrefixes}} {
		s := gittest.ServeHTTP(t, root, o)
		c := newTestClient(t, Config{})
		for _, want := range []Ref{
			{Name: "HEAD", ID: mainA, Target: "refs/heads/main"},
			{Name: "refs/heads/HEAD", ID: c1},
			{Name: "refs/heads/main", ID: mainA},
			{Name: "refs/heads/tags/v1.0.0", ID: mainA},
			{Name: "refs/tags/v1.0.0", ID: c1},
			{Name: "refs/tags/v1.1.0", ID: tag110, Peeled: c2},
			{Name: "refs/tags/v1.2.0", ID: tag120, Peeled: c3},
			{Name: "refs/pull/7/head", ID: c2},
			{Name: "refs/heads/fix#42", ID: c2},
			{Name: "refs/heads/100%", ID: c2},
			{Name: "refs/heads/a%2Fb", ID: c2},
			{Name: "refs/heads/a+b", ID: c2},
			{Name: "refs/heads/user@host", ID: c2},
			{Name: "refs/heads/feature/foo", ID: c3},
		} {
			only(t, mustRead(t, c, s.URL+"/a.git", refs(want.Name)), want)
		}
		for _, gone := range []string{"refs/heads/Foo", "refs/heads/a/b", "refs/heads/mai", "refs/heads/v1.0.0"} {
			if a := mustRead(t, c, s.URL+"/a.git", refs(gone)); len(a.Refs) != 0 || a.Empty {
				t.Errorf("%s: %s: got %+v", name, gone, a)
			}
		}
		if a := mustRead(t, c, s.URL+"/a.git", prefix("refs/tags/")); len(a.Refs) != 6 {
			t.Errorf("%s: tags: got %+v", name, a.Refs)
		}
	}
}

// Trap 2: a proxy that takes the Git-Protocol header away. What is learnt
// about the origin is used for all its repositories.
func TestHTTPVersion0(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{V0Only: true})
	c := newTestClient(t, Config{})
	a := mustRead(t, c, s.URL+"/a.git", refs("refs/tags/v1.1.0"))
	only(t, a, Ref{Name: "refs/tags/v1.1.0", ID: tag110, Peeled: c2})
	if a.Protocol != 0 {
		t.Errorf("got %+v", a)
	}
	wantTrail(t, s, postA, getA)
	mustRead(t, c, s.URL+"/a.git", refs("HEAD"))
	mustRead(t, c, s.URL+"/s.git", Everything())
	wantTrail(t, s, getA, "GET /s.git/info/refs v2")
	if n := s.Connections(); n != 1 {
		t.Errorf("%d connections: short answers should be read to the end", n)
	}
}

// Of an answer of unknown length, which a stream of version 0 is, so much may
// follow as went by: after a short stream the connection is kept, after a long
// one it is given up, and the rest is not waited for.
func TestHTTPVersion0Rest(t *testing.T) {
	const rest = worthDraining - 20<<10
	lines := func(kind string, size int) []byte {
		var b bytes.Buffer
		for i := 0; b.Len() < size; i++ {
			b.Write(gittest.Pkt(fmt.Sprintf("%s refs/tags/%s-%06d\n", idB, kind, i)))
		}
		return b.Bytes()
	}
	for name, c := range map[string]struct{ before, connections int }{
		"short": {worthDraining / 4, 1},
		"long":  {worthDraining * 2, 2},
	} {
		ad := join(gittest.Pkt(idA+" HEAD"+someCaps), lines("a", c.before), gittest.Pkt(idA+" refs/tags/b"), lines("c", rest), []byte("0000"))
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gittest.IsPost(r) {
				w.WriteHeader(http.StatusNotFound)
				return
			}
			gittest.HTTPSteps(adType, gittest.Send(ad)).ServeHTTP(w, r)
		})})
		client := newTestClient(t, Config{})
		for range 2 {
			only(t, mustRead(t, client, s.URL+"/a.git", refs("refs/tags/b")), Ref{Name: "refs/tags/b", ID: idA})
		}
		if n := s.Connections(); n != c.connections {
			t.Errorf("%s: %d connections, want %d", name, n, c.connections)
		}
	}
}

// Trap 3 and field case 14: a SHA-256 repository answers the bare ls-refs with
// an empty body. It is the repository that is special and not the server.
func TestHTTPSHA256(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{})
	c := newTestClient(t, Config{})
	for range 2 {
		a := mustRead(t, c, s.URL+"/x.git", refs("refs/tags/v1.0.0"))
		only(t, a, Ref{Name: "refs/tags/v1.0.0", ID: tagX, Peeled: mainX})
		if a.ObjectFormat != "sha256" || a.Protocol != 2 {
			t.Errorf("got %+v", a)
		}
	}
	const post = "POST /x.git/git-upload-pack v2"
	wantTrail(t, s, post, "GET /x.git/info/refs v2", post, post)
	mustRead(t, c, s.URL+"/a.git", refs("HEAD"))
	wantTrail(t, s, postA)
}

// Trap 4 and field case 8.
func TestHTTPEmpty(t *testing.T) {
	root := gittest.Repos(t)
	for _, o := range []gittest.HTTPOptions{{}, {V0Only: true}} {
		s := gittest.ServeHTTP(t, root, o)
		c := newTestClient(t, Config{})
		for repo, format := range map[string]string{"e.git": "sha1", "xe.git": "sha256"} {
			a := mustRead(t, c, s.URL+"/"+repo, Everything())
			unborn := "refs/heads/main"
			if o.V0Only {
				// Version 0 cannot tell, and this git sends no capabilities
				// where there is no ref to put them on.
				unborn, format = "", "sha1"
			}
			if !a.Empty || len(a.Refs) != 0 || a.ObjectFormat != format || a.UnbornHead != unborn {
				t.Errorf("%s: got %+v", repo, a)
			}
			a = mustRead(t, c, s.URL+"/"+repo, refs("refs/heads/main"))
			if len(a.Refs) != 0 || a.Empty != o.V0Only || a.UnbornHead != "" {
				t.Errorf("%s, one branch: got %+v", repo, a)
			}
		}
	}
}

// Field case 7: HEAD points nowhere. It must not be guessed, and the branches
// must be there.
func TestHTTPUnbornHead(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{})
	c := newTestClient(t, Config{})
	const trunk = "0ee4b771cb79ed12bdedc26d06461983e62f7e9c"
	a := mustRead(t, c, s.URL+"/u.git", refs("HEAD", "refs/heads/trunk"))
	only(t, a, Ref{Name: "refs/heads/trunk", ID: trunk})
	if a.UnbornHead != "refs/heads/main" || a.Empty {
		t.Errorf("got %+v", a)
	}
	// The extra round trips are made for HEAD alone.
	s.Forget()
	mustRead(t, newTestClient(t, Config{}), s.URL+"/u.git", refs("refs/heads/gone"))
	wantTrail(t, s, "POST /u.git/git-upload-pack v2")
}

// Trap 5: a detached HEAD has an id and no target.
func TestHTTPDetachedHead(t *testing.T) {
	root := gittest.Repos(t)
	gittest.Detach(t, root+"/a.git", c2)
	for _, o := range []gittest.HTTPOptions{{}, {V0Only: true}} {
		s := gittest.ServeHTTP(t, root, o)
		only(t, mustRead(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD")), Ref{Name: "HEAD", ID: c2})
	}
}

// Field case 25: paths as Azure DevOps has them, and a server that refuses the
// POST in whatever form but serves info/refs.
func TestHTTPRefusedPost(t *testing.T) {
	root := gittest.Repos(t)
	for name, post := range map[string]http.Handler{
		"400":                gittest.Status(400, "multi_ack is required"),
		"404":                gittest.Status(404, ""),
		"405":                gittest.Status(405, ""),
		"500":                gittest.Status(500, ""),
		"501":                gittest.Status(501, ""),
		"a web page":         gittest.HTML("<html>login</html>"),
		"no content":         gittest.Answer(resultType, nil),
		"a login redirect":   gittest.Redirect(302, "/login?token=s3cr3t"),
		"the wrong type":     gittest.Answer(adType, pkts(idA+" refs/heads/main")),
		"an error packet":    gittest.Answer(resultType, pkts("ERR unknown command")),
		"cut off":            gittest.Answer(resultType, pkts(idA + " refs/heads/main")[:64]),
		"a broken line":      gittest.Answer(resultType, pkts("refs/heads/main")),
		"lengths of nothing": gittest.Answer(resultType, []byte("zzzz")),
	} {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: gittest.Instead(gittest.IsPost, post)})
		c := newTestClient(t, Config{})
		a, err := read(t, c, s.URL+"/a.git", refs("refs/heads/main"))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		only(t, a, wantMain)
		wantTrail(t, s, postA, getA, postA, "GET /a.git/info/refs")
		// It is remembered for this repository.
		only(t, mustRead(t, c, s.URL+"/a.git", refs("refs/heads/main")), wantMain)
		wantTrail(t, s, "GET /a.git/info/refs")
	}
}

// A server that wants its capabilities read first is asked so from then on.
func TestHTTPLearnsOrder(t *testing.T) {
	minimal := func(r *http.Request) bool { return gittest.IsPost(r) && r.ContentLength < 90 }
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{Middleware: gittest.Instead(minimal, gittest.Status(400, ""))})
	c := newTestClient(t, Config{})
	only(t, mustRead(t, c, s.URL+"/a.git", refs("refs/heads/main")), wantMain)
	wantTrail(t, s, postA, getA, postA)
	mustRead(t, c, s.URL+"/s.git", refs("HEAD"))
	wantTrail(t, s, "GET /s.git/info/refs v2", "POST /s.git/git-upload-pack v2")
	mustRead(t, c, s.URL+"/a.git", refs("HEAD"))
	wantTrail(t, s, postA)
}

// "One that answers v0 to a v2 request on POST": its lines look like those of
// version 2, but the peeled ids would be lost.
func TestHTTPVersion0OnPost(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{Middleware: gittest.V0OnPost})
	c := newTestClient(t, Config{})
	only(t, mustRead(t, c, s.URL+"/a.git", refs("refs/tags/v1.1.0")), Ref{Name: "refs/tags/v1.1.0", ID: tag110, Peeled: c2})
}

// Trap 9: the banner before version 2, with and without other lines in it.
func TestHTTPBanner(t *testing.T) {
	capsAd := pkts("version 2", "ls-refs=unborn", "object-format=sha1")
	v0 := pkts(idA+" HEAD"+someCaps, idA+" refs/heads/main")
	answer := gittest.Answer(resultType, pkts(idA+" refs/heads/main"))
	for name, ad := range map[string][]byte{
		"none":         capsAd,
		"GitHub's":     join(pkts("# service=git-upload-pack"), capsAd),
		"more lines":   join(pkts("# service=git-upload-pack", "hello"), capsAd),
		"none, v0":     v0,
		"git's, v0":    join(pkts("# service=git-upload-pack"), v0),
		"git's, v1":    join(pkts("# service=git-upload-pack"), pkts("version 1", idA+" HEAD"+someCaps, idA+" refs/heads/main")),
		"no LF at all": join(gittest.Pkt("# service=git-upload-pack"), []byte("0000"), gittest.Pkt("version 2"), gittest.Pkt("ls-refs"), []byte("0000")),
	} {
		first := true
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			switch {
			case gittest.IsGet(r):
				gittest.Answer(adType+"; charset=utf-8", ad).ServeHTTP(w, r)
			case first:
				first = false
				w.WriteHeader(400)
			default:
				answer.ServeHTTP(w, r)
			}
		})})
		a, err := read(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("refs/heads/main"))
		if err != nil || len(a.Refs) != 1 || a.Refs[0].ID != idA {
			t.Errorf("%s: got %+v, %v", name, a, err)
		}
	}
}

// Trap 10: what the second answer may be, after the first was refused.
func TestHTTPBadAdvertisement(t *testing.T) {
	for name, c := range map[string]struct {
		get  http.Handler
		kind fault.Kind
		text string
	}{
		"no flush":             {gittest.Answer(adType, gittest.Pkt(idA+" HEAD\x00x")), fault.Protocol, "ended between two packets"},
		"empty":                {gittest.Answer(adType, nil), fault.Protocol, "before its first byte"},
		"banner only":          {gittest.Answer(adType, pkts("# service=git-upload-pack")), fault.Protocol, "ended between two packets"},
		"no ls-refs":           {gittest.Answer(adType, pkts("version 2", "fetch")), fault.Protocol, "has no ls-refs"},
		"a web page":           {gittest.HTML("<!DOCTYPE html>\n" + idA + "\trefs/heads/main"), fault.NotGit, "probably a login page"},
		"a page, wrong type":   {gittest.Answer("text/plain", []byte("<HTML>")), fault.NotGit, "probably a login page"},
		"dumb":                 {gittest.Answer("text/plain", []byte(idA+"\trefs/heads/main\n")), fault.NotGit, "dumb HTTP"},
		"the type of a result": {gittest.Answer(resultType, pkts(idA+" HEAD\x00x")), fault.NotGit, "not that of a git server"},
		"no type":              {gittest.Answer("", pkts(idA+" HEAD\x00x")), fault.NotGit, "not that of a git server"},
		"no packets":           {gittest.Answer(adType, []byte("hello world")), fault.NotGit, "does not speak git's protocol"},
		"an error packet":      {gittest.Answer(adType, pkts("ERR Repository not found")), fault.NotFound, "refused"},
		"no content":           {gittest.Status(204, ""), fault.NotGit, "204 No Content"},
		"partial content":      {gittest.Status(206, ""), fault.NotGit, "206 Partial Content"},
		"a strange status":     {gittest.Status(418, ""), fault.NotGit, "418"},
	} {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if gittest.IsGet(r) {
				c.get.ServeHTTP(w, r)
				return
			}
			gittest.Answer(resultType, nil).ServeHTTP(w, r)
		})})
		log := &entries{}
		_, err := read(t, newTestClient(t, Config{Log: log.add}), s.URL+"/a.git", refs("refs/heads/main"))
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantFault(t, err, c.kind)
		if e := log.last(t); e.Outcome != c.kind || e.RefsKept != 0 {
			t.Errorf("%s: logged %+v", name, e)
		}
	}
}

// If both ways fail, both are reported.
func TestHTTPBothFail(t *testing.T) {
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Middleware: gittest.Instead(gittest.IsPost, gittest.Status(405, "")),
		Handler: gittest.HTML("<html>")})
	_, err := read(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.NotGit), "web page", "the direct ls-refs request before it failed too", "405 Method Not Allowed")
}

// Field case 25: paths keep their encoding; one trailing slash is joined, two
// are sent as they are.
func TestHTTPPaths(t *testing.T) {
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Answer(resultType, pkts(idA+" HEAD"))})
	for path, want := range map[string]string{
		"/o/My%20Proj/_git/r": "/o/My%20Proj/_git/r/git-upload-pack",
		"/a.git/":             "/a.git/git-upload-pack",
		"/a.git//":            "/a.git//git-upload-pack",
		"/a%2Fb/c%2fd.git":    "/a%2Fb/c%2fd.git/git-upload-pack",
		"/~user/a+b%40c.git":  "/~user/a+b%40c.git/git-upload-pack",
		"/%E2%82%AC(1)'.git":  "/%E2%82%AC(1)'.git/git-upload-pack",
	} {
		mustRead(t, newTestClient(t, Config{}), s.URL+path, refs("HEAD"))
		wantTrail(t, s, "POST "+want+" v2")
	}
}
