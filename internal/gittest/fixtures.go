package gittest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
)

// Repos writes the fixture repositories into a directory of the test's own and
// returns it. The test may move their refs as it likes.
//
//	a.git   names that are easily confused: a branch HEAD, a branch and a tag
//	        release-1.0, a branch tags/v1.0.0, names with # % + @ /, pull
//	        requests, annotated tags, a tag of a tag, tags on trees
//	s.git   tags that are, nearly are, or are not semantic versions
//	e.git   empty
//	u.git   HEAD names a branch that does not exist
//	x.git   SHA-256
//	xe.git  SHA-256 and empty
//
// Every id is the same on every machine.
func Repos(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	if err := WriteRepos(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

// WriteRepos writes the repositories that Repos describes into dir.
func WriteRepos(dir string) error {
	for _, fixture := range []struct {
		name, format string
		fill         func(*bare) error
	}{
		{"a.git", "sha1", fillA},
		{"s.git", "sha1", fillS},
		{"e.git", "sha1", func(*bare) error { return nil }},
		{"u.git", "sha1", fillU},
		{"x.git", "sha256", fillX},
		{"xe.git", "sha256", func(*bare) error { return nil }},
	} {
		b, err := newBare(filepath.Join(dir, fixture.name), fixture.format)
		if err == nil {
			err = fixture.fill(b)
		}
		if err == nil {
			err = b.serverInfo()
		}
		if err != nil {
			return fmt.Errorf("writing fixture %s: %w", fixture.name, err)
		}
	}
	return nil
}

// chain stores n commits, each on top of the one before, numbered from first.
func chain(b *bare, first, n int) ([]string, error) {
	ids := make([]string, n)
	parent := ""
	for i := range ids {
		id, err := b.commit(first+i, parent)
		if err != nil {
			return nil, err
		}
		ids[i], parent = id, id
	}
	return ids, nil
}

func fillA(b *bare) error {
	c, err := chain(b, 1, 6)
	if err != nil {
		return err
	}
	tree, err := b.object("tree", "")
	if err != nil {
		return err
	}
	tag := func(name, kind, target string) string {
		id, tagErr := b.tag(name, kind, target)
		if tagErr != nil {
			err = tagErr
		}
		return id
	}
	refs := []struct{ name, id string }{
		{"refs/heads/main", c[5]},
		{"refs/heads/HEAD", c[0]},
		{"refs/heads/foo", c[1]},
		{"refs/heads/feature/foo", c[2]},
		{"refs/heads/release-1.0", c[3]},
		{"refs/tags/release-1.0", c[4]},
		{"refs/heads/fix#42", c[1]},
		{"refs/heads/user@host", c[1]},
		{"refs/heads/100%", c[1]},
		{"refs/heads/a%2Fb", c[1]},
		{"refs/heads/a+b", c[1]},
		{"refs/heads/tags/v1.0.0", c[5]},
		{"refs/pull/7/head", c[1]},
		{"refs/pull/7/merge", c[2]},
		{"refs/tags/v1.0.0", c[0]},
		{"refs/tags/v1.1.0", tag("v1.1.0", "commit", c[1])},
		{"refs/tags/v1.2.0", tag("v1.2.0", "tag", tag("inner", "commit", c[2]))},
		{"refs/tags/tree-tag", tree},
		{"refs/tags/v0.0.1-treetag", tag("v0.0.1-treetag", "tree", tree)},
	}
	if err != nil {
		return err
	}
	for _, r := range refs {
		if err := b.ref(r.name, r.id); err != nil {
			return err
		}
	}
	return nil
}

func fillS(b *bare) error {
	tags := []string{
		"v1.9.0", "v1.10.0", "1.10.1", "v1.10.0+build.1", "v1.10.0+build.2",
		"v2.0.0-rc.1", "v2.0.0-rc.10", "v2.0.0-rc.2", "v1", "v1.2", "nightly",
		"2024-09-22-test", "2024-09-22-test-2", "v01.2.3", "api/v3.0.0", "release-9.9.9",
	}
	c, err := chain(b, 10, len(tags))
	if err != nil {
		return err
	}
	for i, tag := range tags {
		if err := b.ref("refs/tags/"+tag, c[i]); err != nil {
			return err
		}
	}
	return b.ref("refs/heads/main", c[len(c)-1])
}

func fillU(b *bare) error {
	return fillOneCommit(b, 50, "refs/heads/trunk")
}

func fillX(b *bare) error {
	return fillOneCommit(b, 70, "refs/heads/main")
}

// fillOneCommit makes commit n, the branch, and an annotated tag v1.0.0.
func fillOneCommit(b *bare, n int, branch string) error {
	id, err := b.commit(n, "")
	if err != nil {
		return err
	}
	tag, err := b.tag("v1.0.0", "commit", id)
	if err != nil {
		return err
	}
	if err := b.ref(branch, id); err != nil {
		return err
	}
	return b.ref("refs/tags/v1.0.0", tag)
}

// Empty makes an empty bare repository in a directory of the test's own and
// returns its path. format is "sha1" or "sha256".
func Empty(t testing.TB, format string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "empty.git")
	if _, err := newBare(dir, format); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Detach makes HEAD of repo name the commit id itself, with no branch between.
func Detach(t testing.TB, repo, id string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(repo, "HEAD"), []byte(id+"\n"), 0o644); err != nil {
		t.Fatal(err)
	}
}
