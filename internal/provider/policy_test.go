package provider

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// tagPin is a self-observing pin p of a tag.
func tagPin(url, tag, more string) string {
	return fmt.Sprintf("resource \"gitpin_pin\" \"p\" {\n  url = %q\n  tag = %q\n%s\n}\n", url, tag, more)
}

func TestPolicyTagMoved(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url, repo := server.URL+"/a.git", filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(tagPin(url, "v1.1.0", ""))
	w.apply()

	// The same commit, tagged again: another object is a conflict too.
	gittest.Git(t, repo, "tag", "-f", "-a", "-m", "again", "v1.1.0", commitFoo)
	object := gittest.Git(t, repo, "rev-parse", "refs/tags/v1.1.0")
	wantText(t, w.plan(1).all(), "refs/tags/v1.1.0", "has moved", objectV110, object, "triggers", "destroy -refresh=false", "apply -refresh-only")
	want(t, "ready before a refresh was recorded", w.state(thePin)["ready"], true)
	w.apply("-refresh-only")
	state := w.state(thePin)
	want(t, "ready", state["ready"], false)
	want(t, "reason", state["reason"], "tag_moved")
	want(t, "object", state["object"], objectV110)

	server.Down() // sticky through failures
	wantText(t, w.plan(1).all(), "has moved", object)
	if err := server.Up(); err != nil {
		t.Fatal(err)
	}
	w.write(tagPin(url, "v1.1.0", `on_tag_moved = "hold"`))
	wantText(t, w.apply().all(), "has moved")
	want(t, "object", w.state(thePin)["object"], objectV110)
	want(t, "reason", w.state(thePin)["reason"], "tag_moved")

	gittest.Git(t, repo, "update-ref", "refs/tags/v1.1.0", objectV110) // back again
	w.apply("-refresh-only")
	want(t, "reason", w.state(thePin)["reason"], "ok")

	gittest.Git(t, repo, "update-ref", "refs/tags/v1.1.0", object)
	w.write(tagPin(url, "v1.1.0", "triggers = { accepted = object }\n")) // not valid: object is no value
	w.must(1, "validate", "-no-color")
	w.write(tagPin(url, "v1.1.0", `triggers = { accepted = "`+object+`" }`))
	w.apply()
	state = w.state(thePin)
	want(t, "object", state["object"], object)
	want(t, "reason", state["reason"], "ok")
	w.plan(0)
}

func TestPolicyMissing(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(selfPin(repo, "foo", ""))
	w.apply()
	gittest.Git(t, repo, "update-ref", "-d", "refs/heads/foo")
	wantText(t, w.plan(0).all(), "refs/heads/foo", "is gone")
	w.apply("-refresh-only")
	state := w.state(thePin)
	want(t, "commit", state["commit"], commitFoo)
	want(t, "reason", state["reason"], "ref_missing")
	w.plan(0)
	w.plan(0, "-refresh-only")
	w.write(selfPin(repo, "foo", `triggers = { a = "1" }`))
	wantText(t, w.plan(1).all(), "Nothing to re-pin to")
	w.write(selfPin(repo, "foo", `on_missing = "error"`))
	wantText(t, w.plan(1).all(), "is gone", "destroy -refresh=false")
	w.must(0, "destroy", "-auto-approve", "-no-color", "-refresh=false")
}

func TestPolicyMinObservedAge(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w, clock := newClockWorkspace(t)
	w.write(selfPin(repo, "main", "update = \"follow\"\nmin_observed_age = \"1h\""))
	w.apply() // the first reading pins the tip
	want(t, "commit", w.state(thePin)["commit"], commitMain)

	clock.advance(time.Minute)
	young := gittest.Commit(t, repo, "refs/heads/main")
	w.plan(0)
	w.apply("-refresh-only") // remembers the sighting
	want(t, "latest", w.state(thePin)["latest"].(map[string]any)["commit"], young)
	want(t, "update_available", w.state(thePin)["update_available"], false)
	w.plan(0, "-refresh-only")

	clock.advance(59 * time.Minute)
	newer := gittest.Commit(t, repo, "refs/heads/main") // a busy branch does not starve
	w.plan(0)
	w.apply("-refresh-only")
	clock.advance(time.Minute)
	got, _ := after(t, w.save("p"), thePin, "commit")
	want(t, "planned commit", got, young)
	w.must(0, "apply", "-no-color", "p")
	want(t, "commit", w.state(thePin)["commit"], young)
	clock.advance(time.Hour)
	w.apply()
	want(t, "commit", w.state(thePin)["commit"], newer)
}

func TestPolicyFreshness(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	w, clock := newClockWorkspace(t)
	w.write(oneTry, selfPin(server.URL+"/a.git", "main", `freshness_threshold = "3h"`))
	w.apply()
	clock.advance(30 * time.Minute)
	w.plan(0, "-refresh-only") // less than a third of the threshold is no news
	server.Down()
	clock.advance(2 * time.Hour)
	w.plan(0)
	clock.advance(time.Hour)
	wantText(t, w.plan(1).all(), "is stale", "3h30m", "3h0m0s", "connection refused")
	wantText(t, w.plan(1, "-refresh=false").all(), "is stale")
	w.apply("-refresh-only")
	want(t, "reason", w.state(thePin)["reason"], "stale")
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	if err := server.Up(); err != nil {
		t.Fatal(err)
	}
	w.apply()
	want(t, "reason", w.state(thePin)["reason"], "ok")
	w.must(0, "destroy", "-auto-approve", "-no-color")
}

func TestI7_NoDriftNoise(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(strictPin(repo, `ref = "HEAD"`, ""), "resource \"gitpin_pin\" \"q\" {\n  url = \""+repo+"\"\n  tag = \"v1.1.0\"\n  freshness_threshold = \"24h\"\n  min_observed_age = \"24h\"\n}\n")
	w.apply()
	gittest.Commit(t, repo, "refs/heads/foo")
	gittest.Git(t, repo, "tag", "v9.9.9", "main")
	gittest.Git(t, repo, "branch", "other", "main")
	gittest.Git(t, repo, "symbolic-ref", "HEAD", "refs/heads/other") // another default branch, the same commit
	w.plan(0)
	w.plan(0, "-refresh-only")
	w.plan(0, "-refresh=false")
}

// A server names the tag that a range picks.
func TestAServersNameDoesNotPaintTheTerminal(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	name := "refs/tags/\u009b31m\u202e7.0.0"
	gittest.Git(t, repo, "update-ref", name, commitFoo)
	w := newWorkspace(t)
	w.write(fmt.Sprintf("resource \"gitpin_pin\" \"p\" {\n  url = %q\n  semver = \"7.x\"\n  tag_filter = { pattern = \"(7.*)\", extract = \"$1\" }\n}\n", repo))
	w.apply()
	gittest.Git(t, repo, "update-ref", name, commitMain)
	r := w.plan(1)
	wantText(t, r.all(), `"refs/tags/\u009b31m\u202e7.0.0" of `, "has moved")
	if strings.ContainsAny(r.all(), "\u009b\u202e") {
		t.Errorf("raw: %+q", r.all())
	}
}
