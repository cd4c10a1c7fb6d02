package gittest

import (
	"fmt"
	"strings"
	"testing"
)

func TestManyRefs(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000} {
		repo := ManyRefs(t, n)
		Git(t, repo, "fsck", "--strict", "--no-dangling")
		if got := len(strings.Split(Git(t, repo, "for-each-ref"), "\n")); got != n {
			t.Errorf("%d refs, want %d", got, n)
		}
	}
	repo := ManyRefs(t, 100)
	got := Git(t, repo, "for-each-ref", "--format=%(refname) %(objecttype)", "refs/heads/main", "refs/heads/work/50", "refs/tags/v1.49.0", "refs/tags/v1.40.0")
	want := "refs/heads/main commit\nrefs/heads/work/50 commit\nrefs/tags/v1.40.0 tag\nrefs/tags/v1.49.0 commit"
	if got != want {
		t.Errorf("refs %q, want %q", got, want)
	}
	if peeled := Git(t, repo, "rev-parse", "refs/tags/v1.40.0^{}"); !strings.Contains(Git(t, repo, "ls-remote", repo, "refs/tags/v1.40.0*"), fmt.Sprintf("%s\trefs/tags/v1.40.0^{}", peeled)) {
		t.Errorf("the peeled id of v1.40.0 is not listed as %s", peeled)
	}
}

func BenchmarkWriteManyRefs(b *testing.B) {
	for b.Loop() {
		ManyRefs(b, 100_000)
	}
}
