package lsremote

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestQueryNormalize(t *testing.T) {
	for _, c := range []struct{ in, want Query }{
		{Query{}, Query{}},
		{refs("b", "a", "b"), refs("a", "b")},
		{prefix("refs/tags/", "refs/heads/", "refs/tags/"), prefix("refs/heads/", "refs/tags/")},
		{prefix("refs/tags/v1", "refs/tags/", "refs/tags/v", "refs/tagt"), prefix("refs/tags/", "refs/tagt")},
		{Query{Refs: []string{"HEAD", "refs/tags/v1", "refs/heads/a"}, Prefixes: []string{"refs/tags/"}},
			Query{Refs: []string{"HEAD", "refs/heads/a"}, Prefixes: []string{"refs/tags/"}}},
		{Query{Refs: []string{"HEAD"}, Prefixes: []string{"refs/", ""}}, Everything()},
	} {
		before := Query{slices.Clone(c.in.Refs), slices.Clone(c.in.Prefixes)}
		if got := c.in.Normalize(); !reflect.DeepEqual(got, c.want) {
			t.Errorf("%+v: got %+v", c.in, got)
		}
		if !reflect.DeepEqual(before, c.in) {
			t.Errorf("%+v was changed to %+v", before, c.in)
		}
	}
}

func TestQueryCovers(t *testing.T) {
	for _, c := range []struct {
		q, o Query
		want bool
	}{
		{Everything(), Everything(), true},
		{Everything(), Query{Refs: []string{"HEAD"}, Prefixes: []string{"refs/"}}, true},
		{prefix("refs/"), refs("HEAD"), false},
		{prefix("refs/"), Everything(), false},
		{prefix("refs/tags/"), refs("refs/tags/v1"), true},
		{prefix("refs/tags/"), prefix("refs/tags/v"), true},
		{prefix("refs/tags/v"), prefix("refs/tags/"), false},
		{refs("refs/tags/v1"), prefix("refs/tags/v1"), false},
		{refs("a", "b"), refs("b"), true},
		{refs("a"), refs("a", "b"), false},
		{refs("a"), Query{}, true},
		{Query{}, refs("a"), false},
	} {
		if got := c.q.Covers(c.o); got != c.want {
			t.Errorf("%s covers %s: got %t", c.q, c.o, got)
		}
	}
}

// The quick matcher must agree with the plain definition, and what one query
// covers must want no more than it does.
func TestQueryAgainstDefinition(t *testing.T) {
	pool := []string{"", "H", "HEAD", "refs/", "refs/heads/", "refs/heads/a", "refs/heads/ab", "refs/heads/b", "refs/tags/", "refs/tags/v1", "refs/tags/v10"}
	rnd := rand.New(rand.NewPCG(1, 2))
	pick := func() (names []string) {
		for range rnd.IntN(4) {
			names = append(names, pool[1+rnd.IntN(len(pool)-1)])
		}
		return names
	}
	for range 2000 {
		q, o := Query{Refs: pick(), Prefixes: pick()}, Query{Refs: pick(), Prefixes: pick()}
		n := q.Normalize()
		m := newMatcher(n)
		for _, name := range pool {
			if want := q.Wants(name); n.Wants(name) != want || m.wants([]byte(name)) != want {
				t.Fatalf("%+v wants %q: %t; normalised %t, matcher %t", q, name, want, n.Wants(name), m.wants([]byte(name)))
			}
			if q.Covers(o) && o.Wants(name) && !q.Wants(name) {
				t.Fatalf("%+v covers %+v but does not want %q", q, o, name)
			}
		}
		if (q.Key() == o.Key()) != reflect.DeepEqual(n, o.Normalize()) {
			t.Fatalf("keys of %+v and %+v", q, o)
		}
	}
}

func TestQueryString(t *testing.T) {
	for _, c := range []struct {
		q    Query
		want string
	}{
		{Query{}, "no refs"},
		{Everything(), "all refs"},
		{refs("refs/heads/main"), "refs/heads/main"},
		{Query{Refs: []string{"HEAD"}, Prefixes: []string{"refs/tags/"}}, "HEAD, refs/tags/*"},
		{refs("a", "b", "c", "d", "e"), "a, b, c and 2 more"},
	} {
		if got := c.q.String(); got != c.want {
			t.Errorf("got %q, want %q", got, c.want)
		}
	}
}

// What would become another line of the request is refused before anything is
// sent.
func TestReadRefusesQuery(t *testing.T) {
	for name, q := range map[string]Query{
		"nothing":                   {},
		"a line feed in a ref":      refs("refs/heads/a\nref-prefix x"),
		"a short name":              refs("main"),
		"a line feed in a prefix":   prefix("refs/\n"),
		"a space in a prefix":       prefix("refs/heads/a b"),
		"a NUL in a prefix":         prefix("refs/\x00"),
		"one bad name among others": refs("HEAD", "refs/heads/a..b"),
	} {
		log := &entries{}
		_, err := read(t, newTestClient(t, Config{Log: log.add}), "https://git.example.invalid/a.git", q)
		if e := fault.KindOf(err); e != fault.Input {
			t.Errorf("%s: %v", name, err)
		}
		if e := log.last(t); e.Requests != 0 || e.Outcome != fault.Input {
			t.Errorf("%s: logged %+v", name, e)
		}
	}
}

func TestAdvertisementLookup(t *testing.T) {
	a := &Advertisement{Refs: []Ref{{Name: "HEAD", ID: "1"}, {Name: "refs/heads/a", ID: "2"}, {Name: "refs/tags/v", ID: "3", Peeled: "4"}}}
	for _, r := range a.Refs {
		if got, ok := a.Lookup(r.Name); !ok || got != r {
			t.Errorf("%s: got %+v", r.Name, got)
		}
	}
	for _, name := range []string{"", "refs/heads/", "refs/heads/aa", "z"} {
		if got, ok := a.Lookup(name); ok || got != (Ref{}) {
			t.Errorf("%q: got %+v", name, got)
		}
	}
	if got := a.Refs[0].Commit() + a.Refs[2].Commit(); got != "14" {
		t.Errorf("commits %s", got)
	}
}
