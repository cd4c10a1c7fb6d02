package gitref

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
)

func TestNear(t *testing.T) {
	for _, c := range []struct {
		name, want string
		have, near []string
	}{
		{"nothing is near", "refs/heads/main", []string{"refs/heads/develop", "refs/tags/v1"}, nil},
		{"nothing at all", "refs/heads/main", nil, nil},
		{"itself is no hint", "refs/heads/main", []string{"refs/heads/main"}, nil},
		{"tag for branch before a typo", "refs/heads/v1.0.0", []string{"refs/heads/v1.0.1", "refs/tags/v1.0.0"}, []string{"refs/tags/v1.0.0", "refs/heads/v1.0.1"}},
		{"branch for tag", "refs/tags/main", []string{"refs/heads/main"}, []string{"refs/heads/main"}},
		{"branch HEAD for HEAD", "HEAD", []string{"refs/heads/HEAD"}, []string{"refs/heads/HEAD"}},
		{"case", "refs/heads/Main", []string{"refs/heads/main", "refs/heads/Maln"}, []string{"refs/heads/main", "refs/heads/Maln"}},
		{"case as another kind", "refs/tags/Foo", []string{"refs/heads/foo"}, []string{"refs/heads/foo"}},
		{"the other kind comes before case", "refs/heads/Foo", []string{"refs/heads/foo", "refs/tags/Foo"}, []string{"refs/tags/Foo", "refs/heads/foo"}},
		{"case comes before v", "refs/tags/vRc1", []string{"refs/tags/Rc1", "refs/tags/vrc1"}, []string{"refs/tags/vrc1", "refs/tags/Rc1"}},
		{"NFC for NFD", "refs/heads/cafe\u0301", []string{"refs/heads/cafe", "refs/heads/caf\u00e9"}, []string{"refs/heads/caf\u00e9", "refs/heads/cafe"}},
		{"NFD for NFC", "refs/heads/caf\u00e9", []string{"refs/heads/cafe\u0301"}, []string{"refs/heads/cafe\u0301"}},
		{"v missing", "refs/tags/1.2.3", []string{"refs/tags/1.2.4", "refs/tags/v1.2.3"}, []string{"refs/tags/v1.2.3", "refs/tags/1.2.4"}},
		{"v too many", "refs/tags/v1.2.3", []string{"refs/tags/1.2.3"}, []string{"refs/tags/1.2.3"}},
		{"v and another kind", "refs/heads/1.2.3", []string{"refs/tags/v1.2.3"}, []string{"refs/tags/v1.2.3"}},
		{"folder missing", "refs/heads/login", []string{"refs/heads/feature/login", "refs/heads/xlogin/y"}, []string{"refs/heads/feature/login"}},
		{"folder too many", "refs/heads/origin/main", []string{"refs/heads/main"}, []string{"refs/heads/main"}},
		{"letters swapped", "refs/heads/mian", []string{"refs/heads/main"}, []string{"refs/heads/main"}},
		{"a letter missing", "refs/heads/main", []string{"refs/heads/mains", "refs/heads/maxin", "refs/heads/mainss"}, []string{"refs/heads/mains", "refs/heads/maxin"}},
		{"a letter too many", "refs/heads/xmain", []string{"refs/heads/main"}, []string{"refs/heads/main"}},
		{"three edits of a long name", "refs/heads/production", []string{"refs/heads/pr0ductoin2", "refs/heads/pr0dvctoin2"}, []string{"refs/heads/pr0ductoin2"}},
		{"nearer first, then by name", "refs/heads/release-1.0", []string{"refs/heads/release-2.1", "refs/heads/release-1.2", "refs/heads/release-1.1"},
			[]string{"refs/heads/release-1.1", "refs/heads/release-1.2", "refs/heads/release-2.1"}},
		{"a typo in another kind is too far", "refs/heads/maim", []string{"refs/tags/main"}, nil},
		{"short names allow no edit", "refs/heads/ab", []string{"refs/heads/ac"}, nil},
		{"other namespaces", "refs/pull/7/head", []string{"refs/pull/8/head", "refs/heads/pull"}, []string{"refs/pull/8/head"}},
		{"a pull request is not HEAD", "refs/pull/7/head", []string{"HEAD"}, nil},
		{"a clone's HEAD is", "refs/remotes/origin/HEAD", []string{"HEAD"}, []string{"HEAD"}},
		{"duplicates count once", "refs/heads/mian", []string{"refs/heads/main", "refs/heads/main"}, []string{"refs/heads/main"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, have := range [][]string{c.have, reversed(c.have)} {
				if got := Near(c.want, have, 5); !slices.Equal(got, c.near) {
					t.Errorf("Near(%q, %q) = %q, want %q", c.want, have, got, c.near)
				}
			}
		})
	}
}

func reversed(s []string) []string {
	r := slices.Clone(s)
	slices.Reverse(r)
	return r
}

func TestNearTakesTheBestN(t *testing.T) {
	have := []string{"refs/tags/v1.2.4", "refs/tags/v1.2.5", "refs/tags/1.2.3", "refs/heads/v1.2.3"}
	if got := Near("refs/tags/v1.2.3", have, 2); !slices.Equal(got, []string{"refs/heads/v1.2.3", "refs/tags/1.2.3"}) {
		t.Errorf("got %q", got)
	}
	if got := Near("refs/tags/v1.2.3", have, 0); len(got) != 0 {
		t.Errorf("n = 0 gives %q", got)
	}
}

// A large remote, in any order and with absurd names, has one answer.
func TestNearOfAHundredThousand(t *testing.T) {
	have := make([]string, 0, 100_002)
	for i := range 100_000 {
		have = append(have, fmt.Sprintf("refs/heads/team-%d/feature-%d", i%50, i))
	}
	long := make([]byte, 60_000)
	for i := range long {
		long[i] = 'x'
	}
	have = append(have, "refs/heads/"+string(long), "refs/heads/feature-77x")
	rng := rand.New(rand.NewPCG(1, 1))
	rng.Shuffle(len(have), func(i, j int) { have[i], have[j] = have[j], have[i] })
	got := Near("refs/heads/team-27/feature-77x", have, 2)
	if want := []string{"refs/heads/feature-77x", "refs/heads/team-27/feature-77"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if got := Near("refs/heads/"+string(long)+"y", have, 5); len(got) != 0 {
		t.Errorf("an endless name is near to %d names", len(got))
	}
}

func BenchmarkNear(b *testing.B) {
	have := make([]string, 100_000)
	for i := range have {
		have[i] = fmt.Sprintf("refs/heads/team-%d/feature-%d", i%50, i)
	}
	for b.Loop() {
		Near("refs/heads/team-7/feature-5O7", have, 5)
	}
}
