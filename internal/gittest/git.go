package gittest

import (
	"bytes"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync/atomic"
	"testing"
)

// identity is author and committer of everything that this package makes.
const identity = "fx <fx@example.invalid>"

// Env returns an environment for git in which nothing of the person who runs
// the tests is left: no system, user or XDG configuration, no credentials
// helper, no prompt, no proxy, no trust store variable, a fixed identity and
// an English locale. Repositories of any owner are accepted.
//
// Git drops GIT_CONFIG_COUNT for the upload-pack that it starts for a local
// path, so there its ownership check still applies.
func Env() []string {
	env := []string{
		"HOME=" + os.DevNull,
		"LC_ALL=C",
		"GIT_CONFIG_NOSYSTEM=1",
		"GIT_CONFIG_GLOBAL=" + os.DevNull,
		"GIT_ATTR_NOSYSTEM=1",
		"GIT_TERMINAL_PROMPT=0",
		"GIT_AUTHOR_NAME=fx", "GIT_AUTHOR_EMAIL=fx@example.invalid",
		"GIT_COMMITTER_NAME=fx", "GIT_COMMITTER_EMAIL=fx@example.invalid",
		"GIT_CONFIG_COUNT=4",
		"GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*",
		"GIT_CONFIG_KEY_1=init.defaultBranch", "GIT_CONFIG_VALUE_1=main",
		"GIT_CONFIG_KEY_2=gc.auto", "GIT_CONFIG_VALUE_2=0",
		"GIT_CONFIG_KEY_3=maintenance.auto", "GIT_CONFIG_VALUE_3=false",
	}
	for _, name := range []string{"PATH", "TMPDIR", "SystemRoot"} {
		if value, ok := os.LookupEnv(name); ok {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// RunGit runs git with args in dir, in the environment of Env and then env,
// and returns its standard output without the white space around it. An error
// holds the command and what git said on standard error.
func RunGit(dir string, env []string, args ...string) (string, error) {
	cmd := exec.Command("git", args...)
	cmd.Dir = dir
	cmd.Env = append(Env(), env...)
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	if err := cmd.Run(); err != nil {
		return "", fmt.Errorf("git %s: %w: %s", strings.Join(args, " "), err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(stdout.String()), nil
}

// Git is RunGit for tests: an error ends the test.
func Git(t testing.TB, dir string, args ...string) string {
	t.Helper()
	out, err := RunGit(dir, nil, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// commits numbers the commits of AddCommit, so that no two are equal.
var commits atomic.Int64

// AddCommit adds a commit with an empty tree on top of the commit that ref (a
// full name) has in repo, or without a parent where there is no such ref, moves
// ref to it and returns its id. An annotated tag becomes a lightweight one.
func AddCommit(repo, ref string) (string, error) {
	n := commits.Add(1)
	tree, err := RunGit(repo, nil, "hash-object", "-t", "tree", "-w", os.DevNull)
	if err != nil {
		return "", err
	}
	args := []string{"commit-tree", tree, "-m", fmt.Sprintf("added commit %d", n)}
	// --verify with --quiet fails without a word when the ref is not there.
	if parent, err := RunGit(repo, nil, "rev-parse", "--verify", "--quiet", ref+"^{commit}"); err == nil {
		args = append(args, "-p", parent)
	}
	date := fmt.Sprintf("%d +0000", 1700100000+n)
	id, err := RunGit(repo, []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}, args...)
	if err != nil {
		return "", err
	}
	_, err = RunGit(repo, nil, "update-ref", ref, id)
	return id, err
}

// Commit is AddCommit for tests.
func Commit(t testing.TB, repo, ref string) string {
	t.Helper()
	id, err := AddCommit(repo, ref)
	if err != nil {
		t.Fatal(err)
	}
	return id
}
