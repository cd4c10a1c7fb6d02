package selection

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// maxExamples is how many tags a no-match error names.
const maxExamples = 5

// reason is how a message speaks of a fate.
type reason struct {
	fate  fate
	count string // how many, in a list
	one   string // why, of one tag
}

// reasons are the ways to be no match, in the order in which a message names
// them.
var reasons = []reason{
	{prerelease, "%d dropped as pre-release", "a pre-release"},
	{outside, "%d outside the range", "outside the range"},
	{notVersion, "%d no version", "no version"},
	{filtered, "%d not matched by tag_filter", "not matched by tag_filter"},
}

// tally counts the tags that are no match and keeps a few of each kind.
type tally struct {
	count    map[fate]int
	examples map[fate][]candidate // best first, at most maxExamples
}

func (t *tally) add(f fate, c candidate) {
	if t.count == nil {
		t.count, t.examples = map[fate]int{}, map[fate][]candidate{}
	}
	t.count[f]++
	kept := t.examples[f]
	i, _ := slices.BinarySearchFunc(kept, c, compareExamples)
	kept = slices.Insert(kept, i, c)
	t.examples[f] = kept[:min(len(kept), maxExamples)]
}

// compareExamples puts high versions first: they are the ones that a user most
// likely expected to win. Tags without a version go by name.
func compareExamples(a, b candidate) int {
	switch {
	case a.version == nil || b.version == nil:
		return strings.Compare(a.ref.Name, b.ref.Name)
	case a.better(b):
		return -1
	default:
		return 1
	}
}

// total returns how many tags were seen, and how many of them are versions.
func (t *tally) total() (seen, parsed int) {
	for _, n := range t.count {
		seen += n
	}
	return seen, t.count[prerelease] + t.count[outside]
}

// noMatch explains why no tag of a was chosen.
func (v *versions) noMatch(a *lsremote.Advertisement, t *tally) *fault.Error {
	if a.Empty {
		return emptyRepository()
	}
	e := &fault.Error{Kind: fault.RefNotFound}
	seen, parsed := t.total()
	if seen == 0 {
		e.Happened = "the repository advertises no tag" + v.narrowed()
		e.Advice = "Check the URL, and that the tags were pushed (git push --tags)."
		return e
	}
	var counts []string
	for _, r := range reasons {
		if n := t.count[r.fate]; n > 0 {
			counts = append(counts, fmt.Sprintf(r.count, n))
		}
	}
	noun := "tags"
	if seen == 1 {
		noun = "tag"
	}
	e.Happened = fmt.Sprintf("no tag matches: %d %s seen%s, %d parsed as versions; %s (%s)",
		seen, noun, v.narrowed(), parsed, strings.Join(counts, ", "), strings.Join(t.named(), ", "))
	e.Advice = v.adviceFor(t)
	return e
}

// narrowed says that only some of the tags were asked for.
func (v *versions) narrowed() string {
	if v.prefix == "" {
		return ""
	}
	return fmt.Sprintf(" of those that begin with %q", v.prefix)
}

// named returns up to maxExamples tags with the reason of each: first one of
// every kind, then second ones.
func (t *tally) named() []string {
	var out []string
	for i := range maxExamples {
		for _, r := range reasons {
			if i < len(t.examples[r.fate]) && len(out) < maxExamples {
				name := strings.TrimPrefix(t.examples[r.fate][i].ref.Name, tagRefs)
				out = append(out, fmt.Sprintf("%q is %s", fault.Clean(name), r.one))
			}
		}
	}
	return out
}

// adviceFor says what would let the likeliest tags in.
func (v *versions) adviceFor(t *tally) string {
	switch {
	case t.count[prerelease] > 0:
		return v.prereleaseAdvice(t.examples[prerelease])
	case t.count[outside] > 0:
		return "Widen the range."
	case t.count[filtered] > t.count[notVersion]:
		return "Check tag_filter.pattern against the tags: it is an RE2 expression over the tag without refs/tags/."
	default:
		return `A version is strict SemVer with an optional leading "v" ("v1.2.3"; "v1" and "01.2.3" are none). For tags with more around it, such as "api/v1.2.3", set tag_filter = { pattern = "^api/(.*)$", extract = "$1" }.`
	}
}
