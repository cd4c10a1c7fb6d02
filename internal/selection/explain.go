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
		return &fault.Error{Kind: fault.RefNotFound, Happened: s.full + " is not advertised by the repository",
			Advice: "Check the spelling (case counts), and that it was pushed."}
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
		// All of "refs/" could be a million pull requests.
		if dir := s.full[:strings.LastIndex(s.full, "/")+1]; strings.Count(dir, "/") > 1 {
			q.Prefixes = append(q.Prefixes, dir)
		}
	}
	return q.Normalize()
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
		// The ref itself may be there by now; it is not near, it is it.
		if r.Name != s.full && (s.full != head || strings.HasPrefix(r.Name, branchRefs)) {
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
	if len(near) > 0 {
		e.Advice = listed("Did you mean %s?", near)
	}
	return e
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
