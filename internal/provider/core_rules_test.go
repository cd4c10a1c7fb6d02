package provider

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Rules of Terraform core that a provider breaks without noticing.

// TestIgnoreChanges: core leaves ignored attributes out of a plan, but hands the
// raw configuration to the apply.
func TestIgnoreChanges(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	config := func(ignore, branch, onMissing, trigger string) string {
		return fmt.Sprintf(`
resource "gitpin_pin" "p" {
  url        = %[1]q
  branch     = %[3]q
  on_missing = %[4]q
  triggers   = { a = %[5]q }
  lifecycle {
    ignore_changes = %[2]s
  }
}
data "gitpin_ref" "d" {
  url    = %[1]q
  branch = %[3]q
}
resource "gitpin_pin" "q" {
  observation = data.gitpin_ref.d.observation
  on_missing  = %[4]q
  lifecycle {
    ignore_changes = [observation]
  }
}
resource "gitpin_pin_set" "s" {
  pins       = { m = { url = %[1]q, branch = %[3]q } }
  on_missing = %[4]q
  lifecycle {
    ignore_changes = [pins]
  }
}
`, repo, ignore, branch, onMissing, trigger)
	}
	gittest.Git(t, repo, "update-ref", "refs/heads/same", "main")
	w := newWorkspace(t)
	w.write(config("[branch, triggers]", "main", "hold", "1"))
	w.apply()
	gittest.Commit(t, repo, "refs/heads/main")
	for _, branch := range []string{"same", "foo"} {
		w.write(config("[branch, triggers]", branch, map[string]string{"same": "error", "foo": "hold"}[branch], branch))
		w.apply()
		for _, address := range []string{thePin, "gitpin_pin.q"} {
			want(t, address+" commit", w.state(address)["commit"], commitMain)
			want(t, address+" tracking_ref", w.state(address)["tracking_ref"], "refs/heads/main")
		}
		want(t, "branch", w.state(thePin)["branch"], "main")
		want(t, "commits", w.state(theSet)["commits"], map[string]any{"m": commitMain})
		w.plan(0)
	}
}

// TestUnknownInputThatChangesNothing: what the first plan shows of a known
// attribute must be what the second one, during apply, shows.
func TestUnknownInputThatChangesNothing(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	config := func(n string) string {
		return fmt.Sprintf(`
resource "terraform_data" "u" {
  input            = "hold"
  triggers_replace = %[2]q
}
data "gitpin_ref" "d" {
  url    = %[1]q
  branch = "main"
}
resource "gitpin_pin" "p" {
  observation = data.gitpin_ref.d.observation
  update      = terraform_data.u.output
}
resource "gitpin_pin" "q" {
  observation = data.gitpin_ref.d.observation
  triggers    = { id = terraform_data.u.id }
}
data "gitpin_ref" "later" {
  url        = %[1]q
  branch     = "foo"
  depends_on = [terraform_data.u]
}
resource "gitpin_pin_set" "s" {
  observations = {
    now   = data.gitpin_ref.d.observation
    later = data.gitpin_ref.later.observation
  }
}
`, repo, n)
	}
	w, clock := newClockWorkspace(t)
	w.write(config("1"))
	w.apply()
	clock.advance(time.Minute) // another observed_at
	moved := gittest.Commit(t, repo, "refs/heads/main")
	w.write(config("2"))
	plan := w.save("p")
	want(t, "commits of the held set", planned(t, plan, theSet).After.(map[string]any)["commits"], map[string]any{"now": commitMain, "later": commitFoo})
	w.must(0, "apply", "-no-color", "p")
	want(t, "commit of the held pin", w.state(thePin)["commit"], commitMain)
	want(t, "commit of the triggered pin", w.state("gitpin_pin.q")["commit"], moved)
	want(t, "commits", w.state(theSet)["commits"], map[string]any{"now": commitMain, "later": commitFoo})
	clock.advance(time.Minute)
	w.plan(0)
}

func TestTriggersNullAndEmpty(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	config := func(triggers string) string {
		return selfPin(repo, "main", "triggers = "+triggers) + pinSet(repo, "triggers = "+triggers, "m", "main")
	}
	w := newWorkspace(t)
	w.write(config("null"))
	w.apply()
	gittest.Commit(t, repo, "refs/heads/main")
	for _, triggers := range []string{"{}", "null", "{}"} {
		w.write(config(triggers))
		w.apply()
		want(t, "commit", w.state(thePin)["commit"], commitMain)
		want(t, "commits", w.state(theSet)["commits"], map[string]any{"m": commitMain})
		w.plan(0)
	}
}

func TestAFormThatDependsOnAVariable(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(fmt.Sprintf(`
variable "strict" {
  type    = bool
  default = true
}
data "gitpin_ref" "d" {
  url    = %[1]q
  branch = "main"
}
resource "gitpin_pin" "p" {
  observation = var.strict ? data.gitpin_ref.d.observation : null
  url         = var.strict ? null : %[1]q
  branch      = var.strict ? null : "main"
}
resource "gitpin_pin_set" "s" {
  observations = var.strict ? { m = data.gitpin_ref.d.observation } : null
  pins         = var.strict ? null : { m = { url = %[1]q, branch = "main" } }
}
`, repo))
	w.must(0, "validate", "-no-color")
	w.apply()
	gittest.Commit(t, repo, "refs/heads/main")
	w.apply("-var", "strict=false") // another form of the same plumbing
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	want(t, "commits", w.state(theSet)["commits"], map[string]any{"m": commitMain})
}

func TestPinSetMovesThoughTheCommitStays(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(fmt.Sprintf("resource \"gitpin_pin_set\" \"s\" {\n  pins = { t = { url = %q, tag = \"v1.1.0\" } }\n  update = \"follow\"\n  on_tag_moved = \"follow\"\n}\n", repo))
	w.apply()
	gittest.Git(t, repo, "tag", "-f", "-a", "-m", "again", "v1.1.0", commitFoo)
	w.apply()
	member := w.state(theSet)["members"].(map[string]any)["t"].(map[string]any)
	want(t, "object", member["object"], gittest.Git(t, repo, "rev-parse", "refs/tags/v1.1.0"))
	w.plan(0)
}

func TestAFailingMemberMakesNoOtherStale(t *testing.T) {
	root := gittest.Repos(t)
	up := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	down := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	w, clock := newClockWorkspace(t)
	w.write(oneTry, fmt.Sprintf("resource \"gitpin_pin_set\" \"s\" {\n  pins = {\n    a = { url = %q, tag = \"v1.1.0\" }\n    b = { url = %q, branch = \"main\" }\n  }\n  on_tag_moved = \"hold\"\n  freshness_threshold = \"1h\"\n}\n", up.URL+"/a.git", down.URL+"/a.git"))
	w.apply()
	down.Down()
	clock.advance(2 * time.Hour)
	w.apply("-refresh-only")
	members := w.state(theSet)["members"].(map[string]any)
	want(t, "reason of a", members["a"].(map[string]any)["reason"], "ok")
	want(t, "reason of b", members["b"].(map[string]any)["reason"], "stale")
	w.plan(0, "-refresh-only")
	gittest.Git(t, filepath.Join(root, "a.git"), "tag", "-f", "v1.1.0", "main")
	wantText(t, w.apply("-refresh-only").all(), `For "a":`, "has moved")
	w.plan(0, "-refresh-only")
}

func TestRefsListsNothing(t *testing.T) {
	root := gittest.Repos(t)
	w := newWorkspace(t)
	w.write(fmt.Sprintf("data \"gitpin_refs\" \"r\" {\n  url = \"%s/e.git\"\n}\noutput \"n\" {\n  value = [for n in data.gitpin_refs.r.names : n]\n}\n", root))
	w.plan(2)
	w.write(fmt.Sprintf("data \"gitpin_refs\" \"r\" {\n  url = \"%s/e.git\"\n  prefixes = [\"refs/heads/\", null]\n}\n", root))
	r := w.must(1, "validate", "-no-color")
	if strings.Contains(r.all(), "always an error in the provider") {
		t.Fatal(r.all())
	}
}
