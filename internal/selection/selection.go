// Package selection says which ref of a remote a user means. One Selector
// serves both questions that are asked of it: which refs to read, and which of
// those that were read is the one to track. It is pure: no network, no clock,
// and no answer depends on the order in which a server lists its refs.
package selection

import (
	"errors"
	"fmt"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

const (
	head       = "HEAD"
	branchRefs = "refs/heads/"
	tagRefs    = "refs/tags/"
	remoteRefs = "refs/remotes/" // of a clone; servers have none
)

// Spec is a selector as the user wrote it. Exactly one of Branch, Tag, Ref and
// Semver has a value.
type Spec struct {
	// Branch is a branch's short name, taken literally: "main", "feature/x".
	Branch string
	// Tag is a tag's short name, taken literally: "v1.2.0".
	Tag string
	// Ref is a full name, "refs/…", or "HEAD".
	Ref string
	// Semver is a range over the tags, in the syntax of Masterminds/semver:
	// ">=1.2.0 <2.0.0", "1.x", "~1.4".
	Semver string
	// TagFilter narrows and rewrites the tags that Semver looks at; nil takes
	// all of them as they are.
	TagFilter *TagFilter
	// IncludePrereleases lets Semver choose pre-releases even where the range
	// names none. A pre-release comes before its release: ">=2.0.0" does not
	// take 2.0.0-rc.1 (">=2.0.0-0" does), and "<2.0.0" does ("<2.0.0-0" does
	// not).
	IncludePrereleases bool
}

// TagFilter is Flux's filterTags, for tags that are more than a version.
type TagFilter struct {
	// Pattern is an RE2 expression. It may match anywhere in the tag: anchor
	// it with ^ and $. A tag that it does not match is no candidate.
	Pattern string
	// Extract is a template that makes the version out of a match: "$1",
	// "$name" or "${name}". Empty takes the whole tag.
	Extract string
}

// Selector is a checked Spec. The zero value selects nothing; make one with
// New.
type Selector struct {
	spec     Spec
	full     string    // the full name; "" for semver
	versions *versions // nil unless semver
}

// Pick is what a Selector chose.
type Pick struct {
	Ref lsremote.Ref
	// Version is the SemVer text that was chosen, without a leading "v"
	// ("1.2.0"); "" unless the selector is a range. The tag as it stands in
	// the repository is Ref.Name.
	Version string
}

// New checks s. An error is a *fault.Error of kind fault.Input that names the
// attribute at fault.
func New(s Spec) (Selector, error) {
	if err := s.checkShape(); err != nil {
		return Selector{}, err
	}
	if s.Semver != "" {
		v, err := newVersions(s)
		if err != nil {
			return Selector{}, err
		}
		if s.TagFilter != nil {
			own := *s.TagFilter
			s.TagFilter = &own
		}
		return Selector{spec: s, versions: v}, nil
	}
	full, err := s.fullName()
	if err != nil {
		return Selector{}, s.inputError(err)
	}
	return Selector{spec: s, full: full}, nil
}

// checkShape checks which attributes have a value, not what it is.
func (s Spec) checkShape() error {
	var set []string
	for _, a := range []struct{ name, value string }{
		{"branch", s.Branch}, {"tag", s.Tag}, {"ref", s.Ref}, {"semver", s.Semver},
	} {
		if a.value != "" {
			set = append(set, a.name)
		}
	}
	switch {
	case len(set) == 0:
		return &fault.Error{Kind: fault.Input,
			Happened: "none of branch, tag, ref and semver has a value (an empty text is none)",
			Advice:   `Set exactly one of them, e.g. branch = "main". For the default branch write ref = "HEAD".`}
	case len(set) > 1:
		return &fault.Error{Kind: fault.Input,
			Happened: fmt.Sprintf("%s are set, but a selector is exactly one of branch, tag, ref and semver", strings.Join(set, " and ")),
			Advice:   "Keep one of them."}
	case s.Semver == "" && s.TagFilter != nil:
		return &fault.Error{Kind: fault.Input,
			Happened: "tag_filter is set without semver",
			Advice:   "A filter only narrows the tags that a semver range looks at: add semver, or leave tag_filter out."}
	case s.Semver == "" && s.IncludePrereleases:
		return &fault.Error{Kind: fault.Input,
			Happened: "include_prereleases is set without semver",
			Advice:   "It only concerns a semver range: add semver, or leave include_prereleases out."}
	}
	return nil
}

func (s Spec) fullName() (string, error) {
	switch {
	case s.Branch != "":
		return gitref.Branch(s.Branch)
	case s.Tag != "":
		return gitref.Tag(s.Tag)
	default:
		return s.Ref, gitref.CheckFull(s.Ref)
	}
}

// inputError makes err, which gitref found in a name, one that says in which
// attribute.
func (s Spec) inputError(err error) *fault.Error {
	out := &fault.Error{Kind: fault.Input, Happened: err.Error(), Err: err}
	if e := (*fault.Error)(nil); errors.As(err, &e) {
		c := *e
		out = &c
	}
	out.Asked = s.String()
	return out
}

// String says what is asked for as the user would write it: `branch = "main"`.
func (s Spec) String() string {
	switch {
	case s.Branch != "":
		return fmt.Sprintf("branch = %q", s.Branch)
	case s.Tag != "":
		return fmt.Sprintf("tag = %q", s.Tag)
	case s.Ref != "":
		return fmt.Sprintf("ref = %q", s.Ref)
	default:
		return fmt.Sprintf("semver = %q", s.Semver)
	}
}

// Spec returns the selector as the user wrote it.
func (s Selector) Spec() Spec { return s.spec }

// String says what is asked for, for messages: `branch = "main"`.
func (s Selector) String() string { return s.spec.String() }

// FullName returns the one ref that the selector names, "" for a range.
func (s Selector) FullName() string { return s.full }

// Key is equal for two selectors exactly when they track the same thing: the
// same full name however it was spelled, or the same range, filter and
// pre-release flag. The spelling of a range (blanks, commas) does not count.
func (s Selector) Key() string {
	if s.versions != nil {
		return s.versions.key()
	}
	return "ref " + s.full
}

// Query says which refs have to be read for Pick. A range asks for tags only,
// and only for those that begin as an anchored filter says.
func (s Selector) Query() lsremote.Query {
	if s.versions != nil {
		return lsremote.Query{Prefixes: []string{tagRefs + s.versions.prefix}}
	}
	return lsremote.Query{Refs: []string{s.full}}
}

// Pick chooses from an advertisement that covers Query. The error is a
// *fault.Error without Asked: of kind fault.EmptyRepository when the
// repository is known to have no refs, fault.NoHead when HEAD was asked for
// and there is none, else fault.RefNotFound. A name is compared byte by byte:
// no suffix match, no glob, no decoding, and case counts.
func (s Selector) Pick(a *lsremote.Advertisement) (Pick, error) {
	if s.versions != nil {
		return s.versions.pick(a)
	}
	if ref, ok := a.Lookup(s.full); ok {
		return Pick{Ref: ref}, nil
	}
	return Pick{}, s.missing(a)
}
