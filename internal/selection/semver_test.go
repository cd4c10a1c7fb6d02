package selection

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// mixedTags are the tags of the fixture repository "s".
var mixedTags = []string{"v1.9.0", "v1.10.0", "1.10.1", "v1.10.0+build.1", "v1.10.0+build.2", "v2.0.0-rc.1", "v2.0.0-rc.10",
	"v2.0.0-rc.2", "v1", "v1.2", "nightly", "2024-09-22-test", "2024-09-22-test-2", "v01.2.3", "api/v3.0.0", "release-9.9.9"}

func tags(names ...string) *lsremote.Advertisement {
	var full []string
	for _, n := range names {
		full = append(full, "refs/tags/"+n)
	}
	return advertise(append(full, "refs/heads/main", "refs/heads/v99.0.0", "HEAD")...)
}

func TestSemverPicks(t *testing.T) {
	anyPrefix := &TagFilter{Pattern: `^(?:api/|release-)?(?P<v>.*)$`, Extract: "$v"}
	for _, c := range []struct {
		name    string
		spec    Spec
		tag     string
		version string
	}{
		{"a star takes no pre-release, no date, nothing floating", Spec{Semver: "*"}, "1.10.1", "1.10.1"},
		{"tilde", Spec{Semver: "~1.9"}, "v1.9.0", "1.9.0"},
		{"numbers compare as numbers", Spec{Semver: "<1.10.1"}, "v1.10.0+build.2", "1.10.0+build.2"},
		{"equal precedence: the greatest build", Spec{Semver: "1.10.0"}, "v1.10.0+build.2", "1.10.0+build.2"},
		{"build metadata in a range does not count", Spec{Semver: "1.10.0+build.1"}, "v1.10.0+build.2", "1.10.0+build.2"},
		{"a pre-release in the range lets pre-releases in", Spec{Semver: ">=1.0.0-0"}, "v2.0.0-rc.10", "2.0.0-rc.10"},
		{"a flag lets pre-releases in", Spec{Semver: ">=1.0.0", IncludePrereleases: true}, "v2.0.0-rc.10", "2.0.0-rc.10"},
		{"a pre-release of what the range ends before", Spec{Semver: "<2.0.0", IncludePrereleases: true}, "v2.0.0-rc.10", "2.0.0-rc.10"},
		{"without the pre-releases of what the range ends before", Spec{Semver: "<2.0.0-0"}, "1.10.1", "1.10.1"},
		{"one pre-release exactly", Spec{Semver: "2.0.0-rc.2"}, "v2.0.0-rc.2", "2.0.0-rc.2"},
		{"alternatives", Spec{Semver: "3.x || ~1.9"}, "v1.9.0", "1.9.0"},
		{"a hyphen range", Spec{Semver: "1.0 - 1.9.5"}, "v1.9.0", "1.9.0"},
		{"a v in the range", Spec{Semver: "v1.9.x"}, "v1.9.0", "1.9.0"},
		{"a prefix by number", Spec{Semver: "3.x", TagFilter: &TagFilter{Pattern: "^api/(.*)$", Extract: "$1"}}, "api/v3.0.0", "3.0.0"},
		{"a prefix by name", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: `^release-(?P<version>\d.*)$`, Extract: "${version}"}}, "release-9.9.9", "9.9.9"},
		{"any prefix", Spec{Semver: "<9", TagFilter: anyPrefix}, "api/v3.0.0", "3.0.0"},
		{"a filter without extract takes the whole tag", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: "^v"}}, "v1.10.0+build.2", "1.10.0+build.2"},
		{"an unanchored filter matches anywhere", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: "build.1"}}, "v1.10.0+build.1", "1.10.0+build.1"},
		{"a template may add text", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: `^v(1\.2)$`, Extract: "$1.0"}}, "v1.2", "1.2.0"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, err := must(t, c.spec).Pick(tags(mixedTags...))
			if err != nil || p.Ref.Name != "refs/tags/"+c.tag || p.Version != c.version {
				t.Errorf("got %q %q, %v; want %q %q", p.Ref.Name, p.Version, err, c.tag, c.version)
			}
		})
	}
}

// TestSemverIsStrict shows what never wins, each offered alone.
func TestSemverIsStrict(t *testing.T) {
	open := must(t, Spec{Semver: "*", IncludePrereleases: true})
	for _, tag := range []string{"v1", "v1.2", "1", "v01.2.3", "1.02.3", "nightly", "latest", "2024-09-22-test", "2024.09.22", "V1.2.3",
		"vv1.2.3", "v1.2.3-", "v1.2.3+", "v1.2.3-a..b", "v1.2.3-01", "v1.2.3.4", "1.2.3 ", "api/v1.2.3", "v-1.2.3", "1.2.x", "v1.2.3+a+b", "1.2.99999999999999999999"} {
		if p, err := open.Pick(tags(tag)); err == nil {
			t.Errorf("%q was read as version %s", tag, p.Version)
		}
	}
	for _, tag := range []string{"0.0.0", "v1.2.3", "1.2.3-rc.1+b.01", "2024.9.22"} {
		if p, err := open.Pick(tags(tag)); err != nil || p.Version != strings.TrimPrefix(tag, "v") {
			t.Errorf("%q: %v, %v", tag, p.Version, err)
		}
	}
}

// TestSemverTies feeds tags of equal precedence in every order: the documented
// winner is always the same.
func TestSemverTies(t *testing.T) {
	scoped := &TagFilter{Pattern: `^(?:[a-z]+/)?(v?\d.*)$`, Extract: "$1"}
	for _, c := range []struct {
		name   string
		filter *TagFilter
		tags   []string // lowest first
	}{
		{"v or not", nil, []string{"1.0.1", "v1.0.1"}},
		{"build metadata as for pre-releases", nil, []string{"v1.0.0", "v1.0.0+2", "v1.0.0+10", "v1.0.0+build", "v1.0.0+build.1", "v1.0.0+build.01", "v1.0.0+build.9"}},
		{"build before v", nil, []string{"v1.0.0", "1.0.0+a", "v1.0.0+a"}},
		{"no build is the lowest", nil, []string{"v1.0.0", "1.0.0+0"}},
		{"more identifiers are higher", nil, []string{"v1.0.0+a", "1.0.0+a.1"}},
		{"numbers are below words", nil, []string{"1.0.0+2", "1.0.0+-a"}},
		{"numbers longer than any integer", nil, []string{"1.0.0+99999999999999999999998", "1.0.0+99999999999999999999999", "1.0.0+100000000000000000000000"}},
		{"prefixes", scoped, []string{"1.0.0", "api/v1.0.0", "v1.0.0", "web/v1.0.0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sel := must(t, Spec{Semver: "1.x", TagFilter: c.filter})
			// Each prefix of the list has its last tag as the winner.
			for n := 1; n <= len(c.tags); n++ {
				want := "refs/tags/" + c.tags[n-1]
				if strings.HasSuffix(want, "+build.01") {
					want = "refs/tags/v1.0.0+build.1" // equal numbers: the greater name
				}
				permute(c.tags[:n], func(order []string) {
					a := &lsremote.Advertisement{}
					for _, tag := range order {
						a.Refs = append(a.Refs, lsremote.Ref{Name: "refs/tags/" + tag, ID: "id of " + tag})
					}
					if p, err := sel.Pick(a); err != nil || p.Ref.Name != want {
						t.Fatalf("%v: got %s, %v; want %s", order, p.Ref.Name, err, want)
					}
				})
			}
		})
	}
}

// permute calls f with every order of items.
func permute(items []string, f func([]string)) {
	items = slices.Clone(items)
	var rec func(int)
	rec = func(i int) {
		if i == len(items) {
			f(items)
			return
		}
		for j := i; j < len(items); j++ {
			items[i], items[j] = items[j], items[i]
			rec(i + 1)
			items[i], items[j] = items[j], items[i]
		}
	}
	rec(0)
}

func TestSemverNoMatchSaysWhy(t *testing.T) {
	for _, c := range []struct {
		name  string
		spec  Spec
		a     *lsremote.Advertisement
		parts []string
	}{
		{"no version in range", Spec{Semver: "3.x"}, tags(mixedTags...), []string{"16 tags seen", "8 parsed as versions", "8 outside the range",
			"8 no version", `"v2.0.0-rc.10" is outside the range`, `"2024-09-22-test" is no version`, "Widen the range"}},
		{"a narrowed reading", Spec{Semver: "2.x", TagFilter: &TagFilter{Pattern: "^v"}}, tags("v2.0.0-rc.1", "v1.0.0", "v1"), []string{
			`3 tags seen of those that begin with "v"`, "2 parsed", "1 dropped as pre-release", "1 outside the range", "1 no version"}},
		{"a pre-release inside the range", Spec{Semver: ">=1"}, tags("v2.0.0-rc.1"), []string{"1 dropped as pre-release"}},
		{"a pre-release below the range that it was opened for", Spec{Semver: ">=2", IncludePrereleases: true}, tags("v2.0.0-rc.1"), []string{
			"1 dropped as pre-release", "2.0.0-rc.1 comes before 2.0.0"}},
		{"a pre-release of what the range ends before", Spec{Semver: "<2"}, tags("v2.0.0-rc.1"), []string{"1 dropped as pre-release"}},
		{"a pre-release of another version", Spec{Semver: ">=3"}, tags("v2.0.0-rc.1"), []string{"1 outside the range"}},
		{"only pre-releases", Spec{Semver: ">=2"}, tags("v2.0.0-rc.1", "v1.0.0"), []string{"2 tags seen", "2 parsed", "1 dropped as pre-release",
			"1 outside the range", `"v2.0.0-rc.1" is a pre-release`, "include_prereleases = true"}},
		{"filtered", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: "web/"}}, tags(mixedTags...), []string{"16 tags seen", "0 parsed",
			"16 not matched by tag_filter", "tag_filter.pattern"}},
		{"no versions", Spec{Semver: "*"}, tags("api/v1.0.0", "x"), []string{"2 tags seen", "0 parsed", "2 no version", "strict SemVer", `extract = "$1"`}},
		{"no tags", Spec{Semver: "*"}, tags(), []string{"advertises no tag", "git push --tags"}},
		{"no tags in the narrowed reading", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: "^web/"}}, tags(), []string{`no tag of those that begin with "web/"`}},
		{"terminal codes stay out", Spec{Semver: "*"}, tags("\x1b[31mred", "a\u202eb"), []string{`"[31mred"`, `"ab"`}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := must(t, c.spec).Pick(c.a)
			e := asFault(t, err, fault.RefNotFound, c.parts...)
			if n := strings.Count(e.Happened, `" is `); n > 5 {
				t.Errorf("%d examples, want at most five: %s", n, e.Happened)
			}
		})
	}
}

func TestTallyIsBounded(t *testing.T) {
	var seen tally
	for _, ref := range tags(mixedTags...).Refs {
		seen.add(notVersion, candidate{ref: ref})
	}
	if n := len(seen.examples[notVersion]); n != maxExamples {
		t.Errorf("keeps %d examples", n)
	}
}

// TestSemverExamplesDoNotDependOnOrder keeps an error's text stable between
// runs.
func TestSemverExamplesDoNotDependOnOrder(t *testing.T) {
	sel := must(t, Spec{Semver: ">100", TagFilter: &TagFilter{Pattern: "[^9]$"}})
	a := tags(mixedTags...)
	_, first := sel.Pick(a)
	random := rand.New(rand.NewPCG(1, 2))
	for range 50 {
		random.Shuffle(len(a.Refs), func(i, j int) { a.Refs[i], a.Refs[j] = a.Refs[j], a.Refs[i] })
		if _, err := sel.Pick(a); err.Error() != first.Error() {
			t.Fatalf("two texts:\n%v\n%v", first, err)
		}
	}
}

func TestSemverQueryIsNarrowed(t *testing.T) {
	for pattern, want := range map[string]string{
		"":                        "",
		"v.*":                     "", // matches "xv1"
		"^v":                      "v",
		"^api/v(.*)$":             "api/v",
		"^api/(?P<version>.*)$":   "api/",
		`^a\.b`:                   "a.b",
		`\Aapi/`:                  "api/",
		"^^api/":                  "",
		"^api/|web/":              "",
		"^(api|web)/":             "",
		"^v?1":                    "",
		"^ab*":                    "a",
		"^ab?c":                   "a",
		"(?i)^api/":               "",
		"(?m)^api/":               "",
		"^module-[0-9]":           "module-",
		"^a b":                    "a",
		"^a\nb":                   "a",
		"^a\\x00":                 "a",
		"^":                       "",
		"api/":                    "",
		"^api/v1|^api/v2":         "",
		"^ärger/":                 "ärger/",
		"^x{2}y":                  "",
		"^(?:api/)v":              "api/v",
		"^(api/)v":                "",
		`^\Qa+b/\E`:               "a+b/",
		"^[a]pi/":                 "api/",
		"^[ab]pi/":                "",
		"$":                       "",
		"^$":                      "",
		"^api/\\*":                "api/",
		"^release-(?:1|2)\\.(.*)": "release-",
	} {
		spec := Spec{Semver: "*"}
		if pattern != "" {
			spec.TagFilter = &TagFilter{Pattern: pattern}
		}
		sel := must(t, spec)
		got := strings.TrimPrefix(sel.Query().Prefixes[0], "refs/tags/")
		if got != want {
			t.Errorf("pattern %q asks for tags that begin with %q, want %q", pattern, got, want)
		}
		if !sel.HintQuery().Covers(sel.Query()) {
			t.Errorf("pattern %q: the hint query %v does not cover %v", pattern, sel.HintQuery(), sel.Query())
		}
	}
}
