package selection

import (
	"fmt"
	"strings"

	"golang.org/x/text/unicode/norm"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// maxNear is how many similar names an error offers.
const maxNear = 3

// missing says that the ref is not in a.
func (s Selector) missing(a *lsremote.Advertisement) *fault.Error {
	switch {
	case a.Empty:
		return emptyRepository()
	case s.full == head:
		return noHead(a)
	default:
		e := &fault.Error{Kind: fault.RefNotFound, Happened: s.full + " is not advertised by the repository",
			Advice: "Check the spelling (case counts), and that it was pushed."}
		if _, short := gitref.Natural(s.full); gitref.LooksAbbreviated(short) {
			e.Happened += "; this looks like an abbreviated commit id, and a commit id is not a ref"
			e.Advice = "Name the branch or the tag that holds the commit."
		}
		return e
	}
}

func emptyRepository() *fault.Error {
	return &fault.Error{Kind: fault.EmptyRepository, Happened: "the repository is empty: it has no branch and no tag yet",
		Advice: "Push a first commit, or check the URL."}
}

func noHead(a *lsremote.Advertisement) *fault.Error {
	e := &fault.Error{Kind: fault.NoHead, Happened: "the repository advertises no HEAD",
		Advice: "Name a branch instead, or set the default branch on the server to one that exists."}
	if a.UnbornHead != "" {
		e.Happened = fmt.Sprintf("the repository advertises no HEAD, as its default branch %q has no commit", fault.Clean(a.UnbornHead))
	}
	return e
}

// HintQuery asks for what helps to explain a miss: branches, tags and HEAD,
// and for a ref elsewhere what stands beside it. It covers Query.
func (s Selector) HintQuery() lsremote.Query {
	q := lsremote.Query{Refs: []string{head}, Prefixes: []string{branchRefs, tagRefs}}
	if s.full != "" {
		q.Refs = append(q.Refs, s.full)
		if dir := s.directory(); dir != "" {
			q.Prefixes = append(q.Prefixes, dir)
		}
	}
	return q.Normalize()
}

// directory returns what stands before the last part of the ref's name. It is
// "" for "refs/": all of that could be a million pull requests.
func (s Selector) directory() string {
	dir := s.full[:strings.LastIndex(s.full, "/")+1]
	if strings.Count(dir, "/") < 2 {
		return ""
	}
	return dir
}

// Explain says why Pick found nothing, with the names that the user may have
// meant. hint answers HintQuery. The error has no Asked.
func (s Selector) Explain(hint *lsremote.Advertisement) *fault.Error {
	// The names are asked for, not Empty: a narrow answer does not say that
	// there is nothing at all.
	if len(hint.Refs) == 0 {
		return emptyRepository()
	}
	if s.versions != nil {
		return s.explainVersions(hint)
	}
	e := s.missing(hint)
	names := make([]string, 0, len(hint.Refs))
	for _, r := range hint.Refs {
		if s.mayBeMeant(r.Name) {
			names = append(names, r.Name)
		}
	}
	if s.full == head {
		e.Advice = "Name a branch instead" + listed(" (there is %s)", names) +
			", or set the default branch on the server to one that exists."
		return e
	}
	if twin := unicodeTwin(s.full, names); twin != "" {
		e.Advice = fmt.Sprintf("A name that differs only in its Unicode form is advertised (%+q). Terraform turns every text into the composed form (NFC), so that name cannot be written in a configuration: rename the ref on the server.", twin)
		return e
	}
	near := gitref.Near(s.full, names, maxNear)
	if len(near) > 0 && near[0] == s.otherKind() {
		kind, _ := gitref.Natural(near[0])
		e.Happened += fmt.Sprintf(", but there is a %s of that name", kind)
	}
	switch {
	case len(near) > 0:
		e.Advice = listed("Did you mean %s?", near)
	case strings.HasPrefix(s.full, branchRefs):
		e.Advice += s.branches(hint, names)
	}
	return e
}

// mayBeMeant tells whether name is worth to be named in the place of the ref
// that is missing.
func (s Selector) mayBeMeant(name string) bool {
	kind, _ := gitref.Natural(s.full)
	dir := s.directory()
	switch {
	case name == s.full:
		return false // it may be there by now; then it is not near, it is it
	case s.full == head:
		return strings.HasPrefix(name, branchRefs)
	case kind == "ref" && dir != "" && !strings.HasPrefix(dir, remoteRefs):
		// A pull request is no branch of a like name. A clone's own name for
		// a branch is one.
		return strings.HasPrefix(name, dir)
	}
	return true
}

// branches names the default branch, or else a few of names.
func (s Selector) branches(hint *lsremote.Advertisement, names []string) string {
	if r, ok := hint.Lookup(head); ok && r.Target != s.full && strings.HasPrefix(r.Target, branchRefs) && norm.NFC.IsNormalString(r.Target) {
		return listed(" The default branch is %s.", []string{r.Target})
	}
	var all []string
	for _, name := range names {
		// What is not in NFC cannot be written in a configuration.
		if strings.HasPrefix(name, branchRefs) && norm.NFC.IsNormalString(name) {
			all = append(all, name)
		}
	}
	return listed(" There is %s.", all)
}

// explainVersions judges all tags, also those that Query had left out.
func (s Selector) explainVersions(hint *lsremote.Advertisement) *fault.Error {
	wide := *s.versions
	wide.prefix = ""
	if _, dropped, ok := wide.best(hint); !ok {
		return wide.noMatch(hint, dropped)
	}
	return &fault.Error{Kind: fault.RefNotFound, Happened: "no tag matched, but one has appeared since", Advice: "Run again."}
}

// unicodeTwin returns the name that looks exactly like full and is another.
func unicodeTwin(full string, names []string) string {
	full = norm.NFC.String(full)
	for _, name := range names {
		if norm.NFC.String(name) == full {
			return name
		}
	}
	return ""
}

// listed puts up to maxNear full names into format, as the attributes that
// select them. It returns "" when there are none.
func listed(format string, names []string) string {
	if len(names) == 0 {
		return ""
	}
	var out []string
	for _, full := range names[:min(len(names), maxNear)] {
		kind, name := gitref.Natural(full)
		// The names are the server's: %q leaves nothing in them that could
		// paint the terminal.
		out = append(out, fmt.Sprintf("%s = %q", kind, fault.Clean(name)))
	}
	text := strings.Join(out, " or ")
	if more := len(names) - len(out); more > 0 {
		text += fmt.Sprintf(" or %d more", more)
	}
	return fmt.Sprintf(format, text)
}

// otherKind is the tag of the same short name for a branch, the branch for a
// tag, "" for the rest.
func (s Selector) otherKind() string {
	if short, ok := strings.CutPrefix(s.full, branchRefs); ok {
		return tagRefs + short
	}
	if short, ok := strings.CutPrefix(s.full, tagRefs); ok {
		return branchRefs + short
	}
	return ""
}
