// Package gitref knows the names of refs and the look of object ids. It does
// no I/O.
//
// Names are exact: no suffix match, no glob, no decoding. What is legal is
// what git check-ref-format(1) says.
package gitref

import (
	"strconv"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const (
	heads = "refs/heads/"
	tags  = "refs/tags/"
)

// CheckFull returns nil if name is "HEAD" or a legal full ref name
// ("refs/…"), and otherwise a *fault.Error of kind Input that says what to
// write instead.
func CheckFull(name string) error {
	switch {
	case name == "HEAD":
		return nil
	case LooksLikeID(name):
		return idError(name)
	}
	if fe := checkLegal(name); fe != nil {
		return fe
	}
	if !strings.HasPrefix(name, "refs/") {
		return shortError(name)
	}
	return nil
}

// Branch returns the full name of a branch, "refs/heads/"+short. short is
// taken to the letter: a branch may be called HEAD or tags/v1. The error is a
// *fault.Error of kind Input.
func Branch(short string) (string, error) { return full(heads, short) }

// Tag returns the full name of a tag, "refs/tags/"+short, on the same terms as
// Branch.
func Tag(short string) (string, error) { return full(tags, short) }

func full(prefix, short string) (string, error) {
	switch {
	case LooksLikeID(short):
		return "", idError(prefix + short)
	case strings.HasPrefix(short, "refs/"):
		kind, name := Natural(short)
		return "", refuse(quote(short)+" is a full ref name, where a short one belongs",
			"Write "+kind+" = "+quote(name)+".")
	}
	if fe := checkLegal(short); fe != nil {
		return "", fe
	}
	return prefix + short, nil
}

// Natural splits a full ref name into the attribute and the value that a
// person would write for it: ("branch", "x") for refs/heads/x, ("tag", "x")
// for refs/tags/x, else ("ref", fullName).
func Natural(fullName string) (kind, name string) {
	if short, ok := strings.CutPrefix(fullName, heads); ok {
		return "branch", short
	}
	if short, ok := strings.CutPrefix(fullName, tags); ok {
		return "tag", short
	}
	return "ref", fullName
}

// shortError refuses a legal name that does not start with "refs/".
func shortError(name string) *fault.Error {
	advice := "Write ref = " + quote(heads+name) + " for a branch or ref = " + quote(tags+name) + " for a tag."
	if LooksAbbreviated(name) {
		return refuse(quote(name)+" is not a full ref name; it looks like an abbreviated commit id, and a commit id is not a ref",
			"Name the branch or the tag that holds the commit. If a ref is really called so: "+strings.ToLower(advice[:1])+advice[1:])
	}
	switch {
	case strings.EqualFold(name, "HEAD"), name == "@":
		advice = `Write ref = "HEAD" for the remote's default branch.`
	case strings.HasPrefix(name, "heads/"), strings.HasPrefix(name, "tags/"):
		// git's own rule for a name that it looks up (gitrevisions(7)).
		advice = "Write ref = " + quote("refs/"+name) + "."
	}
	return refuse(quote(name)+" is not a full ref name; git itself takes a short one for different refs in different commands", advice)
}

// idError refuses an object id. ref is the full name of a ref that is really
// called so, or the bare id.
func idError(ref string) *fault.Error {
	if !strings.HasPrefix(ref, "refs/") {
		ref = heads + ref
	}
	return refuse("a commit id is not a ref: it would be taken over without having been read from the remote",
		"Name the branch or the tag that holds the commit. If a ref is really called like an id, write ref = "+quote(ref)+".")
}

// refuse returns an input error.
func refuse(happened, advice string) *fault.Error {
	return &fault.Error{Kind: fault.Input, Happened: happened, Advice: advice}
}

// maxQuoted bounds how much of a name is shown, in bytes.
const maxQuoted = 200

// Shown returns a name as a diagnostic may show it: a server chooses names, and
// git allows all in them but ASCII's control characters. One that cannot be seen
// as it is, or is very long, is quoted.
func Shown(name string) string {
	if quoted := quote(name); quoted != `"`+name+`"` {
		return quoted
	}
	return name
}

// quote shows a name as it would stand in the configuration, with what cannot
// be seen escaped.
func quote(name string) string {
	if len(name) > maxQuoted {
		return strconv.Quote(name[:maxQuoted]) + "…"
	}
	return strconv.Quote(name)
}
