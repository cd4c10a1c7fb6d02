package gittest

import (
	"path/filepath"
	"strings"
	"testing"
)

// TestReposIDs holds the ids that the field cases quote.
func TestReposIDs(t *testing.T) {
	root := Repos(t)
	for _, tt := range []struct{ repo, rev, want string }{
		{"a", "refs/heads/main", "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"},
		{"a", "HEAD", "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"},
		{"a", "refs/heads/HEAD", "27301587030f0eb318eb04f4f364a08b5aaa7073"},
		{"a", "refs/tags/v1.0.0", "27301587030f0eb318eb04f4f364a08b5aaa7073"},
		{"a", "refs/tags/v1.1.0", "436e3364e3cb07b36810e33df1df4c14d05243cc"},
		{"a", "refs/tags/v1.1.0^{}", "125014d5fd4336fc3180d34b1497e18ca0e7cedc"},
		{"a", "refs/tags/v1.2.0", "be75db58f8427f7c4354362a2227fdb3fcdb0ae9"},
		{"a", "refs/tags/v1.2.0^{}", "53ece16ed327c0c21d5392ab1caeff021100d61e"},
		{"a", "refs/tags/v0.0.1-treetag^{}", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{"a", "refs/tags/tree-tag", "4b825dc642cb6eb9a060e54bf8d69288fbee4904"},
		{"a", "refs/heads/release-1.0", "d78f00bda40a6754f19efb9799a29cf5ee941d6c"},
		{"a", "refs/tags/release-1.0", "a55ffdd34b5dcf319e7b2afb59711679e3b942d6"},
		{"a", "refs/heads/tags/v1.0.0", "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"},
		{"a", "refs/heads/100%", "125014d5fd4336fc3180d34b1497e18ca0e7cedc"},
		{"a", "refs/pull/7/merge", "53ece16ed327c0c21d5392ab1caeff021100d61e"},
		{"s", "refs/tags/v1.10.0", "5e1089ee146d8987d86dcd2ca4c1f1401f9a2d9d"},
		{"s", "refs/tags/v1.10.0+build.1", "8eb43f431005bdf53d033256d2598aabe8018229"},
		{"s", "refs/tags/v1.10.0+build.2", "11699feee47e9562cbc0181ca05654ef451cec37"},
		{"s", "refs/tags/2024-09-22-test", "7618c44b2170c2c57577442ed7002802f3d40ef8"},
		{"s", "refs/tags/2024-09-22-test-2", "4f3f2003e139501dc00cf11f99a0c59a7a7dae96"},
		{"s", "refs/tags/api/v3.0.0", "f411d86340a579025dba17e88667dd21dd9ed6ae"},
		{"u", "refs/heads/trunk", "0ee4b771cb79ed12bdedc26d06461983e62f7e9c"},
		{"u", "refs/tags/v1.0.0", "b11a6550073b2512eb32a5f14b5dc59ff31e5e17"},
		{"x", "refs/heads/main", "2e3dddbc83e02e2177ed9d18edbb2edb5063fc086051b25ad5b8c9a11f4d5f1f"},
		{"x", "refs/tags/v1.0.0", "57d7453c78087823a66afea4d480a3e745db9debbc7fc3ded1f7e792ccdcf366"},
	} {
		repo := filepath.Join(root, tt.repo+".git")
		if got := Git(t, repo, "rev-parse", "--verify", tt.rev); got != tt.want {
			t.Errorf("%s: %s is %s, want %s", tt.repo, tt.rev, got, tt.want)
		}
	}
}

// TestReposAreSound lets git check what was written without it, and count it.
func TestReposAreSound(t *testing.T) {
	root := Repos(t)
	for name, refs := range map[string]int{"a": 19, "s": 17, "e": 0, "u": 2, "x": 2, "xe": 0} {
		repo := filepath.Join(root, name+".git")
		Git(t, repo, "fsck", "--strict", "--no-dangling")
		written := readFile(t, filepath.Join(repo, "info", "refs"))
		Git(t, repo, "update-server-info", "--force")
		if git := readFile(t, filepath.Join(repo, "info", "refs")); git != written {
			t.Errorf("%s: info/refs is %q, git writes %q", name, written, git)
		}
		var got int
		if out := Git(t, repo, "for-each-ref"); out != "" {
			got = len(strings.Split(out, "\n"))
		}
		if got != refs {
			t.Errorf("%s has %d refs, want %d", name, got, refs)
		}
	}
}

func TestReposAreIndependent(t *testing.T) {
	one, two := Repos(t), Repos(t)
	id := Commit(t, filepath.Join(one, "a.git"), "refs/heads/main")
	if got := Git(t, filepath.Join(one, "a.git"), "rev-parse", "refs/heads/main"); got != id {
		t.Errorf("main is %s, want the commit that was added, %s", got, id)
	}
	if got := Git(t, filepath.Join(two, "a.git"), "rev-parse", "refs/heads/main"); got == id {
		t.Error("a commit in one copy moved a ref of the other")
	}
}

func TestCommit(t *testing.T) {
	repo := Empty(t, "sha1")
	first := Commit(t, repo, "refs/heads/new")
	second := Commit(t, repo, "refs/heads/new")
	if got := Git(t, repo, "rev-list", "refs/heads/new"); got != second+"\n"+first {
		t.Errorf("history is %q, want %s on top of %s", got, second, first)
	}
	root := Repos(t)
	x := Commit(t, filepath.Join(root, "x.git"), "refs/tags/v1.0.0")
	if len(x) != 64 {
		t.Errorf("commit %s in a SHA-256 repository", x)
	}
}

func TestEmptyAndDetach(t *testing.T) {
	repo := Empty(t, "sha256")
	if got := Git(t, repo, "rev-parse", "--show-object-format"); got != "sha256" {
		t.Errorf("object format %q", got)
	}
	id := Commit(t, repo, "refs/heads/main")
	Detach(t, repo, id)
	if got := Git(t, repo, "ls-remote", "--symref", repo, "HEAD"); got != id+"\tHEAD" {
		t.Errorf("ls-remote of a detached HEAD: %q", got)
	}
}
