package selection

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// advertise makes an advertisement of refs, each "name" or "name=id", in the
// order of an Advertisement. Without an id the name stands for it.
func advertise(refs ...string) *lsremote.Advertisement {
	a := &lsremote.Advertisement{ObjectFormat: "sha1"}
	for _, r := range refs {
		name, id, ok := strings.Cut(r, "=")
		if !ok {
			id = "id of " + name
		}
		a.Refs = append(a.Refs, lsremote.Ref{Name: name, ID: id})
	}
	slices.SortFunc(a.Refs, func(x, y lsremote.Ref) int { return strings.Compare(x.Name, y.Name) })
	return a
}

func must(t *testing.T, s Spec) Selector {
	t.Helper()
	sel, err := New(s)
	if err != nil {
		t.Fatalf("New(%+v): %v", s, err)
	}
	return sel
}

// asFault fails the test unless err is a *fault.Error of the kind whose text
// holds all of the parts.
func asFault(t *testing.T, err error, kind fault.Kind, parts ...string) *fault.Error {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *fault.Error", err)
	}
	if e.Kind != kind {
		t.Errorf("kind %q, want %q (%v)", e.Kind, kind, err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q:\n%v", part, err)
		}
	}
	return e
}

func TestI1_NewRefusesWhatIsNoSelector(t *testing.T) {
	filter := &TagFilter{Pattern: "^v"}
	for name, c := range map[string]struct {
		spec  Spec
		parts []string
	}{
		"nothing":                {Spec{}, []string{"none of branch, tag, ref and semver", `ref = "HEAD"`}},
		"two":                    {Spec{Branch: "main", Tag: "v1"}, []string{"branch and tag are set"}},
		"four":                   {Spec{Branch: "a", Tag: "b", Ref: "HEAD", Semver: "1"}, []string{"branch and tag and ref and semver"}},
		"filter alone":           {Spec{Branch: "main", TagFilter: filter}, []string{"tag_filter is set without semver"}},
		"prereleases alone":      {Spec{Tag: "v1", IncludePrereleases: true}, []string{"include_prereleases is set without semver"}},
		"short ref":              {Spec{Ref: "main"}, []string{`ref = "main"`, "refs/heads/main", "refs/tags/main"}},
		"commit id as a ref":     {Spec{Ref: strings.Repeat("ab", 20)}, []string{"a commit id is not a ref"}},
		"commit id as a branch":  {Spec{Branch: strings.Repeat("ab", 20)}, []string{"branch = ", "a commit id is not a ref"}},
		"sha256 id as a tag":     {Spec{Tag: strings.Repeat("ab", 32)}, []string{"tag = ", "a commit id is not a ref"}},
		"glob":                   {Spec{Branch: "foo*"}, []string{`branch = "foo*"`}},
		"trailing blank":         {Spec{Branch: "foo "}, []string{`branch = "foo "`}},
		"full name as a branch":  {Spec{Branch: "refs/heads/main"}, []string{`"main"`}},
		"latest as a range":      {Spec{Semver: "latest"}, []string{`semver = "latest"`, ">=1.2.0 <2.0.0"}},
		"blank range":            {Spec{Semver: " "}, []string{`semver = " "`, ">=1.2.0 <2.0.0"}},
		"half a range":           {Spec{Semver: ">="}, []string{`semver = ">="`}},
		"open alternative":       {Spec{Semver: "1.x ||"}, []string{`semver = "1.x ||"`}},
		"date as a range":        {Spec{Semver: "2024/09/22"}, []string{"semver = "}},
		"number too long":        {Spec{Semver: "99999999999999999999.0.0"}, []string{"semver = "}},
		"empty pattern":          {Spec{Semver: "1.x", TagFilter: &TagFilter{}}, []string{"tag_filter.pattern", "empty"}},
		"bad pattern":            {Spec{Semver: "1.x", TagFilter: &TagFilter{Pattern: "^(v"}}, []string{`tag_filter.pattern = "^(v"`, "RE2"}},
		"look-ahead":             {Spec{Semver: "1.x", TagFilter: &TagFilter{Pattern: "(?=v)"}}, []string{"look-ahead"}},
		"unknown group":          {Spec{Semver: "1.x", TagFilter: &TagFilter{Pattern: "^(?P<version>.*)$", Extract: "$versions"}}, []string{"tag_filter.extract", "$versions", "$version"}},
		"unknown number":         {Spec{Semver: "1.x", TagFilter: &TagFilter{Pattern: "^(.*)$", Extract: "${2}"}}, []string{"${2}", "$0, $1"}},
		"number runs into names": {Spec{Semver: "1.x", TagFilter: &TagFilter{Pattern: "^(.*)_(.*)$", Extract: "$1_$2"}}, []string{"$1_", "${…}"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := New(c.spec)
			asFault(t, err, fault.Input, c.parts...)
		})
	}
}

func TestExactNames(t *testing.T) {
	a := advertise("HEAD=six", "refs/heads/main=six", "refs/heads/HEAD=one", "refs/heads/foo=two", "refs/heads/feature/foo=three",
		"refs/heads/release-1.0=four", "refs/tags/release-1.0=five", "refs/heads/fix#42=two", "refs/heads/100%=two",
		"refs/heads/a%2Fb=two", "refs/heads/a+b=two", "refs/heads/tags/v1.0.0=six", "refs/tags/v1.0.0=one",
		"refs/pull/7/head=two", "refs/pull/7/merge=three", "refs/heads/main2=nine")
	for _, c := range []struct {
		spec Spec
		want string // id; "" for not found
	}{
		{Spec{Branch: "main"}, "six"},
		{Spec{Branch: "HEAD"}, "one"},
		{Spec{Ref: "refs/heads/HEAD"}, "one"},
		{Spec{Ref: "HEAD"}, "six"},
		{Spec{Branch: "release-1.0"}, "four"},
		{Spec{Tag: "release-1.0"}, "five"},
		{Spec{Branch: "foo"}, "two"},
		{Spec{Branch: "feature/foo"}, "three"},
		{Spec{Branch: "fix#42"}, "two"},
		{Spec{Branch: "100%"}, "two"},
		{Spec{Branch: "a%2Fb"}, "two"},
		{Spec{Branch: "a/b"}, ""},
		{Spec{Branch: "a+b"}, "two"},
		{Spec{Branch: "Foo"}, ""},
		{Spec{Branch: "mai"}, ""},
		{Spec{Branch: "tags/v1.0.0"}, "six"},
		{Spec{Ref: "refs/tags/v1.0.0"}, "one"},
		{Spec{Ref: "refs/pull/7/head"}, "two"},
		{Spec{Ref: "refs/pull/7/merge"}, "three"},
		{Spec{Branch: "pull/7/head"}, ""},
	} {
		t.Run(c.spec.String(), func(t *testing.T) {
			sel := must(t, c.spec)
			if !slices.Equal(sel.Query().Refs, []string{sel.FullName()}) || len(sel.Query().Prefixes) > 0 {
				t.Errorf("asks for %v, want only %s", sel.Query(), sel.FullName())
			}
			p, err := sel.Pick(a)
			if c.want == "" {
				asFault(t, err, fault.RefNotFound, sel.FullName())
				return
			}
			if err != nil || p.Ref.ID != c.want || p.Version != "" || p.Ref.Name != sel.FullName() {
				t.Errorf("got %+v, %v; want id %s and no version", p, err, c.want)
			}
		})
	}
}

func TestPickTellsMissesApart(t *testing.T) {
	_, err := must(t, Spec{Branch: "main"}).Pick(&lsremote.Advertisement{Empty: true})
	asFault(t, err, fault.EmptyRepository, "is empty")
	_, err = must(t, Spec{Semver: "*"}).Pick(&lsremote.Advertisement{Empty: true})
	asFault(t, err, fault.EmptyRepository, "is empty")
	_, err = must(t, Spec{Ref: "HEAD"}).Pick(advertise())
	asFault(t, err, fault.NoHead, "advertises no HEAD")
	_, err = must(t, Spec{Ref: "HEAD"}).Pick(&lsremote.Advertisement{UnbornHead: "refs/heads/main"})
	asFault(t, err, fault.NoHead, "refs/heads/main")
}

func TestKeyIsEqualForTheSameThing(t *testing.T) {
	filter := func(pattern, extract string) *TagFilter { return &TagFilter{pattern, extract} }
	groups := [][]Spec{
		{{Branch: "x"}, {Ref: "refs/heads/x"}},
		{{Tag: "x"}, {Ref: "refs/tags/x"}},
		{{Ref: "HEAD"}},
		{{Branch: "HEAD"}, {Ref: "refs/heads/HEAD"}},
		{{Semver: ">=1.0 <2"}, {Semver: ">= 1.0, <2"}, {Semver: " >=1.0 <2 "}},
		{{Semver: ">=1.0 <2", IncludePrereleases: true}},
		{{Semver: ">=1.0"}},
		{{Semver: ">=1.0", TagFilter: filter("^a", "")}, {Semver: ">=1.0", TagFilter: filter("^a", "")}},
		{{Semver: ">=1.0", TagFilter: filter("^a", "$0")}},
		{{Semver: ">=1.0", TagFilter: filter("^b", "")}},
	}
	owner := map[string]int{}
	for i, group := range groups {
		for _, spec := range group {
			key := must(t, spec).Key()
			if j, ok := owner[key]; ok && j != i {
				t.Errorf("%+v has the key of another group: %s", spec, key)
			}
			owner[key] = i
		}
	}
	if len(owner) != len(groups) {
		t.Errorf("%d keys for %d groups: %v", len(owner), len(groups), owner)
	}
}

func TestSelectorOwnsItsFilter(t *testing.T) {
	filter := &TagFilter{Pattern: "^a"}
	sel := must(t, Spec{Semver: "*", TagFilter: filter})
	filter.Pattern = "^b"
	if got := sel.Spec().TagFilter.Pattern; got != "^a" {
		t.Errorf("the filter changed under the selector to %q", got)
	}
}
