package gittest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// ManyRefs makes a bare repository with n refs in a directory of the test's
// own and returns its path. See WriteManyRefs.
func ManyRefs(t testing.TB, n int) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "many.git")
	if err := WriteManyRefs(dir, n); err != nil {
		t.Fatal(err)
	}
	return dir
}

// WriteManyRefs makes a bare repository in dir with n refs, n >= 1, all packed:
// refs/heads/main, then by turns the branch refs/heads/work/<i> and the tag
// refs/tags/v1.<i>.0, for i from 1 on. Each tenth tag is annotated.
func WriteManyRefs(dir string, n int) error {
	b, err := newBare(dir, "sha1")
	if err != nil {
		return err
	}
	// Different ids, because an answer that repeats one compresses better than
	// a real one; not n of them, because each costs a file.
	commits, err := chain(b, 1, 100)
	if err != nil {
		return err
	}
	annotated := make([]string, len(commits))
	for i, commit := range commits {
		if annotated[i], err = b.tag(fmt.Sprintf("v1.%d0.0", i), "commit", commit); err != nil {
			return err
		}
	}
	lines := make([]string, 0, n)
	lines = append(lines, "refs/heads/main "+commits[0])
	for i := 1; i < n; i++ {
		commit := commits[i%len(commits)]
		switch number := (i + 1) / 2; {
		case i%2 == 1:
			lines = append(lines, fmt.Sprintf("refs/heads/work/%d %s", number, commit))
		case number%10 == 0:
			lines = append(lines, fmt.Sprintf("refs/tags/v1.%d.0 %s^%s", number, annotated[i%len(commits)], commit))
		default:
			lines = append(lines, fmt.Sprintf("refs/tags/v1.%d.0 %s", number, commit))
		}
	}
	slices.Sort(lines) // a space sorts before all that is in a name
	var packed strings.Builder
	packed.WriteString("# pack-refs with: peeled fully-peeled sorted \n")
	for _, line := range lines {
		name, ids, _ := strings.Cut(line, " ")
		id, peeled, ok := strings.Cut(ids, "^")
		packed.WriteString(id + " " + name + "\n")
		if ok {
			packed.WriteString("^" + peeled + "\n")
		}
	}
	return b.write("packed-refs", packed.String())
}
