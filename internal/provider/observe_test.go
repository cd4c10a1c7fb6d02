package provider

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

func TestRefsListsWhatIsAdvertised(t *testing.T) {
	root := gittest.Repos(t)
	w := newWorkspace(t)
	w.write(fmt.Sprintf(`
data "gitpin_refs" "all" {
  url = "%[1]s/a.git"
}
data "gitpin_refs" "tags" {
  url      = "%[1]s/a.git"
  prefixes = ["refs/tags/"]
  pattern  = "^refs/tags/v1\\."
}
data "gitpin_refs" "empty" {
  url = "%[1]s/e.git"
}
data "gitpin_refs" "unborn" {
  url = "%[1]s/u.git"
}
`, root))
	w.apply()
	all := w.state("data.gitpin_refs.all")
	refs := all["refs"].(map[string]any)
	want(t, "v1.1.0", refs["refs/tags/v1.1.0"], map[string]any{"commit": commitFoo, "object": objectV110, "symref_target": nil})
	want(t, "HEAD", refs["HEAD"].(map[string]any)["symref_target"], "refs/heads/main")
	want(t, "default_branch", all["default_branch"], "main")
	want(t, "number of refs", len(refs), 20)
	for name := range refs {
		if strings.HasSuffix(name, "^{}") {
			t.Fatalf("%s is no ref", name)
		}
	}
	tags := w.state("data.gitpin_refs.tags")
	want(t, "names", tags["names"], "[refs/tags/v1.0.0 refs/tags/v1.1.0 refs/tags/v1.2.0]")
	want(t, "default_branch beside prefixes", tags["default_branch"], "main")
	empty := w.state("data.gitpin_refs.empty")
	want(t, "refs of an empty repository", empty["refs"], "map[]")
	want(t, "default_branch whose commit is missing", w.state("data.gitpin_refs.unborn")["default_branch"], "main")
}

func TestRefsThatDifferInUnicodeFormOnly(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	gittest.Git(t, repo, "update-ref", "refs/heads/caf\u00e9", "main")
	gittest.Git(t, repo, "update-ref", "refs/heads/cafe\u0301", "foo")
	w := newWorkspace(t)
	w.write(fmt.Sprintf("data \"gitpin_refs\" \"r\" {\n  url = %q\n}\n", repo))
	wantText(t, w.plan(1).all(), "same name to Terraform", `caf\u00e9`)
}

func TestSnapshotOfThreeHosts(t *testing.T) {
	root := gittest.Repos(t)
	good := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	silent := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Handler: gittest.Silence()})
	refusing := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Handler: http.NotFoundHandler()})
	var targets strings.Builder
	for i := range 10 {
		for name, server := range map[string]*gittest.HTTP{"good": good, "silent": silent, "refusing": refusing} {
			fmt.Fprintf(&targets, "    %s%d = { url = \"%s/a.git\", branch = \"main\" }\n", name, i, server.URL)
		}
	}
	config := func(onError string) string {
		return fmt.Sprintf("provider \"gitpin\" {\n  timeout = \"2s\"\n}\ndata \"gitpin_snapshot\" \"s\" {\n  on_error = %q\n  targets = {\n%s  }\n}\n", onError, targets.String())
	}
	w := newWorkspace(t)
	w.write(config("record"))
	w.apply()
	state := w.state("data.gitpin_snapshot.s")
	failures := state["errors"].(map[string]any)
	want(t, "number of observations", len(state["observations"].(map[string]any)), 30)
	want(t, "number of failures", len(failures), 20)
	for name, text := range failures {
		if strings.HasPrefix(name, "good") {
			t.Fatalf("%s: %v", name, text)
		}
	}
	want(t, "commit", state["observations"].(map[string]any)["good3"].(map[string]any)["commit"], commitMain)
	w.write(config("fail"))
	text := w.plan(1).all()
	for i := range 10 {
		wantText(t, text, fmt.Sprintf("For \"silent%d\":", i), fmt.Sprintf("For \"refusing%d\":", i))
	}
}

func TestWaitUntilTheRefIsAdvertised(t *testing.T) {
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	w := newWorkspace(t)
	// The ref is made in the same apply, by another tool.
	w.write(fmt.Sprintf(`
resource "terraform_data" "push" {
  provisioner "local-exec" {
    command = "sleep 1; git -C %[1]s update-ref refs/tags/v7.0.0 %[2]s"
  }
}
data "gitpin_ref" "d" {
  url  = %[1]q
  tag  = "v7.0.0"
  wait = { timeout = "60s", interval = "100ms" }
  depends_on = [terraform_data.push]
}
resource "gitpin_pin" "p" {
  observation = data.gitpin_ref.d.observation
}
`, repo, commitMain))
	w.apply()
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	w.write(fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = %q\n  tag = \"v8.0.0\"\n  wait = { timeout = \"300ms\", interval = \"100ms\" }\n}\n", repo))
	wantText(t, w.plan(1).all(), "refs/tags/v8.0.0", "300ms")
}

func TestFailuresAreRecordedOnDemand(t *testing.T) {
	root := gittest.Repos(t)
	w := newWorkspace(t)
	w.write(fmt.Sprintf(`
data "gitpin_ref" "missing" {
  url        = "%[1]s/a.git"
  branch     = "nope"
  on_missing = "null"
}
data "gitpin_ref" "failed" {
  url      = "%[1]s/nope.git"
  branch   = "main"
  on_error = "record"
}
`, root))
	w.apply()
	for address, text := range map[string]string{"data.gitpin_ref.missing": "refs/heads/nope", "data.gitpin_ref.failed": "nope.git"} {
		state := w.state(address)
		want(t, "commit", state["commit"], nil)
		wantText(t, fmt.Sprint(state["error"]), text)
		observation := state["observation"].(map[string]any)
		want(t, "commit in the observation", observation["commit"], "")
		for name, value := range observation {
			if value == nil {
				t.Fatalf("%s of the observation is null", name)
			}
		}
	}
	// on_missing covers a missing ref only.
	w.write(fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = \"%s/nope.git\"\n  branch = \"main\"\n  on_missing = \"null\"\n}\n", root))
	wantText(t, w.plan(1).all(), "Repository not found")
}

func TestFunctions(t *testing.T) {
	w := newWorkspace(t)
	w.write(`
output "module" {
  value = provider::gitpin::module_source("https://git.example.com/acme/modules.git", "` + commitMain + `", "network/vpc")
}
output "root" {
  value = provider::gitpin::module_source("git@git.example.com:acme/modules.git", "` + commitMain + `", "")
}
output "url" {
  value = provider::gitpin::parse_url("git@git.example.com:acme/app.git")
}
`)
	w.apply()
	out := w.must(0, "output", "-json").stdout
	wantText(t, out, `"git::https://git.example.com/acme/modules.git//network/vpc?ref=`+commitMain+`"`,
		`"git::ssh://git@git.example.com/acme/modules.git?ref=`+commitMain+`"`,
		`"canonical": "git@git.example.com:acme/app.git"`, `"scheme": "ssh"`, `"port": 22`, `"user": "git"`, `"path": "acme/app.git"`)
	if !strings.Contains(filepath.Base(w.cli), "tofu") { // OpenTofu hands no null to a function
		w.write("output \"o\" {\n  value = provider::gitpin::module_source(\"https://git.example.com/m.git\", \"" + commitMain + "\", null)\n}\n")
		w.apply()
	}
	w.write("output \"o\" {\n  value = provider::gitpin::module_source(\"https://acme:s3cr3t@git.example.com/m.git\", \"main\", \"\")\n}\n")
	r := w.must(1, "plan", "-no-color")
	wantText(t, r.all(), "credentials")
	w.write("output \"o\" {\n  value = provider::gitpin::module_source(\"https://git.example.com/m.git\", \"main\", \"\")\n}\n")
	wantText(t, w.must(1, "plan", "-no-color").all(), "full commit id")
}
