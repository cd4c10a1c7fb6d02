package giturl

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestPrefixMatch(t *testing.T) {
	const no = -1
	for _, c := range []struct {
		prefix, url string
		length      int
	}{
		// A host alone.
		{"https://h.example", "https://h.example/r", 0},
		{"https://h.example/", "https://h.example/g/r", 0},
		{"https://h.example", "https://h.example.evil.test/r", no},
		{"https://h.example", "https://sub.h.example/r", no},
		{"https://h.example", "https://h.exampl/r", no},
		{"https://H.Example", "https://h.EXAMPLE/r", 0},
		{"https://bücher.example", "https://xn--bcher-kva.example/r", 0},
		{"https://[2001:db8:0::1]", "https://[2001:DB8::1]/r", 0},
		// The scheme.
		{"https://h.example", "http://h.example/r", no},
		{"http://h.example", "https://h.example/r", no},
		{"http://h.example", "http://h.example/r", 0},
		{"https://h.example", "ssh://h.example/r", no},
		{"https://h.example", "git://h.example/r", no},
		{"https://h.example", "/h.example/r", no},
		{"git+ssh://h.example", "ssh://h.example/r", 0},
		// The port.
		{"https://h.example:443", "https://h.example/r", 0},
		{"https://h.example", "https://h.example:443/r", 0},
		{"https://h.example", "https://h.example:8443/r", no},
		{"https://h.example:8443", "https://h.example:8443/r", 0},
		{"http://h.example:443", "https://h.example/r", no},
		{"ssh://h.example:22", "git@h.example:r", 0},
		{"ssh://h.example:2222", "git@h.example:r", no},
		{"ssh://h.example:2222", "[git@h.example:2222]:r", 0},
		// Whole path segments.
		{"https://h.example/acme", "https://h.example/acme/app.git", 2},
		{"https://h.example/acme/", "https://h.example/acme/app.git", 2},
		{"https://h.example/acme//", "https://h.example/acme/app.git", 2},
		{"https://h.example/acme/", "https://h.example/acme", 2},
		{"https://h.example/acme", "https://h.example/acme-evil/app.git", no},
		{"https://h.example/acm", "https://h.example/acme/app.git", no},
		{"https://h.example/acme", "https://h.example/Acme/app.git", no},
		{"https://h.example/acme", "https://h.example/x/acme/app.git", no},
		{"https://h.example/acme/app.git", "https://h.example/acme/app.git", 4},
		{"https://h.example/acme/app.git", "https://h.example/acme/app", no},
		{"https://h.example/acme/app", "https://h.example/acme/app.git", no},
		{"https://h.example/acme/app/x", "https://h.example/acme/app", no},
		{"https://h.example/acme", "https://h.example//acme/app", 2},
		// Percent-encoding is compared decoded, an encoded slash is no border.
		{"https://h.example/My%20Proj", "https://h.example/My%20Proj/r", 2},
		{"https://h.example/%61cme", "https://h.example/acme/r", 2},
		{"https://h.example/acme", "https://h.example/%61%63me/r", 2},
		{"https://h.example/ü", "https://h.example/%C3%BC/r", 2},
		{"https://h.example/a", "https://h.example/a%2Fb/r", no},
		{"https://h.example/a%2Fb", "https://h.example/a%2fb/r", 2},
		{"ssh://git@h.example/My%20Proj", "git@h.example:My Proj/r", 3},
		{"ssh://git@h.example/My%20Proj", "git@h.example:My%20Proj/r", no},
		// The user.
		{"https://jane@h.example/acme", "https://jane@h.example/acme/r", 3},
		{"https://jane@h.example/acme", "https://joe@h.example/acme/r", no},
		{"https://jane@h.example/acme", "https://h.example/acme/r", no},
		{"https://h.example/acme", "https://jane@h.example/acme/r", 2},
		{"https://j%61ne@h.example", "https://jane@h.example/r", 1},
		{"https://Jane@h.example", "https://jane@h.example/r", no},
		{"ssh://git@h.example", "ssh://h.example/r", no},
		// The scp form equals ssh://.
		{"ssh://git@h.example/acme", "git@h.example:acme/app.git", 3},
		{"ssh://git@h.example/acme", "git@h.example:/acme/app.git", 3},
		{"git@h.example:acme/", "ssh://git@h.example/acme/app.git", 3},
		{"git@h.example:/acme", "git@h.example:acme/app.git", 3},
		{"git@h.example:", "ssh://git@h.example/acme/app.git", 1},
		{"git@h.example:", "git@h.example:app.git", 1},
		{"h.example:", "git@h.example:app.git", 0},
		{"[git@h.example:2222]:acme", "ssh://git@h.example:2222/acme/r", 3},
		{"git@h.example:2222/acme", "ssh://git@h.example:2222/acme/r", no},
		{"git@[::1]:", "ssh://git@[::1]/r", 1},
		{"ssh://git@h.example/~u", "git@h.example:~u/r", 3},
		{"ssh://git@h.example/~u", "git@h.example:u/r", no},
	} {
		p, err := ParsePrefix(c.prefix)
		if err != nil {
			t.Errorf("ParsePrefix(%q): %v", c.prefix, err)
			continue
		}
		if p.String() != c.prefix {
			t.Errorf("String() of %q = %q", c.prefix, p)
		}
		r, err := Parse(c.url)
		if err != nil {
			t.Errorf("Parse(%q): %v", c.url, err)
			continue
		}
		length, ok := p.Match(r)
		if ok != (c.length != no) || ok && length != c.length {
			t.Errorf("%q for %q: %d, %v, want %d", c.prefix, c.url, length, ok, c.length)
		}
	}
}

// The longest match wins: segments first, then a user.
func TestPrefixOrder(t *testing.T) {
	for url, order := range map[string][]string{ // worst first
		"https://jane@h.example/acme/team/app": {
			"https://h.example", "https://jane@h.example", "https://h.example/acme", "https://jane@h.example/acme/",
			"https://h.example/acme/team", "https://jane@h.example/acme/team", "https://h.example/acme/team/app",
		},
		"git@h.example:acme/app": {"ssh://h.example", "git@h.example:", "h.example:acme", "ssh://git@h.example/acme"},
	} {
		r, err := Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		last := -1
		for _, text := range order {
			p, err := ParsePrefix(text)
			if err != nil {
				t.Fatal(err)
			}
			length, ok := p.Match(r)
			if !ok || length <= last {
				t.Errorf("%q for %q: %d, %v, after %d", text, url, length, ok, last)
			}
			last = length
		}
	}
}

func TestPrefixKey(t *testing.T) {
	key := func(text string) string {
		p, err := ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		return p.Key()
	}
	for _, same := range [][]string{
		{"https://h.example", "HTTPS://H.EXAMPLE/", "https://h.example:443", "https://h.example//"},
		{"https://h.example/acme", "https://h.example/acme/", "https://h.example/%61cme", "https://h.example//acme"},
		{"https://h.example/My%20Proj", "https://h.example/M%79%20Proj/"},
		{"https://h.example/a%2Fb", "https://h.example/a%2fb"},
		{"ssh://git@h.example/acme", "git@h.example:acme/", "git@h.example:/acme", "git+ssh://git@h.example:22/acme", "[git@h.example:22]:acme"},
		{"ssh://git@h.example", "git@h.example:"},
		{"https://a%40b.example@h.example", "https://%61%40b.example@h.example"},
	} {
		for _, text := range same[1:] {
			if key(text) != key(same[0]) {
				t.Errorf("Key of %q is %q, of %q %q", text, key(text), same[0], key(same[0]))
			}
		}
	}
	seen := map[string]string{}
	for _, text := range []string{
		"https://h.example", "http://h.example", "http://h.example:443", "https://h.example:8443", "https://jane@h.example", "https://h.example/jane",
		"https://h.example/a/b", "https://h.example/a%2Fb", "https://h.example/A/b", "ssh://h.example", "ssh://git@h.example",
		"ssh://git@h.example/~u", "ssh://git@h.example/u", "ssh://h.example/git", "https://h.example/a%252Fb",
	} {
		if other, dup := seen[key(text)]; dup {
			t.Errorf("%q and %q have one key %q", text, other, key(text))
		}
		seen[key(text)] = text
	}
}

func TestParsePrefixRefuses(t *testing.T) {
	for text, says := range map[string]string{
		"":                               "is empty",
		"h.example":                      "https://host/path",
		"h.example/acme":                 "https://host/path",
		"*":                              "is no URL",
		"https://*.example":              "host may only have",
		"git://h.example":                "https, http and ssh only",
		"file:///srv":                    "https, http and ssh only",
		"/srv/git":                       "https, http and ssh only",
		"https://jane:pw@h.example":      "holds a password",
		"https://h.example/acme?x=1":     "a query",
		"https://h.example/acme#x":       "fragment",
		"https://h.example/acme/../x":    "segment",
		"https://h.example/a b":          "Write %20",
		"https://h.example/a%zz":         "Write %25",
		"https://":                       "names no host",
		"https://h.example/acme\n":       "white space",
		"ftp://h.example":                "not supported",
		"git.h.example/acme":             `write "https://git.h.example/acme".`,
		"eyJhbGciOi.eyJzdWIi.c2lnbmF0":   "is no URL. Write it",
		"git.h.example":                  `write "https://git.h.example".`,
		"https://h.example/acme/*":       "Leave the * out",
		"https://h.example/a*/b":         "whole segments",
		"git@h.example:acme/*":           "whole segments",
		"https://joe:pw@h.example":       "give it in the secret of this entry",
		"https://ghp_x1@h.example/":      "secret of this entry. If it is a user name",
		"https://glpat-x1@h.example/":    "access token",
		"https://h.example/acme/\u200bx": "cannot be seen",
	} {
		_, err := ParsePrefix(text)
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), says) {
			t.Errorf("ParsePrefix(%q): %v, want %q", text, err, says)
		}
	}
}

func TestPrefixAs(t *testing.T) {
	for text, want := range map[string]struct {
		scp        bool
		https, ssh string
	}{
		"localhost:18080/acme":             {true, "https://localhost:18080/acme/", "ssh://localhost:18080/acme/"},
		"git.h.example:acme":               {true, "https://git.h.example/acme/", "ssh://git.h.example/acme/"},
		"jane@git.h.example:70000/a b":     {true, "https://git.h.example/70000/a%20b/", "ssh://git.h.example/70000/a%20b/"},
		"git@[::1]:":                       {true, "https://[::1]/", "ssh://[::1]/"},
		"ssh://git@h.example:2222/acme":    {false, "https://h.example/acme/", "ssh://h.example/acme/"},
		"https://jane@h.example:8443/a%2f": {false, "https://h.example/a%2F/", "ssh://h.example/a%2F/"},
	} {
		p, err := ParsePrefix(text)
		if err != nil {
			t.Fatal(err)
		}
		if p.IsSCP() != want.scp || p.As(HTTPS) != want.https || p.As(SSH) != want.ssh {
			t.Errorf("%q: %t, %q, %q", text, p.IsSCP(), p.As(HTTPS), p.As(SSH))
		}
		for _, as := range []string{want.https, want.ssh} {
			if _, err := ParsePrefix(as); err != nil {
				t.Errorf("%q for %q: %v", as, text, err)
			}
		}
	}
}
