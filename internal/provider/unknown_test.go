package provider

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// deferred is a data source d that is read during apply whenever input changes,
// a pin p of it, and a resource that is replaced when the pin moves.
func deferred(url, input, more string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"before\" {\n  input = %q\n}\n", input) +
		strings.Replace(strictPin(url, `branch = "main"`, more), "\n}\nresource", "\n  depends_on = [terraform_data.before]\n}\nresource", 1) +
		"resource \"terraform_data\" \"after\" {\n  triggers_replace = gitpin_pin.p.commit\n}\n"
}

func TestHeldPinStaysKnownWhileItsObservationIsUnknown(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(deferred(repo, "1", ""))
	w.apply()
	gittest.Commit(t, repo, "refs/heads/main")
	w.write(deferred(repo, "2", ""))
	plan := w.save("p")
	got, known := after(t, plan, thePin, "commit")
	if !known || got != commitMain {
		t.Fatalf("planned commit %v (known %v), want %s", got, known, commitMain)
	}
	if actions := planned(t, plan, "terraform_data.after").Actions; !actions.NoOp() {
		t.Fatalf("what depends on the pin changes: %v", actions)
	}
	w.must(0, "apply", "-no-color", "p")
	want(t, "commit", w.state(thePin)["commit"], commitMain)

	// A policy beside it may change at the same time.
	w.write(deferred(repo, "3", `on_missing = "error"`))
	got, _ = after(t, w.save("p"), thePin, "commit")
	want(t, "planned commit", got, commitMain)
	w.must(0, "apply", "-no-color", "p")
	want(t, "on_missing", w.state(thePin)["on_missing"], "error")

	// With new triggers the commit cannot be known, and is resolved at apply.
	w.write(deferred(repo, "4", `triggers = { a = "1" }`))
	if _, known := after(t, w.save("p"), thePin, "commit"); known {
		t.Fatal("the commit is known although the observation is not")
	}
	w.must(0, "apply", "-no-color", "p")
	want(t, "commit", w.state(thePin)["commit"], gittest.Git(t, repo, "rev-parse", "refs/heads/main"))
	want(t, "previous_commit", w.state(thePin)["previous_commit"], commitMain)
}

func TestI2_APlumbingThatTurnsOutToDifferAtApplyIsNotRecorded(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	w.write(deferred(repo, "1", ""))
	w.apply()
	w.write(strings.Replace(deferred(repo, "2", `on_missing = "error"`), `branch = "main"`, `branch = "foo"`, 1))
	w.save("p")
	w.must(1, "apply", "-no-color", "p")
	want(t, "commit", w.state(thePin)["commit"], commitMain)
}

func TestSelectorUnknownInThePlan(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	config := func(branch string) string {
		return fmt.Sprintf("resource \"terraform_data\" \"b\" {\n  input = %q\n}\nresource \"gitpin_pin\" \"p\" {\n  url = %q\n  branch = terraform_data.b.output\n}\n"+
			"resource \"gitpin_pin_set\" \"s\" {\n  pins = {\n    known = { url = %[2]q, branch = \"main\" }\n    later = { url = %[2]q, branch = terraform_data.b.output }\n  }\n}\n", branch, repo)
	}
	w := newWorkspace(t)
	w.write(config("main"))
	w.must(0, "validate", "-no-color")
	plan := w.save("p")
	if _, known := after(t, plan, thePin, "commit"); known {
		t.Fatal("the commit of an unknown branch is known")
	}
	want(t, "commit in the set", planned(t, plan, theSet).After.(map[string]any)["commits"].(map[string]any)["known"], commitMain)
	w.must(0, "apply", "-no-color", "p")
	w.plan(0)
	gittest.Commit(t, repo, "refs/heads/main")
	w.write(config("foo"))
	plan = w.save("p")
	want(t, "commit in the set", planned(t, plan, theSet).After.(map[string]any)["commits"].(map[string]any)["known"], commitMain)
	w.must(0, "apply", "-no-color", "p")
	want(t, "commit", w.state(thePin)["commit"], commitFoo)
	want(t, "commits", w.state(theSet)["commits"], map[string]any{"known": commitMain, "later": commitFoo})
}

// TestStateOfTheOtherCLI reads with each CLI what the other one has written.
func TestStateOfTheOtherCLI(t *testing.T) {
	own := cliPath(t)
	other, err := exec.LookPath("terraform")
	if err != nil || !strings.Contains(filepath.Base(own), "tofu") {
		t.Skip("needs terraform on PATH beside OpenTofu under test")
	}
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	for _, clis := range [][2]string{{own, other}, {other, own}} {
		w := newWorkspace(t)
		w.cli = clis[0]
		w.write(strictPin(repo, `tag = "v1.1.0"`, ""), pinSet(repo, "", "m", "main"))
		w.apply()
		w.cli = clis[1]
		w.plan(0)
		w.plan(0, "-refresh-only")
	}
}
