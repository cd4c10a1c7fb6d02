package gitref

import (
	"bytes"
	"math/rand/v2"
	"os"
	"os/exec"
	"strings"
	"testing"
)

// gitAccepts asks git for each of names whether it is a legal full ref name.
// One shell runs them all: thousands of processes are quick only without a
// pipe each.
func gitAccepts(t *testing.T, names []string) map[string]bool {
	t.Helper()
	cmd := exec.Command("sh", "-c", `for n in "$@"; do git check-ref-format "$n" && printf 1 || printf 0; done`, "sh")
	cmd.Args = append(cmd.Args, names...)
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil || len(out) != len(names) {
		t.Fatalf("git check-ref-format: %v, %d answers for %d names: %s", err, len(out), len(names), stderr.String())
	}
	accepted := make(map[string]bool, len(names))
	for i, n := range names {
		accepted[n] = out[i] == '1'
	}
	return accepted
}

// TestCheckFullAgreesWithGit compares CheckFull with git check-ref-format on
// names that are made of the very pieces that its rules are about.
func TestCheckFullAgreesWithGit(t *testing.T) {
	pieces := []string{
		"a", "b", "main", "v1.0", "HEAD", "/", "//", ".", "..", ".lock", "lock", "@", "@{", "{", "}", "~", "^", ":", "?", "*", "[", "]",
		`\`, " ", "\t", "\x01", "\x7f", "-", "#", "%", "+", "é", "\u00a0", "\u200b", "\xff", "$", "'", `"`, ";", "|", "&", "<", ">", "!", "(", ",", "=",
	}
	rng := rand.New(rand.NewPCG(2, 39)) // the same names every time
	var names []string
	for range 500 {
		var b strings.Builder
		b.WriteString([]string{"refs/heads/", "refs/tags/", "refs/"}[rng.IntN(3)])
		for range 1 + rng.IntN(5) {
			b.WriteString(pieces[rng.IntN(len(pieces))])
		}
		names = append(names, b.String())
	}
	for _, p := range pieces {
		names = append(names, "refs/heads/"+p, "refs/heads/x"+p, "refs/heads/"+p+"x", "refs/heads/x"+p+"y", "refs/"+p)
	}
	legal := 0
	for name, want := range gitAccepts(t, names) {
		if want {
			legal++
		}
		if err := CheckFull(name); (err == nil) != want {
			t.Errorf("CheckFull(%q) = %v, git says %v", name, err, want)
		}
	}
	if legal < 100 {
		t.Errorf("only %d of the names are legal: the comparison is one-sided", legal)
	}
}

// FuzzCheckFull holds CheckFull against git's rules, written out anew from the
// manual in their order, and Branch, Tag and Natural against CheckFull.
func FuzzCheckFull(f *testing.F) {
	for _, seed := range []string{
		"HEAD", "refs/heads/main", "refs/tags/v1.0.0", "main", "tags/v1", "refs/heads/foo*", "refs/heads/a..b", "refs/heads/x.lock",
		"refs/heads/.x", "refs/heads/x@{y", "refs//x", "refs/x/", "refs/heads/a b", "\xff", "refs/heads/\u00a0", id40, "refs/heads/" + id64,
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		want := name == "HEAD" || strings.HasPrefix(name, "refs/") && manual(name)
		if err := CheckFull(name); (err == nil) != want {
			t.Errorf("CheckFull(%q) = %v, the manual says %v", name, err, want)
		}
		for kind, short := range map[string]func(string) (string, error){"branch": Branch, "tag": Tag} {
			full, err := short(name)
			if err != nil {
				continue
			}
			if CheckFull(full) != nil {
				t.Errorf("%s %q is the illegal %q", kind, name, full)
			}
			if k, n := Natural(full); k != kind || n != name {
				t.Errorf("Natural(%q) = %q, %q", full, k, n)
			}
		}
	})
}

// manual is git check-ref-format(1), rule by rule.
func manual(name string) bool {
	for part := range strings.SplitSeq(name, "/") {
		if part == "" || part[0] == '.' || strings.HasSuffix(part, ".lock") { // 1, 6
			return false
		}
	}
	for i := range len(name) { // 4, 5, 10
		if name[i] < 0x20 || name[i] == 0x7f || strings.IndexByte(" ~^:?*[\\", name[i]) >= 0 {
			return false
		}
	}
	return strings.Contains(name, "/") && // 2
		!strings.Contains(name, "..") && // 3
		!strings.HasSuffix(name, ".") && // 7
		!strings.Contains(name, "@{") // 8; 9 is "@" alone, which has no slash
}
