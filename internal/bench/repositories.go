package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// many is the size of the repositories of which there are many on one host.
const many = 1_000

// repository is one made for the benchmark.
type repository struct {
	name string // of its directory
	refs int
	tag  string // the full name of the ref that is looked for in it
}

// makeRepository makes a repository with n refs under root.
func makeRepository(root string, n int) (repository, error) {
	r := repository{name: fmt.Sprintf("%d.git", n), refs: n}
	dir := filepath.Join(root, r.name)
	if err := gittest.WriteManyRefs(dir, n); err != nil {
		return repository{}, err
	}
	packed, err := os.ReadFile(filepath.Join(dir, "packed-refs"))
	if err != nil {
		return repository{}, err
	}
	r.tag = middleTag(packed)
	return r, nil
}

// middleTag returns the tag in the middle of all annotated tags in a
// packed-refs file, or the last ref where there is none. A server that lists
// all refs has sent three quarters of the list by then, since it lists the
// branches first.
func middleTag(packed []byte) string {
	var annotated []string
	last := ""
	for line := range bytes.Lines(packed) {
		_, name, ref := strings.Cut(strings.TrimSpace(string(line)), " ")
		switch {
		case line[0] == '#':
		case ref:
			last = name
		case line[0] == '^':
			annotated = append(annotated, last)
		}
	}
	if len(annotated) == 0 {
		return last
	}
	return annotated[len(annotated)/2]
}

// alias gives the repository n more names under root and returns them: for a
// client they are as many repositories, and none of them is colder than another
// on the server's disk.
func (r repository) alias(root string, n int) ([]string, error) {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("many-%03d.git", i)
		if err := os.Symlink(r.name, filepath.Join(root, names[i])); err != nil {
			return nil, err
		}
	}
	return names, nil
}
