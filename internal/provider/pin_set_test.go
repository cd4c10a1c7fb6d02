package provider

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

const theSet = "gitpin_pin_set.s"

// pinSet is a self-observing set s with one member for each pair of a name and
// a branch.
func pinSet(url, more string, nameAndBranch ...string) string {
	members := ""
	for i := 0; i < len(nameAndBranch); i += 2 {
		members += fmt.Sprintf("    %s = { url = %q, branch = %q }\n", nameAndBranch[i], url, nameAndBranch[i+1])
	}
	return fmt.Sprintf("resource \"gitpin_pin_set\" \"s\" {\n  pins = {\n%s  }\n%s\n}\n", members, more)
}

func TestPinSetKeepsTheOthersWhenOneComesGoesOrIsRenamed(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url, repo := server.URL+"/a.git", filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(pinSet(url, "", "one", "main", "two", "foo"))
	w.apply()
	w.plan(0)
	w.plan(0, "-refresh-only")
	state := w.state(theSet)
	want(t, "pins_json", state["pins_json"], `{"one":"`+commitMain+`","two":"`+commitFoo+`"}`)

	gittest.Commit(t, repo, "refs/heads/main")
	w.plan(0)
	w.write(pinSet(url, "", "uno", "main", "two", "foo", "three", "release-1.0"))
	plan := w.save("change.plan")
	got, known := after(t, plan, theSet, "commits")
	if !known {
		t.Fatal("the commits are not known in the plan")
	}
	want(t, "planned commits", got, map[string]any{"uno": commitMain, "two": commitFoo, "three": "d78f00bda40a6754f19efb9799a29cf5ee941d6c"})
	w.must(0, "apply", "-no-color", "change.plan")
	w.plan(0)

	server.Down()
	w.write(pinSet(url, "", "uno", "main"))
	w.apply() // removing needs no reading
	w.write(pinSet(url, "", "uno", "main", "two", "foo"))
	wantText(t, w.plan(1).all(), `For "two":`)
	want(t, "commits", w.state(theSet)["commits"], map[string]any{"uno": commitMain})
}

func TestPinSetMovesAllOrNone(t *testing.T) {
	root := gittest.Repos(t)
	up := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	down := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	config := func(more string) string {
		return fmt.Sprintf("resource \"gitpin_pin_set\" \"s\" {\n  pins = {\n    a = { url = %q, branch = \"main\" }\n    b = { url = %q, branch = \"foo\" }\n  }\n  %s\n}\n",
			up.URL+"/a.git", down.URL+"/a.git", more)
	}
	w := newWorkspace(t)
	w.write(config(`update = "follow"`))
	w.apply()
	moved := gittest.Commit(t, filepath.Join(root, "a.git"), "refs/heads/main")
	down.Down()
	wantText(t, w.plan(0).all(), `For "b":`)
	if err := down.Up(); err != nil {
		t.Fatal(err)
	}
	got, _ := after(t, w.save("follow.plan"), theSet, "commits")
	want(t, "planned commits", got, map[string]any{"a": moved, "b": commitFoo})
}

func TestPinSetFromSnapshot(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	config := func(onError, branch, more string) string {
		return fmt.Sprintf("data \"gitpin_snapshot\" \"d\" {\n  on_error = %q\n  targets = {\n    a = { url = %[2]q, branch = \"main\" }\n    b = { url = %[2]q, branch = %[3]q }\n  }\n}\nresource \"gitpin_pin_set\" \"s\" {\n  observations = data.gitpin_snapshot.d.observations\n%[4]s\n}\n",
			onError, server.URL+"/a.git", branch, more)
	}
	w := newWorkspace(t)
	w.write(config("fail", "nope", ""))
	wantText(t, w.plan(1).all(), `For "b":`, "refs/heads/nope")
	w.write(config("fail", "foo", `update = "follow"`))
	w.apply()
	w.plan(0)
	server.Forget()
	w.plan(0)
	if n := server.Count(); n != 1 {
		t.Fatalf("%d requests for one repository, want 1", n)
	}
	repo := filepath.Join(root, "a.git")
	moved := gittest.Commit(t, repo, "refs/heads/main")
	plan := w.save("follow.plan")
	gittest.Commit(t, repo, "refs/heads/main")
	w.must(0, "apply", "-no-color", "follow.plan")
	_ = plan
	want(t, "commits", w.state(theSet)["commits"], map[string]any{"a": moved, "b": commitFoo})
}
