package giturl

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const marker = "Zq7Marker"

// FuzzParse: no panic; what is accepted has a canonical form that parses back
// to itself and can be shown; what is refused is an input error.
func FuzzParse(f *testing.F) {
	for _, c := range accepted {
		f.Add(c.text)
	}
	for _, c := range refused {
		f.Add(c.text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		r, err := Parse(text)
		if err != nil {
			if fault.KindOf(err) != fault.Input {
				t.Errorf("Parse(%q): %v is no input error", text, err)
			}
			return
		}
		checkRoundTrip(t, r)
		if r.String() != text || !utf8.ValidString(r.Path) || !isASCII(r.Host) || strings.HasPrefix(r.RepoArg(), "-") || strings.HasPrefix(r.Host, "-") || strings.HasPrefix(r.User, "-") {
			t.Errorf("Parse(%q) = %+v", text, r)
		}
		switch r.Scheme {
		case HTTPS, HTTP:
			u := r.HTTPURL("/info/refs")
			if u.EscapedPath() != r.Path+"/info/refs" || u.RawQuery != "" || u.Fragment != "" {
				t.Errorf("HTTPURL of %q: %+v", text, u)
			}
			fallthrough
		case SSH:
			if strings.Contains(text, "*") {
				return // a prefix holds none: it would look like a pattern
			}
			p, err := ParsePrefix(r.Canonical())
			if err != nil {
				t.Fatalf("%q is no prefix of itself: %v", r.Canonical(), err)
			}
			if _, ok := p.Match(r); !ok {
				t.Errorf("%q does not match itself", text)
			}
			if again, err := ParsePrefix(p.Key()); err != nil || again.Key() != p.Key() {
				t.Errorf("the key %q of %q parses back to %q (%v)", p.Key(), text, again.Key(), err)
			}
		}
	})
}

// FuzzSecrets puts a password before an "@" and a token into a query, amid
// whatever the fuzzer finds: no error and no redacted text quotes them, and no
// URL that could be sent over a network is made of them.
func FuzzSecrets(f *testing.F) {
	for _, s := range [][3]string{
		{"https://", "", "h.example/r.git"}, {"https://", "/", "h.example/r"}, {"https://", "#x", "h.example/r"}, {"https://", "?", "h/r"},
		{"https://", "%zz", "h/r"}, {"https://", "@x", "h/r"}, {"ssh://", "", "h:g/r"}, {"", "", "h:r"}, {"https://h/", "", "x"}, {"https:/", "", "h/r"},
		{"https://x@", "", "h/r"}, {"git::https://", "\n", "h/r"}, {"[", "", "h:22]:r"}, {"file://", "", "h/r"}, {"git@h:", "", "x"},
	} {
		f.Add(s[0], s[1], s[2])
	}
	f.Fuzz(func(t *testing.T, before, after, rest string) {
		if strings.Contains(before+after+rest, marker) {
			return
		}
		for _, text := range []string{before + "us3r:" + marker + after + "@" + rest, before + rest + "?token=" + marker + after} {
			r, err := Parse(text)
			if err != nil && strings.Contains(err.Error(), marker) {
				t.Errorf("Parse(%q) leaks: %v", text, err)
			}
			if _, err := ParsePrefix(text); err != nil && strings.Contains(err.Error(), marker) {
				t.Errorf("ParsePrefix(%q) leaks: %v", text, err)
			}
			// A local path and the scp form have any characters in their path.
			literal := err == nil && (r.Scheme == File || r.Scheme == SSH && !schemeForm.MatchString(text))
			if err == nil && !literal {
				t.Errorf("Parse(%q) = %+v", text, r)
			}
			if !literal && strings.Contains(Redact(text), marker) {
				t.Errorf("Redact(%q) leaks: %s", text, Redact(text))
			}
		}
	})
}
