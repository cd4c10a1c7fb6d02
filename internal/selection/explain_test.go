package selection

import (
	"fmt"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

func TestExplain(t *testing.T) {
	repo := advertise("HEAD", "refs/heads/main", "refs/heads/release-1.0", "refs/heads/cafe\u0301", "refs/tags/v1.0.0", "refs/tags/v2.0.0-rc.1",
		"refs/pull/7/head", "refs/pull/7/merge")
	for _, c := range []struct {
		name  string
		spec  Spec
		hint  *lsremote.Advertisement
		kind  fault.Kind
		parts []string
	}{
		{"a tag asked for as a branch", Spec{Branch: "v1.0.0"}, repo, fault.RefNotFound, []string{"refs/heads/v1.0.0 is not advertised", "there is a tag of that name", `tag = "v1.0.0"`}},
		{"a branch asked for as a tag", Spec{Tag: "main"}, repo, fault.RefNotFound, []string{"there is a branch of that name", `branch = "main"`}},
		{"a branch by its wrong full name", Spec{Ref: "refs/tags/main"}, repo, fault.RefNotFound, []string{`branch = "main"`}},
		{"another case", Spec{Branch: "Main"}, repo, fault.RefNotFound, []string{`Did you mean branch = "main"`}},
		{"as a clone calls it", Spec{Branch: "origin/main"}, repo, fault.RefNotFound, []string{`branch = "main"`}},
		{"another Unicode form", Spec{Branch: "caf\u00e9"}, repo, fault.RefNotFound, []string{`refs/heads/cafe\u0301`, "NFC"}},
		{"beside the ref", Spec{Ref: "refs/pull/7/haed"}, repo, fault.RefNotFound, []string{`ref = "refs/pull/7/head"`}},
		{"nothing near", Spec{Branch: "zzzzzzzzzzzzzzzzzzzzz"}, repo, fault.RefNotFound, []string{"Check the spelling"}},
		{"nothing near, the default branch", Spec{Branch: "master"}, withHead("refs/heads/main", "refs/heads/develop", "refs/heads/main"), fault.RefNotFound,
			[]string{`was pushed. The default branch is branch = "main".`}},
		{"nothing near, no default branch", Spec{Branch: "master"}, advertise("refs/heads/a", "refs/heads/b", "refs/heads/cafe\u0301", "refs/heads/d", "refs/heads/e", "refs/tags/t"), fault.RefNotFound,
			[]string{`There is branch = "a" or branch = "b" or branch = "d" or 1 more.`}},
		{"nothing near, itself the default branch", Spec{Branch: "master"}, withHead("refs/heads/master", "refs/heads/b"), fault.RefNotFound, []string{`There is branch = "b".`}},
		{"a clone's name for it", Spec{Ref: "refs/remotes/origin/main"}, repo, fault.RefNotFound, []string{`branch = "main"`}},
		{"abbreviated id as a branch", Spec{Branch: "a55ffdd"}, repo, fault.RefNotFound, []string{"this looks like an abbreviated commit id, and a commit id is not a ref", "Name the branch or the tag"}},
		{"abbreviated id as a tag", Spec{Tag: "A55FFDD3"}, repo, fault.RefNotFound, []string{"abbreviated commit id"}},
		{"abbreviated id as a full name", Spec{Ref: "refs/heads/a55ffdd"}, repo, fault.RefNotFound, []string{"abbreviated commit id"}},
		{"there by now", Spec{Branch: "main"}, advertise("refs/heads/main"), fault.RefNotFound, []string{"Check the spelling"}},
		{"no HEAD", Spec{Ref: "HEAD"}, advertise("refs/heads/trunk", "refs/heads/wip", "refs/tags/v1.0.0"), fault.NoHead, []string{`there is branch = "trunk" or branch = "wip")`}},
		{"no HEAD, many branches", Spec{Ref: "HEAD"}, advertise("refs/heads/a", "refs/heads/b", "refs/heads/c", "refs/heads/d", "refs/heads/e"), fault.NoHead, []string{"or 2 more"}},
		{"as a branch by its last part", Spec{Branch: "feature/main"}, repo, fault.RefNotFound, []string{`branch = "main"`}},
		{"names of any length", Spec{Ref: "HEAD"}, advertise("refs/heads/" + strings.Repeat("long", 1000)), fault.NoHead, []string{"longlong…"}},
		{"no HEAD, no branch", Spec{Ref: "HEAD"}, advertise("refs/tags/v1.0.0"), fault.NoHead, []string{"Name a branch instead, or"}},
		{"empty", Spec{Branch: "main"}, advertise(), fault.EmptyRepository, []string{"no branch and no tag yet"}},
		{"empty, HEAD", Spec{Ref: "HEAD"}, &lsremote.Advertisement{UnbornHead: "refs/heads/main"}, fault.EmptyRepository, []string{"Push a first commit"}},
		{"empty, range", Spec{Semver: "*"}, advertise(), fault.EmptyRepository, nil},
		{"a range without tags", Spec{Semver: "*"}, advertise("HEAD", "refs/heads/main"), fault.RefNotFound, []string{"advertises no tag"}},
		{"a range counts the tags beyond its prefix", Spec{Semver: "*", TagFilter: &TagFilter{Pattern: "^web/(.*)", Extract: "$1"}}, repo, fault.RefNotFound,
			[]string{"2 tags seen,", "2 not matched by tag_filter", `"v1.0.0" is not matched`}},
		{"a range that matches by now", Spec{Semver: "1.x"}, repo, fault.RefNotFound, []string{"has appeared since"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			e := must(t, c.spec).Explain(c.hint)
			asFault(t, e, c.kind, c.parts...)
			if len(e.Error()) > 1000 {
				t.Errorf("%d bytes of error", len(e.Error()))
			}
			if strings.ContainsAny(e.Error(), "\u0301\x1b") {
				t.Errorf("raw characters of the server in %q", e.Error())
			}
		})
	}
}

// withHead is a repository with these refs whose HEAD points at target.
func withHead(target string, names ...string) *lsremote.Advertisement {
	a := advertise(append([]string{"HEAD"}, names...)...)
	for i := range a.Refs {
		if a.Refs[i].Name == "HEAD" {
			a.Refs[i].Target = target
		}
	}
	return a
}

// A pull request that is closed has nothing to do with branches of a like name.
func TestNothingNearElsewhere(t *testing.T) {
	hint := advertise("HEAD", "refs/heads/head", "refs/heads/main", "refs/pull/8/head", "refs/tags/head")
	for _, ref := range []string{"refs/pull/7/head", "refs/changes/34/1234/head"} {
		e := must(t, Spec{Ref: ref}).Explain(hint)
		asFault(t, e, fault.RefNotFound, "Check the spelling")
		if strings.Contains(e.Error(), "Did you mean") {
			t.Errorf("%s: %v", ref, e)
		}
	}
}

func TestHintQueryIsBounded(t *testing.T) {
	for spec, want := range map[string]string{
		"refs/pull/7/head": "refs/heads/* refs/pull/7/* refs/tags/* HEAD",
		"refs/main":        "refs/heads/* refs/tags/* HEAD refs/main", // never all of refs/
		"HEAD":             "refs/heads/* refs/tags/* HEAD",
		"refs/heads/a/b":   "refs/heads/* refs/tags/* HEAD",
	} {
		sel := must(t, Spec{Ref: spec})
		q := sel.HintQuery()
		var got []string
		for _, p := range q.Prefixes {
			got = append(got, p+"*")
		}
		got = append(got, q.Refs...)
		if strings.Join(got, " ") != want {
			t.Errorf("%s: asks for %v, want %s", spec, got, want)
		}
		if !q.Covers(sel.Query()) {
			t.Errorf("%s: %v does not cover the selector's own query", spec, q)
		}
	}
}

// TestExplainOnManyRefs: near names are looked for among as many refs as a
// large repository has.
func TestExplainOnManyRefs(t *testing.T) {
	var names []string
	for i := range 100_000 {
		names = append(names, fmt.Sprintf("refs/heads/feature/%06d", i))
	}
	e := must(t, Spec{Branch: "feature/O00042"}).Explain(advertise(names...))
	asFault(t, e, fault.RefNotFound, "not advertised")
}
