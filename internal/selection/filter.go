package selection

import (
	"fmt"
	"regexp"
	"regexp/syntax"
	"slices"
	"strconv"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// filter is a compiled TagFilter. A nil filter takes every tag as it is.
type filter struct {
	spec    TagFilter
	pattern *regexp.Regexp
}

func newFilter(f TagFilter) (*filter, error) {
	if f.Pattern == "" {
		return nil, &fault.Error{Kind: fault.Input, Asked: "tag_filter.pattern",
			Happened: "the pattern is empty", Advice: "Write an RE2 expression, or leave tag_filter out to take every tag."}
	}
	pattern, err := regexp.Compile(f.Pattern)
	if err != nil {
		return nil, &fault.Error{Kind: fault.Input, Asked: fmt.Sprintf("tag_filter.pattern = %q", f.Pattern),
			Happened: "this is no RE2 expression (" + fault.Clean(err.Error()) + ")",
			Advice:   "See https://github.com/google/re2/wiki/Syntax: it has no look-ahead and no back-references.", Err: err}
	}
	c := &filter{spec: f, pattern: pattern}
	if err := c.checkTemplate(); err != nil {
		return nil, err
	}
	return c, nil
}

// templateVariable finds what regexp.Expand replaces in a template: $name,
// ${name} and $1, where a name is as long as letters, digits and underscores
// go. "$$" stands for "$".
var templateVariable = regexp.MustCompile(`\$(?:\$|\{([\p{L}\p{Nd}_]+)\}|([\p{L}\p{Nd}_]+))`)

// checkTemplate refuses a variable that the pattern has no group for. It would
// be replaced by nothing, and no tag would ever be a version: "$1_" and
// "$versions" for "$version" are the usual slips.
func (f *filter) checkTemplate() error {
	for _, m := range templateVariable.FindAllStringSubmatch(f.spec.Extract, -1) {
		name := m[1] + m[2]
		if m[0] == "$$" || f.hasGroup(name) {
			continue
		}
		return &fault.Error{Kind: fault.Input, Asked: fmt.Sprintf("tag_filter.extract = %q", f.spec.Extract),
			Happened: fmt.Sprintf("%s stands for a group that the pattern %q does not have", m[0], f.spec.Pattern),
			Advice:   fmt.Sprintf("The groups are %s. Write ${…} where a letter, a digit or an underscore follows.", strings.Join(f.groups(), ", "))}
	}
	return nil
}

func (f *filter) hasGroup(name string) bool {
	if i, err := strconv.Atoi(name); err == nil {
		return i <= f.pattern.NumSubexp()
	}
	return slices.Contains(f.pattern.SubexpNames(), name)
}

// groups lists what a template may name, "$0" being the whole match.
func (f *filter) groups() []string {
	var out []string
	for i, name := range f.pattern.SubexpNames() {
		if name == "" {
			name = strconv.Itoa(i)
		}
		out = append(out, "$"+name)
	}
	return out
}

// apply returns the text of a tag that is to be a version, and whether the
// pattern matches the tag at all.
func (f *filter) apply(tag string) (string, bool) {
	if f == nil {
		return tag, true
	}
	match := f.pattern.FindStringSubmatchIndex(tag)
	if match == nil {
		return "", false
	}
	if f.spec.Extract == "" {
		return tag, true
	}
	return string(f.pattern.ExpandString(nil, f.spec.Extract, tag, match)), true
}

func (f *filter) key() string {
	if f == nil {
		return "none"
	}
	return fmt.Sprintf("%q to %q", f.spec.Pattern, f.spec.Extract)
}

// literalPrefix returns the text that every tag which the pattern matches
// begins with. Only a pattern that is anchored with ^ has one.
func (f *filter) literalPrefix() string {
	parsed, err := syntax.Parse(f.spec.Pattern, syntax.Perl)
	if err != nil || parsed.Op != syntax.OpConcat {
		return "" // "^" alone, or an alternative at the top
	}
	parts := parsed.Sub
	if parts[0].Op != syntax.OpBeginText {
		return ""
	}
	var prefix strings.Builder
	for _, part := range parts[1:] {
		if part.Op != syntax.OpLiteral || part.Flags&syntax.FoldCase != 0 {
			break
		}
		prefix.WriteString(string(part.Rune))
	}
	return cutAtIllegal(prefix.String())
}

// cutAtIllegal ends a prefix before the first character that no ref name has
// (git check-ref-format): a blank or a line feed has no place in a request.
func cutAtIllegal(prefix string) string {
	i := strings.IndexFunc(prefix, func(r rune) bool { return r <= ' ' || r == 0x7f || strings.ContainsRune(`~^:?*[\`, r) })
	if i >= 0 {
		return prefix[:i]
	}
	return prefix
}
