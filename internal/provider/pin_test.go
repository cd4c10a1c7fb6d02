package provider

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

const (
	commitMain = "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca" // a.git main
	commitFoo  = "125014d5fd4336fc3180d34b1497e18ca0e7cedc" // a.git foo, v1.1.0^{}
	objectV110 = "436e3364e3cb07b36810e33df1df4c14d05243cc" // a.git v1.1.0
)

// selfPin is a self-observing pin p of a branch.
func selfPin(url, branch, more string) string {
	return fmt.Sprintf("resource \"gitpin_pin\" \"p\" {\n  url = %q\n  branch = %q\n%s\n}\n", url, branch, more)
}

// strictPin is a pin p that is fed by a data source d.
func strictPin(url, selector, more string) string {
	return fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = %q\n  %s\n}\nresource \"gitpin_pin\" \"p\" {\n  observation = data.gitpin_ref.d.observation\n%s\n}\n", url, selector, more)
}

const thePin = "gitpin_pin.p"

func TestPinMainJob(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url, repo := server.URL+"/a.git", filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(selfPin(url, "main", `triggers = { release = "1" }`))

	plan := w.save("create.plan")
	got, known := after(t, plan, thePin, "commit")
	if !known || got != commitMain {
		t.Fatalf("planned commit %v (known %v), want %s", got, known, commitMain)
	}
	w.must(0, "apply", "-no-color", "create.plan")
	w.plan(0)
	w.plan(0, "-refresh-only")

	moved := gittest.Commit(t, repo, "refs/heads/main")
	w.plan(0) // held: the move is drift in latest, not a change of the pin
	w.apply("-refresh-only")
	state := w.state(thePin)
	want(t, "commit", state["commit"], commitMain)
	want(t, "update_available", state["update_available"], true)
	want(t, "latest.commit", state["latest"].(map[string]any)["commit"], moved)

	w.write(selfPin(url, "main", `triggers = { release = "2" }`))
	plan = w.save("repin.plan")
	got, _ = after(t, plan, thePin, "commit")
	want(t, "planned commit", got, moved)
	gittest.Commit(t, repo, "refs/heads/main")
	w.must(0, "apply", "-no-color", "repin.plan")
	state = w.state(thePin)
	want(t, "commit", state["commit"], moved)
	want(t, "previous_commit", state["previous_commit"], commitMain)
	want(t, "ready", state["ready"], true)
}

func TestI3_StrictFormRecordsThePlannedCommit(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url, repo := server.URL+"/a.git", filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(strictPin(url, `branch = "main"`, ""))
	w.save("create.plan")
	moved := gittest.Commit(t, repo, "refs/heads/main")
	w.must(0, "apply", "-no-color", "create.plan")
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	w.plan(0)

	w.write(strictPin(url, `branch = "main"`, `update = "follow"`))
	plan := w.save("follow.plan")
	got, _ := after(t, plan, thePin, "commit")
	want(t, "planned commit", got, moved)
	gittest.Commit(t, repo, "refs/heads/main")
	server.Down()
	w.must(0, "apply", "-no-color", "follow.plan")
	want(t, "commit", w.state(thePin)["commit"], moved)
}

func TestI3_SelfObservingCreationStopsWhenTheRefMoves(t *testing.T) {
	root := gittest.Repos(t)
	w := newWorkspace(t)
	w.write(selfPin(filepath.Join(root, "a.git"), "main", ""))
	w.save("create.plan")
	gittest.Commit(t, filepath.Join(root, "a.git"), "refs/heads/main")
	r := w.must(1, "apply", "-no-color", "create.plan")
	wantText(t, r.all(), "inconsistent final plan", "nothing is recorded")
	if w.state(thePin) != nil {
		t.Fatal("something was recorded")
	}
}

func TestI2_PlumbingChangeNeverShowsTheOldCommit(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url := server.URL + "/a.git"
	w := newWorkspace(t)
	w.write(selfPin(url, "main", ""))
	w.apply()

	w.write(selfPin(url, "foo", ""))
	got, _ := after(t, w.save("branch.plan"), thePin, "commit")
	want(t, "planned commit", got, commitFoo)

	server.Down()
	r := w.plan(1)
	wantText(t, r.all(), "Nothing is pinned")
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	w.must(1, "plan", "-no-color", "-refresh=false")
}

func TestI5_UnreachableRemoteHoldsThePin(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	w := newWorkspace(t)
	w.write(selfPin(server.URL+"/a.git", "main", ""))
	w.apply()
	server.Down()
	wantText(t, w.plan(0).all(), "were not refreshed", "What is recorded stays")
	w.plan(0, "-refresh=false")
	w.plan(0, "-refresh-only")
	w.plan(0, "-target="+thePin)
	w.write(selfPin(server.URL+"/a.git", "main", `triggers = { a = "1" }`))
	wantText(t, w.plan(1).all(), "trigger is not used up")
	w.must(0, "destroy", "-auto-approve", "-no-color", "-refresh=false")
	if server.Up() != nil {
		t.Fatal("the server does not start again")
	}
	w.write(selfPin(server.URL+"/a.git", "main", ""))
	w.apply()
	server.Down()
	w.must(0, "plan", "-no-color", "-destroy")
	w.must(0, "destroy", "-auto-approve", "-no-color")
}

func TestPinImport(t *testing.T) {
	root := gittest.Repos(t)
	url := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(fmt.Sprintf("resource \"gitpin_pin\" \"p\" {\n  url = %q\n  tag = \"v1.1.0\"\n}\n", url))
	w.must(0, "import", "-no-color", thePin, url+" refs/tags/v1.1.0")
	state := w.state(thePin)
	want(t, "commit", state["commit"], commitFoo)
	want(t, "object", state["object"], objectV110)
	w.plan(0)
	w.plan(0, "-refresh-only")
	w.write(fmt.Sprintf("resource \"gitpin_pin\" \"p\" {\n  url = %q\n  ref = \"refs/tags/v1.1.0\"\n  triggers = { a = \"1\" }\n}\n", url))
	gittest.Git(t, url, "tag", "-f", "-a", "-m", "moved", "v1.1.0", "main")
	wantText(t, w.plan(1).all(), "has moved", objectV110)
}
