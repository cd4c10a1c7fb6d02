package gitref

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const (
	id40 = "a55ffdd34b5dcf319e7b2afb59711679e3b942d6"
	id64 = "2e3dddbc83e02e2177ed9d18edbb2edb5063fc086051b25ad5b8c9a11f4d5f1f"
)

// says checks that err is an input error whose text holds every one of parts.
func says(t *testing.T, err error, parts ...string) {
	t.Helper()
	if fault.KindOf(err) != fault.Input {
		t.Fatalf("error is %v, want one of kind input", err)
	}
	for _, p := range parts {
		if !strings.Contains(err.Error(), p) {
			t.Errorf("error %q does not say %q", err, p)
		}
	}
}

func TestCheckFullAccepts(t *testing.T) {
	for _, name := range []string{
		"HEAD",
		"refs/heads/main",
		"refs/heads/HEAD",         // a branch of that name hijacks nothing
		"refs/heads/tags/v1.0.0",  // a branch whose name looks like a tag
		"refs/tags/v1.0.0",        //
		"refs/pull/7/head",        //
		"refs/pull/7/merge",       //
		"refs/heads/fix#42",       // taken to the letter
		"refs/heads/100%",         //
		"refs/heads/a%2Fb",        // not decoded
		"refs/heads/a+b",          //
		"refs/heads/user@host",    //
		"refs/heads/@",            //
		"refs/heads/ünïcode",      //
		"refs/heads/nbsp\u00a0",   // git takes it
		"refs/heads/-x",           //
		"refs/heads/refs/heads/x", //
		"refs/heads/" + id40,      // named in full, it is meant
		"refs/stash",              //
	} {
		if err := CheckFull(name); err != nil {
			t.Errorf("CheckFull(%q): %v", name, err)
		}
	}
}

func TestCheckFullRefuses(t *testing.T) {
	for _, c := range []struct {
		name string
		says []string
	}{
		{"", []string{"the name is empty", `ref = "HEAD"`}},
		{"main", []string{`"main" is not a full ref name`, `ref = "refs/heads/main"`, `ref = "refs/tags/main"`}},
		{"release-1.0", []string{`"refs/heads/release-1.0"`, `"refs/tags/release-1.0"`}},
		{"feature/x", []string{`"refs/heads/feature/x"`, `"refs/tags/feature/x"`}},
		{"tags/v1.0.0", []string{`Write ref = "refs/tags/v1.0.0".`}},
		{"heads/main", []string{`Write ref = "refs/heads/main".`}},
		{"head", []string{`Write ref = "HEAD"`}},
		{"@", []string{`Write ref = "HEAD"`}},
		{"refs", []string{"is not a full ref name"}},
		{id40[:7], []string{"abbreviated commit id, and a commit id is not a ref", `write ref = "refs/heads/a55ffdd" for a branch`}},
		{strings.ToUpper(id40[:39]), []string{"abbreviated commit id"}},
		{id40, []string{"a commit id is not a ref", `ref = "refs/heads/` + id40 + `"`}},
		{strings.ToUpper(id40), []string{"a commit id is not a ref"}},
		{id64, []string{"a commit id is not a ref"}},
		{strings.Repeat("01", 20), []string{"a commit id is not a ref"}},
		{"refs/heads/foo*", []string{"wildcard"}},
		{"foo*", []string{"wildcard", "semver", "gitpin_refs"}},
		{"foo ", []string{"starts or ends with white space"}},
		{"refs/heads/foo\n", []string{`"refs/heads/foo\n" starts or ends with white space`}},
		{" refs/heads/foo", []string{"starts or ends with white space"}},
		{"refs/heads/a b", []string{"holds a space"}},
		{`refs\heads\x`, []string{"backslash"}},
		{"refs/heads/a\x00b", []string{"control character", `\x00`}},
		{"refs/tags/v1.1.0^{}", []string{"peeled id", "Write the name alone"}},
		{"HEAD~1", []string{"revision expression"}},
		{"main^", []string{"revision expression"}},
		{"refs/heads/main:path", []string{"revision expression"}},
		{"a..b", []string{"revision expression"}},
		{"refs/heads/x@{u}", []string{"revision expression"}},
		{"refs/heads/", []string{"ends with a slash"}},
		{"/refs/heads/x", []string{"starts or ends with a slash"}},
		{"refs//heads/x", []string{"two in a row"}},
		{"refs/heads/x.", []string{"ends with a dot"}},
		{"refs/heads/.x", []string{"starts with a dot"}},
		{"refs/heads/x.lock/y", []string{"ends with .lock"}},
	} {
		t.Run(c.name, func(t *testing.T) { says(t, CheckFull(c.name), c.says...) })
	}
}

func TestShortNames(t *testing.T) {
	for _, c := range []struct{ short string }{
		{"main"}, {"feature/foo"}, {"HEAD"}, {"tags/v1.0.0"}, {"heads/x"}, {"fix#42"}, {"100%"}, {"a%2Fb"}, {"a+b"},
		{"user@host"}, {"@"}, {"deadbeef"}, {id40[:39]}, {id40 + "0"}, {strings.Repeat("a", 63)}, {"Foo"}, {"v1.0.0+build.1"},
	} {
		if got, err := Branch(c.short); err != nil || got != "refs/heads/"+c.short {
			t.Errorf("Branch(%q) = %q, %v", c.short, got, err)
		}
		if got, err := Tag(c.short); err != nil || got != "refs/tags/"+c.short {
			t.Errorf("Tag(%q) = %q, %v", c.short, got, err)
		}
	}
}

func TestShortNamesRefused(t *testing.T) {
	for _, c := range []struct {
		short string
		says  []string
	}{
		{"", []string{"the name is empty"}},
		{"refs/heads/x", []string{`"refs/heads/x" is a full ref name`, `Write branch = "x".`}},
		{"refs/tags/v1", []string{`Write tag = "v1".`}},
		{"refs/pull/7/head", []string{`Write ref = "refs/pull/7/head".`}},
		{id40, []string{"a commit id is not a ref"}},
		{id64, []string{"a commit id is not a ref"}},
		{"foo*", []string{"wildcard"}},
		{"foo ", []string{"white space"}},
		{"v1.1.0^{}", []string{"peeled id"}},
		{"main~1", []string{"revision expression"}},
		{"x/", []string{"slash"}},
		{".x", []string{"dot"}},
		{"x.lock", []string{".lock"}},
	} {
		_, err := Branch(c.short)
		says(t, err, c.says...)
		_, err = Tag(c.short)
		says(t, err, c.says...)
	}
	_, err := Branch(id40)
	says(t, err, `ref = "refs/heads/`+id40+`"`)
	_, err = Tag(id40)
	says(t, err, `ref = "refs/tags/`+id40+`"`)
}

// A hostile or absurd name does not flood the terminal.
func TestLongNamesAreCut(t *testing.T) {
	err := CheckFull(strings.Repeat("x", 100_000))
	says(t, err, "…")
	if len(err.Error()) > 2000 {
		t.Errorf("the error has %d bytes", len(err.Error()))
	}
}

func TestNatural(t *testing.T) {
	for full, want := range map[string][2]string{
		"refs/heads/main":        {"branch", "main"},
		"refs/heads/feature/foo": {"branch", "feature/foo"},
		"refs/heads/tags/v1":     {"branch", "tags/v1"},
		"refs/heads/HEAD":        {"branch", "HEAD"},
		"refs/tags/v1.0.0":       {"tag", "v1.0.0"},
		"refs/pull/7/head":       {"ref", "refs/pull/7/head"},
		"HEAD":                   {"ref", "HEAD"},
	} {
		kind, name := Natural(full)
		if kind != want[0] || name != want[1] {
			t.Errorf("Natural(%q) = %q, %q", full, kind, name)
		}
	}
}

func TestLooksAbbreviated(t *testing.T) {
	for s, want := range map[string]bool{
		id40[:6]: false, id40[:7]: true, id40[:39]: true, id40: false, id64[:41]: false, "A55FFDD": true, "deadbee/f": false, "20260102": false, "v1234567": false, "": false,
	} {
		if LooksAbbreviated(s) != want {
			t.Errorf("%q: %t", s, !want)
		}
	}
}

func TestIDs(t *testing.T) {
	for _, c := range []struct {
		s         string
		id, looks bool
	}{
		{id40, true, true},
		{id64, true, true},
		{strings.ToUpper(id40), false, true},
		{strings.ToUpper(id64), false, true},
		{id40[:39], false, false},
		{id40 + "a", false, false},
		{id64[:63], false, false},
		{id40[:39] + "g", false, false},
		{"refs/heads/" + id40, false, false},
		{strings.Repeat("é", 20), false, false}, // 40 bytes
		{"", false, false},
	} {
		if IsID(c.s) != c.id || LooksLikeID(c.s) != c.looks {
			t.Errorf("%q: IsID %v, LooksLikeID %v", c.s, IsID(c.s), LooksLikeID(c.s))
		}
	}
	for format, n := range map[string]int{"sha1": 40, "sha256": 64, "": 0, "md5": 0} {
		if got := IDLen(format); got != n {
			t.Errorf("IDLen(%q) = %d", format, got)
		}
	}
}

func TestShown(t *testing.T) {
	for name, want := range map[string]string{
		"refs/heads/main":           "refs/heads/main",
		"refs/heads/größe":          "refs/heads/größe",
		"refs/tags/\u009b31m1.0.0":  `"refs/tags/\u009b31m1.0.0"`, // CSI: a terminal would obey
		"refs/tags/v1\u202e0.1.0.0": `"refs/tags/v1\u202e0.1.0.0"`,
		"refs/tags/v1\u200b.0.0":    `"refs/tags/v1\u200b.0.0"`,
		strings.Repeat("x", 9999):   `"` + strings.Repeat("x", 200) + `"…`,
	} {
		if got := Shown(name); got != want {
			t.Errorf("Shown(%+q) = %s, want %s", name, got, want)
		}
	}
}
