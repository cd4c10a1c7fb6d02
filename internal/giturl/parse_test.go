package giturl

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// accepted are URLs of every form with what is to be made of them.
var accepted = []struct {
	text      string
	want      Remote
	canonical string
	address   string
}{
	// http and https.
	{"https://git.example.com/acme/app.git", Remote{Scheme: HTTPS, Host: "git.example.com", Path: "/acme/app.git"}, "https://git.example.com/acme/app.git", "git.example.com:443"},
	{"http://git.example.com/acme/app", Remote{Scheme: HTTP, Host: "git.example.com", Path: "/acme/app"}, "http://git.example.com/acme/app", "git.example.com:80"},
	{"HTTPS://GIT.Example.COM/Acme/App.git", Remote{Scheme: HTTPS, Host: "git.example.com", Path: "/Acme/App.git"}, "https://git.example.com/Acme/App.git", "git.example.com:443"},
	{"https://h.example:443/r", Remote{Scheme: HTTPS, Host: "h.example", Path: "/r"}, "https://h.example/r", "h.example:443"},
	{"https://h.example:0443/r", Remote{Scheme: HTTPS, Host: "h.example", Path: "/r"}, "https://h.example/r", "h.example:443"},
	{"https://h.example:/r", Remote{Scheme: HTTPS, Host: "h.example", Path: "/r"}, "https://h.example/r", "h.example:443"},
	{"http://h.example:443/r", Remote{Scheme: HTTP, Host: "h.example", Port: 443, Path: "/r"}, "http://h.example:443/r", "h.example:443"},
	{"https://h.example:8443/g/sub/r", Remote{Scheme: HTTPS, Host: "h.example", Port: 8443, Path: "/g/sub/r"}, "https://h.example:8443/g/sub/r", "h.example:8443"},
	{"https://acme@dev.example.com/acme/p/_git/r", Remote{Scheme: HTTPS, User: "acme", Host: "dev.example.com", Path: "/acme/p/_git/r"}, "https://dev.example.com/acme/p/_git/r", "dev.example.com:443"},
	{"https://a%40b.example@h.example/r", Remote{Scheme: HTTPS, User: "a@b.example", Host: "h.example", Path: "/r"}, "https://h.example/r", "h.example:443"},
	{"https://h.example/o/My%20Proj/_git/r", Remote{Scheme: HTTPS, Host: "h.example", Path: "/o/My%20Proj/_git/r"}, "https://h.example/o/My%20Proj/_git/r", "h.example:443"},
	{"https://h.example/o/My%20Proj/_git/r/", Remote{Scheme: HTTPS, Host: "h.example", Path: "/o/My%20Proj/_git/r"}, "https://h.example/o/My%20Proj/_git/r", "h.example:443"},
	{"https://h.example/r//", Remote{Scheme: HTTPS, Host: "h.example", Path: "/r/"}, "https://h.example/r//", "h.example:443"},
	{"https://h.example//r", Remote{Scheme: HTTPS, Host: "h.example", Path: "//r"}, "https://h.example//r", "h.example:443"},
	{"https://h.example/a%2Fb/r%2f", Remote{Scheme: HTTPS, Host: "h.example", Path: "/a%2Fb/r%2f"}, "https://h.example/a%2Fb/r%2f", "h.example:443"},
	{"https://h.example/~u/%7Eu/a+b:c;d=e,f", Remote{Scheme: HTTPS, Host: "h.example", Path: "/~u/%7Eu/a+b:c;d=e,f"}, "https://h.example/~u/%7Eu/a+b:c;d=e,f", "h.example:443"},
	{"https://h.example/ünï[x]", Remote{Scheme: HTTPS, Host: "h.example", Path: "/%C3%BCn%C3%AF%5Bx%5D"}, "https://h.example/%C3%BCn%C3%AF%5Bx%5D", "h.example:443"},
	{"https://h.example/latin1-%FC", Remote{Scheme: HTTPS, Host: "h.example", Path: "/latin1-%FC"}, "https://h.example/latin1-%FC", "h.example:443"},
	{"https://h.example/a%40b/%3F%23%25", Remote{Scheme: HTTPS, Host: "h.example", Path: "/a%40b/%3F%23%25"}, "https://h.example/a%40b/%3F%23%25", "h.example:443"},
	{"https://h.example/.git/..x/r...", Remote{Scheme: HTTPS, Host: "h.example", Path: "/.git/..x/r..."}, "https://h.example/.git/..x/r...", "h.example:443"},
	{"https://127.0.0.1:8443/r", Remote{Scheme: HTTPS, Host: "127.0.0.1", Port: 8443, Path: "/r"}, "https://127.0.0.1:8443/r", "127.0.0.1:8443"},
	{"https://[::1]:8443/r", Remote{Scheme: HTTPS, Host: "::1", Port: 8443, Path: "/r"}, "https://[::1]:8443/r", "[::1]:8443"},
	{"https://[2001:DB8:0:0::1]/r", Remote{Scheme: HTTPS, Host: "2001:db8::1", Path: "/r"}, "https://[2001:db8::1]/r", "[2001:db8::1]:443"},
	{"https://[fe80::1%25eth0]/r", Remote{Scheme: HTTPS, Host: "fe80::1%eth0", Path: "/r"}, "https://[fe80::1%25eth0]/r", "[fe80::1%eth0]:443"},
	{"https://Bücher.example/r", Remote{Scheme: HTTPS, Host: "xn--bcher-kva.example", Path: "/r"}, "https://xn--bcher-kva.example/r", "xn--bcher-kva.example:443"},
	{"https://under_score.example./r", Remote{Scheme: HTTPS, Host: "under_score.example.", Path: "/r"}, "https://under_score.example./r", "under_score.example.:443"},

	// ssh URLs.
	{"ssh://git@h.example/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"git+ssh://git@h.example/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"ssh+git://git@h.example/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"SSH://git@H.Example/g/r.git/", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"ssh://git@h.example:22/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"ssh://git@h.example:2222/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Port: 2222, Path: "/g/r.git"}, "ssh://git@h.example:2222/g/r.git", "h.example:2222"},
	{"ssh://APKAEXAMPLE@h.example/v1/repos/r", Remote{Scheme: SSH, User: "APKAEXAMPLE", Host: "h.example", Path: "/v1/repos/r"}, "ssh://APKAEXAMPLE@h.example/v1/repos/r", "h.example:22"},
	{"ssh://APKAEIBAERJR2EXAMPLEX@h.example/v1/repos/r", Remote{Scheme: SSH, User: "APKAEIBAERJR2EXAMPLEX", Host: "h.example", Path: "/v1/repos/r"}, "ssh://APKAEIBAERJR2EXAMPLEX@h.example/v1/repos/r", "h.example:22"},
	{"ssh://h.example/r.git", Remote{Scheme: SSH, Host: "h.example", Path: "/r.git"}, "ssh://h.example/r.git", "h.example:22"},
	{"ssh://a%40b@h.example/r.git", Remote{Scheme: SSH, User: "a@b", Host: "h.example", Path: "/r.git"}, "ssh://a%40b@h.example/r.git", "h.example:22"},
	{"ssh://git@h.example/~u/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "~u/r.git"}, "ssh://git@h.example/~u/r.git", "h.example:22"},
	{"ssh://git@h.example/~/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "~/r.git"}, "ssh://git@h.example/~/r.git", "h.example:22"},
	{"ssh://git@h.example/%7Eu/r%20x.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "~u/r x.git"}, "ssh://git@h.example/~u/r%20x.git", "h.example:22"},
	{"ssh://git@h.example/a b", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/a b"}, "ssh://git@h.example/a%20b", "h.example:22"},
	{"ssh://git@h.example/r//", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/r/"}, "ssh://git@h.example/r//", "h.example:22"},
	{"git@h.example:r//", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "r/"}, "git@h.example:r//", "h.example:22"},
	{"ssh://git@h.example/%2Fr", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "//r"}, "ssh://git@h.example//r", "h.example:22"},
	{"ssh://git@h.example/a%25%3F%23%40ü", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/a%?#@ü"}, "ssh://git@h.example/a%25%3F%23%40%C3%BC", "h.example:22"},
	{"ssh://git@h.example/-x", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/-x"}, "ssh://git@h.example/-x", "h.example:22"},
	{"ssh://git@[::1]:2222/r", Remote{Scheme: SSH, User: "git", Host: "::1", Port: 2222, Path: "/r"}, "ssh://git@[::1]:2222/r", "[::1]:2222"},
	{"ssh://[::1]/r", Remote{Scheme: SSH, Host: "::1", Path: "/r"}, "ssh://[::1]/r", "[::1]:22"},
	{"ssh://git@[fe80::1%25eth0]/r", Remote{Scheme: SSH, User: "git", Host: "fe80::1%eth0", Path: "/r"}, "ssh://git@[fe80::1%25eth0]/r", "[fe80::1%eth0]:22"},

	// The scp form: nothing is decoded, a number after the colon is a path.
	{"git@h.example:/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/g/r.git"}, "ssh://git@h.example/g/r.git", "h.example:22"},
	{"git@h.example:g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "g/r.git"}, "git@h.example:g/r.git", "h.example:22"},
	{"git@H.Example:g/R.git/", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "g/R.git"}, "git@h.example:g/R.git", "h.example:22"},
	{"h.example:r.git", Remote{Scheme: SSH, Host: "h.example", Path: "r.git"}, "h.example:r.git", "h.example:22"},
	{"git@h.example:2222/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "2222/g/r.git"}, "git@h.example:2222/g/r.git", "h.example:22"},
	{"git@h.example:2222:g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "2222:g/r.git"}, "git@h.example:2222:g/r.git", "h.example:22"},
	{"[git@h.example:2222]:g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Port: 2222, Path: "g/r.git"}, "[git@h.example:2222]:g/r.git", "h.example:2222"},
	{"git@[h.example:2222]:g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Port: 2222, Path: "g/r.git"}, "[git@h.example:2222]:g/r.git", "h.example:2222"},
	{"[a@b@h.example:2222]:r", Remote{Scheme: SSH, User: "a@b", Host: "h.example", Port: 2222, Path: "r"}, "[a@b@h.example:2222]:r", "h.example:2222"},
	{"[h.example:2222]:g/r.git", Remote{Scheme: SSH, Host: "h.example", Port: 2222, Path: "g/r.git"}, "[h.example:2222]:g/r.git", "h.example:2222"},
	{"[git@h.example:22]:g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "g/r.git"}, "git@h.example:g/r.git", "h.example:22"},
	{"[git@h.example:2222]:/g/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Port: 2222, Path: "/g/r.git"}, "ssh://git@h.example:2222/g/r.git", "h.example:2222"},
	{"[git@h.example:2222]:~u/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Port: 2222, Path: "~u/r.git"}, "ssh://git@h.example:2222/~u/r.git", "h.example:2222"},
	{"git@h.example:~u/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "~u/r.git"}, "ssh://git@h.example/~u/r.git", "h.example:22"},
	{"git@h.example:/~u/r.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "~u/r.git"}, "ssh://git@h.example/~u/r.git", "h.example:22"},
	{"git@h.example:r%20x.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "r%20x.git"}, "git@h.example:r%20x.git", "h.example:22"},
	{"git@h.example:/r%20x.git", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/r%20x.git"}, "ssh://git@h.example/r%2520x.git", "h.example:22"},
	{"git@h.example:a?b#c", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "a?b#c"}, "git@h.example:a?b#c", "h.example:22"},
	{"git@h.example:/a?b#c", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "/a?b#c"}, "ssh://git@h.example/a%3Fb%23c", "h.example:22"},
	{"git@h.example:a b", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "a b"}, "git@h.example:a b", "h.example:22"},
	{"git@h.example:g/u@x/r", Remote{Scheme: SSH, User: "git", Host: "h.example", Path: "g/u@x/r"}, "git@h.example:g/u@x/r", "h.example:22"},
	{"a%40b@h.example:r", Remote{Scheme: SSH, User: "a%40b", Host: "h.example", Path: "r"}, "a%40b@h.example:r", "h.example:22"},
	{"a@b@h.example:r", Remote{Scheme: SSH, User: "a@b", Host: "h.example", Path: "r"}, "a@b@h.example:r", "h.example:22"},
	{"git@[::1]:r", Remote{Scheme: SSH, User: "git", Host: "::1", Path: "r"}, "git@[::1]:r", "[::1]:22"},
	{"[git@::1]:r", Remote{Scheme: SSH, User: "git", Host: "::1", Path: "r"}, "git@[::1]:r", "[::1]:22"},
	{"[::1]:/r", Remote{Scheme: SSH, Host: "::1", Path: "/r"}, "ssh://[::1]/r", "[::1]:22"},
	{"git@[fe80::1%eth0]:r", Remote{Scheme: SSH, User: "git", Host: "fe80::1%eth0", Path: "r"}, "git@[fe80::1%eth0]:r", "[fe80::1%eth0]:22"},
	{"c:x", Remote{Scheme: SSH, Host: "c", Path: "x"}, "c:x", "c:22"},

	// git://
	{"git://h.example/g/r.git", Remote{Scheme: Git, Host: "h.example", Path: "/g/r.git"}, "git://h.example/g/r.git", "h.example:9418"},
	{"git://h.example:9418/~u/r%20x", Remote{Scheme: Git, Host: "h.example", Path: "~u/r x"}, "git://h.example/~u/r%20x", "h.example:9418"},
	{"git://[::1]:9419/r", Remote{Scheme: Git, Host: "::1", Port: 9419, Path: "/r"}, "git://[::1]:9419/r", "[::1]:9419"},

	// Files.
	{"/srv/git/app.git/", Remote{Scheme: File, Path: "/srv/git/app.git"}, "file:///srv/git/app.git", ""},
	{"/r", Remote{Scheme: File, Path: "/r"}, "file:///r", ""},
	{"/srv/a%20b?c#d@e", Remote{Scheme: File, Path: "/srv/a%20b?c#d@e"}, "file:///srv/a%2520b%3Fc%23d%40e", ""},
	{"file:///srv/a%20b?c#d", Remote{Scheme: File, Path: "/srv/a b?c#d"}, "file:///srv/a%20b%3Fc%23d", ""},
	{"file:///srv/../x", Remote{Scheme: File, Path: "/srv/../x"}, "file:///srv/../x", ""},
	{"FILE://localhost/srv/r", Remote{Scheme: File, Path: "/srv/r"}, "file:///srv/r", ""},
	{`C:\src\app`, Remote{Scheme: File, Path: "C:/src/app"}, "file:///C:/src/app", ""},
	{"C:/src/app/", Remote{Scheme: File, Path: "C:/src/app"}, "file:///C:/src/app", ""},
	{"file:///C:/src/app", Remote{Scheme: File, Path: "C:/src/app"}, "file:///C:/src/app", ""},
}

func TestParse(t *testing.T) {
	for _, c := range accepted {
		t.Run(c.text, func(t *testing.T) {
			got, err := Parse(c.text)
			if err != nil {
				t.Fatal(err)
			}
			want := c.want
			want.text = c.text
			if got != want {
				t.Errorf("got %+v, want %+v", got, want)
			}
			if got.String() != c.text {
				t.Errorf("String() = %q", got.String())
			}
			if got.Canonical() != c.canonical {
				t.Errorf("Canonical() = %q, want %q", got.Canonical(), c.canonical)
			}
			if got.Address() != c.address {
				t.Errorf("Address() = %q, want %q", got.Address(), c.address)
			}
			if want := string(c.want.Scheme) + "://" + c.address; got.Origin() != want {
				t.Errorf("Origin() = %q, want %q", got.Origin(), want)
			}
			if got.RepoArg() != c.want.Path {
				t.Errorf("RepoArg() = %q, want %q", got.RepoArg(), c.want.Path)
			}
			checkRoundTrip(t, got)
		})
	}
}

// checkRoundTrip parses the canonical form, which must give the same remote.
func checkRoundTrip(t *testing.T, r Remote) {
	t.Helper()
	again, err := Parse(r.Canonical())
	if err != nil {
		t.Fatalf("the canonical form %q of %q does not parse: %v", r.Canonical(), r, err)
	}
	if again.Canonical() != r.Canonical() {
		t.Errorf("%q: canonical %q, then %q", r, r.Canonical(), again.Canonical())
	}
	again.text = r.text
	if r.Scheme == HTTP || r.Scheme == HTTPS {
		again.User = r.User
	}
	if again != r {
		t.Errorf("%q: parsed back to %+v, want %+v", r, again, r)
	}
}

func TestSpellingsOfOneRemote(t *testing.T) {
	for _, same := range [][]string{
		{"https://h.example/r", "HTTPS://H.EXAMPLE:443/r/", "https://acme@h.example/r"},
		{"ssh://git@h.example/g/r.git", "git@h.example:/g/r.git", "git+ssh://git@h.example:22/g/r.git/", "[git@h.example:22]:/g/r.git"},
		{"ssh://git@h.example/~u/r", "git@h.example:~u/r", "git@h.example:/~u/r", "ssh://git@h.example/%7Eu/r"},
		{"/srv/r", "file:///srv/r", "file://localhost/srv/r/"},
	} {
		first, err := Parse(same[0])
		if err != nil {
			t.Fatal(err)
		}
		for _, text := range same[1:] {
			if r, err := Parse(text); err != nil || r.Canonical() != first.Canonical() {
				t.Errorf("%q is %q (%v), want %q", text, r.Canonical(), err, first.Canonical())
			}
		}
	}
	for _, differ := range [][2]string{
		{"https://h.example/r", "https://h.example/r.git"},
		{"https://h.example/r", "http://h.example/r"},
		{"https://h.example/r", "https://h.example/R"},
		{"https://h.example/r", "https://h.example:8443/r"},
		{"ssh://git@h.example/r", "ssh://other@h.example/r"},
		{"ssh://git@h.example/r", "ssh://h.example/r"},
		{"git@h.example:r", "git@h.example:/r"},
		{"git@h.example:2222/r", "ssh://git@h.example:2222/r"},
	} {
		a, errA := Parse(differ[0])
		b, errB := Parse(differ[1])
		if errA != nil || errB != nil || a.Canonical() == b.Canonical() {
			t.Errorf("%q and %q have one canonical form %q (%v, %v)", differ[0], differ[1], a.Canonical(), errA, errB)
		}
	}
}

func TestHTTPURL(t *testing.T) {
	for text, want := range map[string]string{
		"https://acme@h.example/o/My%20Proj/_git/r/": "https://h.example/o/My%20Proj/_git/r/info/refs",
		"https://h.example:8443/a%2Fb/%7eu/r%2f":     "https://h.example:8443/a%2Fb/%7eu/r%2f/info/refs",
		"https://h.example/r//":                      "https://h.example/r//info/refs",
		"https://h.example/ü/(a)[b]":                 "https://h.example/%C3%BC/(a)%5Bb%5D/info/refs",
		"https://h.example/latin1-%FC%2B+":           "https://h.example/latin1-%FC%2B+/info/refs",
		"http://[::1]:8080/r":                        "http://[::1]:8080/r/info/refs",
		"http://[fe80::1%25eth0]/r":                  "http://[fe80::1%25eth0]/r/info/refs",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		u := r.HTTPURL("/info/refs")
		if u.String() != want {
			t.Errorf("HTTPURL of %q = %q, want %q", text, u, want)
		}
		if u.User != nil {
			t.Errorf("HTTPURL of %q holds a user", text)
		}
	}
}

// refused are texts with what their error must say.
var refused = []struct {
	text string
	says []string
}{
	{"", []string{"the URL is empty"}},
	{" https://h.example/r", []string{"starts or ends with white space", "trimspace()"}},
	{"https://h.example/r\n", []string{"starts or ends with white space"}},
	{"https://h.example/a\nb", []string{"line break"}},
	{"https://h.example/a\x00b", []string{"cannot be seen"}},
	{"https://h.example/zero\u200bwidth", []string{"cannot be seen"}},
	{"https://h.example/nbsp\u00a0x", []string{"cannot be seen"}},
	{"git@h.example:a\tb", []string{"a tab"}},
	{"https://h.example/\xff", []string{"not valid UTF-8"}},
	{"https://h.example/" + strings.Repeat("x", maxLength), []string{"longer than 4096 bytes. "}},
	{"https://h.example/" + strings.Repeat("ü", maxLength/3), []string{"longer than 4096 bytes once it is encoded"}},

	// No URL at all.
	{"./app", []string{"neither a URL nor an absolute path", "${abspath(path.module)}/…"}},
	{"../app", []string{"${abspath(path.module)}/…"}},
	{"app", []string{"neither a URL"}},
	{"a/b:c", []string{"neither a URL"}},
	{"~/app", []string{"neither a URL"}},
	{"git.example.com/acme/app", []string{"https://host/path", `If "git.example.com" is a host, write "https://git.example.com/acme/app".`}},
	{"git@h.example", []string{"user@host:path"}},
	{`\\server\share\r`, []string{"neither a URL"}},

	// Schemes and helpers.
	{"ftp://h.example/r", []string{"scheme is not supported", "https, http, ssh"}},
	{"rsync://h.example/r", []string{"scheme is not supported"}},
	{"svn+ssh://h.example/r", []string{"scheme is not supported"}},
	{"ext::sh -c id", []string{"remote helper"}},
	{"git::https://h.example/r", []string{"remote helper", `"git::https://…" is "https://…" here`}},
	{"http::https://h.example/r", []string{"remote helper"}},
	{"::1:r", []string{"two colons"}},

	// Users and passwords.
	{"https://acme:pw@h.example/r", []string{"holds a password", "credentials"}},
	{"https://acme:@h.example/r", []string{"holds a password"}},
	{"https://:pw@h.example/r", []string{"holds a password"}},
	{"https://acme%3Apw@h.example/r", []string{"holds a password"}},
	{"ssh://acme:pw@h.example/r", []string{"holds a password"}},
	{"git://acme@h.example/r", []string{"no user"}},
	{"https://@h.example/r", []string{"user name before the '@' is empty"}},
	{"ssh://@h.example/r", []string{"user name before the '@' is empty"}},
	{"@h.example:r", []string{"user name before the '@' is empty"}},
	{"https://a%zz@h.example/r", []string{"not percent-encoded rightly"}},
	{"ssh://a b@h.example/r", []string{"user name holds a space"}},
	{"ssh://a%0Ab@h.example/r", []string{"user name holds"}},
	{"ssh://a%2Fb@h.example/r", []string{"user name holds"}},
	{"https://a@b@h.example/r", []string{"has an '@' after the one", "%40"}},
	{"https://h.example/a@b", []string{"has an '@'", "%40"}},
	{"acme:pw@h.example/r", []string{"an '@' follows the first colon", "scheme is missing"}},
	{"acme:s3/cr3t@h.example/r", []string{"an '@' follows the first colon"}},
	{"me@corp.example:pw@h.example/r", []string{"an '@' follows the first colon"}},

	// Option injection (CVE-2017-1000117).
	{"ssh://-oProxyCommand=x/r", []string{"host starts with '-'"}},
	{"ssh://git@-oProxyCommand=x/r", []string{"host starts with '-'"}},
	{"git://-h/r", []string{"host starts with '-'"}},
	{"https://-h/r", []string{"host starts with '-'"}},
	{"-oProxyCommand=x:r", []string{"host starts with '-'"}},
	{"git@-h:r", []string{"host starts with '-'"}},
	{"ssh://-x@h.example/r", []string{"user name starts with '-'"}},
	{"ssh://%2Dx@h.example/r", []string{"user name starts with '-'"}},
	{"-x@h.example:r", []string{"user name starts with '-'"}},
	{"[-x@h.example:22]:r", []string{"user name starts with '-'"}},
	{"git@h.example:-x", []string{"path starts with '-'"}},

	// Host and port.
	{"https:///r", []string{"names no host"}},
	{"ssh://:22/r", []string{"names no host"}},
	{"git@:r", []string{"names no host"}},
	{"https://h.example:0/r", []string{"no port (1 to 65535)"}},
	{"https://h.example:65536/r", []string{"no port"}},
	{"https://h.example:+80/r", []string{"no port"}},
	{"https://h.example:80:80/r", []string{"no port"}},
	{"ssh://h.example:g/r.git", []string{"no port", "user@host:path"}},
	{"https://git@h.example:g/r.git", []string{"no port"}},
	{"ssh://git@h.example:g/r.git", []string{"ssh://git@h.example/g/r.git", "git@h.example:g/r.git"}},
	{"ssh://git@h.example:g", []string{"ssh://git@h.example/g,", "git@h.example:g "}},
	{"ssh://jane@h.example:g/r.git", []string{"ssh://<user>@<host>/<path>", "<user>@<host>:<path>"}},
	{"ssh://git@h.example:99999/r.git", []string{"no port"}},
	{"ssh://::1/r", []string{"names no host"}},
	{"ssh://[::1/r", []string{"brackets"}},
	{"ssh://[::1]x/r", []string{"brackets"}},
	{"ssh://[h.example]/r", []string{"no IPv6 address"}},
	{"ssh://[git@::1]/r", []string{"Check the part before the '@'"}},
	{"https://[fe80::1%eth0]/r", []string{"%25eth0"}},
	{"https://[fe80::1%25]/r", []string{"no IPv6 address"}},
	{"https://[127.0.0.1]/r", []string{"no IPv6 address"}},
	{"[git@h.example:22:r", []string{"brackets"}},
	{"[git@h.example]r:x", []string{"brackets"}},
	{"[h.example:22:33]:r", []string{"no port"}},
	{"https://h%2Eexample/r", []string{"host may only have"}},
	{"https://h..example/r", []string{"host may only have"}},
	{"https://.h.example/r", []string{"host may only have"}},
	{"https://h example/r", []string{"host may only have"}},
	{`https://h\x/r`, []string{"host may only have"}},
	{"https://" + strings.Repeat("x", 254) + "/r", []string{"host may only have"}},
	{"https://℀.example/r", []string{"punycode"}},

	// Paths.
	{"https://h.example", []string{"names no repository"}},
	{"https://h.example/", []string{"names no repository"}},
	{"https://h.example//", []string{"names no repository"}},
	{"ssh://git@h.example/", []string{"names no repository"}},
	{"git@h.example:", []string{"names no repository"}},
	{"git@h.example:/", []string{"names no repository"}},
	{"git://h.example", []string{"names no repository"}},
	{"/", []string{"names no repository"}},
	{"file:///", []string{"names no repository"}},
	{"C:/", []string{"names no repository"}},
	{"https://h.example/a b", []string{"Write %20"}},
	{"https://h.example/a%zz", []string{"Write %25"}},
	{"ssh://h.example/a%2", []string{"Write %25"}},
	{"file:///a%zz", []string{"Write %25"}},
	{"https://h.example/a%00b", []string{"cannot be seen"}},
	{"https://h.example/a%0Ab", []string{"line break"}},
	{"ssh://h.example/a%0Ab", []string{"line break"}},
	{"ssh://h.example/a%00b", []string{"cannot be seen"}},
	{"ssh://h.example/a%FFb", []string{"not UTF-8"}},
	{"file:///a%00b", []string{"cannot be seen"}},
	{"https://h.example/acme/../other/r", []string{"segment '.' or '..'"}},
	{"https://h.example/acme/%2e%2E/other/r", []string{"segment '.' or '..'"}},
	{"https://h.example/acme%2F..%2Fother/r", []string{"segment '.' or '..'"}},
	{"ssh://h.example/acme/../other/r", []string{"segment '.' or '..'"}},
	{"git@h.example:../r", []string{"segment '.' or '..'"}},
	{"git@h.example:./r", []string{"segment '.' or '..'"}},
	{"git@h.example::r", []string{"starts with a colon"}},
	{`git@h.example:\r`, []string{"backslash"}},
	{"git@h.example: r", []string{"set off by a space"}},
	{"git@h.example:r /", []string{"set off by a space"}},
	{"file://h.example/r", []string{"absolute path and no host"}},
	{"file://", []string{"absolute path and no host"}},
	{"file://rel/r", []string{"absolute path and no host"}},
	{"//h.example/r", []string{"two slashes"}},

	// Query and fragment.
	{"https://h.example/r?x=1", []string{"a query", "?***"}},
	{"https://h.example?x=1", []string{"a query"}},
	{"https://h.example/r?", []string{"a query"}},
	{"https://h.example/r#main", []string{"fragment", "#***", "ref into branch, tag or ref"}},
	{"ssh://h.example/r?x=1", []string{"a query"}},
	{"git://h.example/r#x", []string{"fragment"}},
}

func TestParseRefuses(t *testing.T) {
	for _, c := range refused {
		t.Run(c.text, func(t *testing.T) {
			r, err := Parse(c.text)
			if fault.KindOf(err) != fault.Input {
				t.Fatalf("Parse gave %+v, %v; want an input error", r, err)
			}
			for _, s := range c.says {
				if !strings.Contains(err.Error(), s) {
					t.Errorf("error %q does not say %q", err, s)
				}
			}
			if r != (Remote{}) {
				t.Errorf("a refused URL gave %+v", r)
			}
		})
	}
}

// At 2 a.m. it helps to see which URL is meant, if it can be shown.
func TestErrorShowsTheURLWhereItIsSafe(t *testing.T) {
	for text, want := range map[string]string{
		"https://h.example/a b/r":            `URL "https://h.example/a b/r": `,
		"https://h.example/r?x=1":            `URL "https://h.example/r?***": `,
		"https://acme:pw@h.example:8443/r":   `URL "https://***@h.example:8443/r": `,
		"ftp://h.example/r":                  `URL "ftp://h.example/r": `,
		"https://acme:pw/r":                  `URL "https://***": `,
		"https://h.example/a\u202eb":         `URL "https://h.example/ab": `,
		"./app":                              "the url is neither",
		"https://me:s3#cr3t@h.example/r.git": `URL "https://***": `,
	} {
		_, err := Parse(text)
		if err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("Parse(%q) says %v, want it to begin with %q", text, err, want)
		}
	}
}

// What may hold a user, a password or a query is not said back.
func TestNoProposalOfWhatIsNoHost(t *testing.T) {
	for _, text := range []string{"acme/app", "./app", "../app", "h.example", "jane.pw@h.example/r", "h.example/r@x", "h.example/r?token=x", "h.example/r#x",
		"jane%40h.example/r", "-h.example/r", "h..example/r", "h.example/../r", "eyJhbGciOi.eyJzdWIi.c2lnbmF0/r", "H.Example/r", "10.0.0.1/r", "h.example/" + strings.Repeat("x", maxLength-20)} {
		_, err := Parse(text)
		if fault.KindOf(err) != fault.Input || strings.Contains(err.Error(), "is a host") {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}
