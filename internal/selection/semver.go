package selection

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

const rangeAdvice = `A range looks like ">=1.2.0 <2.0.0", "1.x", "~1.4" or "*". For one tag by its exact name use tag, for a branch use branch.`

// versions chooses among tags by a range.
type versions struct {
	text   string              // the range as the user wrote it
	within *semver.Constraints // the range, with the pre-release flag
	any    *semver.Constraints // the same range open to pre-releases, to say why one was dropped
	filter *filter             // nil takes every tag as it is
	prefix string              // what a tag has to begin with to pass the filter
}

func newVersions(s Spec) (*versions, error) {
	within, err := parseRange(s.Semver)
	if err != nil {
		return nil, err
	}
	within.IncludePrerelease = s.IncludePrereleases
	open := *within
	open.IncludePrerelease = true
	v := &versions{text: s.Semver, within: within, any: &open}
	if s.TagFilter != nil {
		if v.filter, err = newFilter(*s.TagFilter); err != nil {
			return nil, err
		}
		v.prefix = v.filter.literalPrefix()
	}
	return v, nil
}

// parseRange reads a range in the syntax of Masterminds/semver, as Flux does.
func parseRange(text string) (*semver.Constraints, error) {
	c, err := semver.NewConstraint(text)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Input, Asked: fmt.Sprintf("semver = %q", text),
			Happened: "this is no version range (" + fault.Clean(err.Error()) + ")", Advice: rangeAdvice, Err: err}
	}
	return c, nil
}

// key spells the range as the parser understood it, so that blanks and commas
// do not count.
func (v *versions) key() string {
	return fmt.Sprintf("semver %q prereleases %t filter %s", v.within.String(), v.within.IncludePrerelease, v.filter.key())
}

// candidate is a tag that is a version.
type candidate struct {
	ref     lsremote.Ref
	version *semver.Version
}

// better tells whether c wins over o. Precedence decides (SemVer 2.0.0 §11).
// It ignores build metadata and our optional "v", so that several tags may be
// equal; an advertisement holds no dates to tell them apart. Then, in this
// order: the greater build metadata wins, as a later build is meant to replace
// an earlier one (see compareBuild); then the greater tag name, byte by byte,
// which puts "v1.0.1" above "1.0.1". No two tags have the same name, so the
// winner never depends on the order of the refs.
func (c candidate) better(o candidate) bool {
	return cmp.Or(
		c.version.Compare(o.version),
		compareBuild(c.version.Metadata(), o.version.Metadata()),
		strings.Compare(c.ref.Name, o.ref.Name),
	) > 0
}

// compareBuild orders build metadata, on which SemVer is silent, by the rules
// that it has for pre-releases: identifiers from left to right, numbers by
// value, numbers below words, words byte by byte, and more identifiers above
// fewer. Having none is the lowest.
func compareBuild(a, b string) int {
	if a == "" || b == "" {
		return cmp.Compare(len(a), len(b))
	}
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	for i := range min(len(as), len(bs)) {
		if c := compareIdentifier(as[i], bs[i]); c != 0 {
			return c
		}
	}
	return cmp.Compare(len(as), len(bs))
}

func compareIdentifier(a, b string) int {
	aNumber, bNumber := isNumber(a), isNumber(b)
	switch {
	case aNumber && bNumber:
		// A number may be longer than any integer type, and unlike in a
		// pre-release it may have leading zeros.
		a, b = strings.TrimLeft(a, "0"), strings.TrimLeft(b, "0")
		return cmp.Or(cmp.Compare(len(a), len(b)), strings.Compare(a, b))
	case aNumber:
		return -1
	case bNumber:
		return 1
	default:
		return strings.Compare(a, b)
	}
}

func isNumber(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}

// fate is what became of a tag.
type fate int

const (
	accepted   fate = iota
	prerelease      // it, or the release it leads to, would be in the range
	outside
	notVersion
	filtered // the filter's pattern does not match
)

// judge reads one tag. The version is strict SemVer 2.0.0 with an optional
// leading "v": the floating "v1", "v01.2.3" and a date are none.
func (v *versions) judge(ref lsremote.Ref) (fate, *semver.Version) {
	text, ok := v.filter.apply(strings.TrimPrefix(ref.Name, tagRefs))
	if !ok {
		return filtered, nil
	}
	version, err := semver.StrictNewVersion(strings.TrimPrefix(text, "v"))
	switch {
	case err != nil:
		return notVersion, nil
	case v.within.Check(version):
		return accepted, version
	case version.Prerelease() != "" && (v.any.Check(version) || v.within.Check(release(version))):
		return prerelease, version
	default:
		return outside, version
	}
}

// release returns the version that a pre-release leads to.
func release(v *semver.Version) *semver.Version {
	return semver.New(v.Major(), v.Minor(), v.Patch(), "", "")
}

// best returns the winner among the tags of a, and what became of the others
// when there is none.
func (v *versions) best(a *lsremote.Advertisement) (candidate, *tally, bool) {
	var best candidate
	var dropped tally
	for _, ref := range a.Refs {
		if !strings.HasPrefix(ref.Name, tagRefs) {
			continue
		}
		fate, version := v.judge(ref)
		c := candidate{ref, version}
		switch {
		case fate != accepted:
			dropped.add(fate, c)
		case best.version == nil, c.better(best):
			best = c
		}
	}
	return best, &dropped, best.version != nil
}

func (v *versions) pick(a *lsremote.Advertisement) (Pick, error) {
	best, dropped, ok := v.best(a)
	if !ok {
		return Pick{}, v.noMatch(a, dropped)
	}
	return Pick{Ref: best.ref, Version: best.version.String()}, nil
}
