package provider

import (
	"fmt"
	"path/filepath"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// output returns an output as `output -raw` prints it.
func (w *workspace) output(name string) string {
	w.t.Helper()
	return w.must(0, "output", "-no-color", "-raw", name).stdout
}

func TestExampleModuleFluxGitRepositories(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	config := func(release string) string {
		return fmt.Sprintf(`
module "repositories" {
  source = "./modules/flux-git-repositories"
  repositories = {
    api = { url = "%[1]s/a.git", branch = "main", triggers = { release = %[2]q }, secret_name = "acme-git" }
    web = { url = "%[1]s/s.git", semver = "1.x", update = "follow" }
  }
}
output "manifest" {
  value = module.repositories.manifest
}
output "web" {
  value = module.repositories.pins["web"].version
}
`, server.URL, release)
	}
	w := newExampleWorkspace(t)
	w.write(config("1"))
	w.must(0, "get")
	w.apply()
	want(t, "version of web", w.output("web"), "1.10.1")
	manifest := w.output("manifest")
	wantText(t, manifest, "---\n\"apiVersion\": \"source.toolkit.fluxcd.io/v1\"\n\"kind\": \"GitRepository\"\n",
		"\"commit\": \""+commitMain+"\"\n", "\"secretRef\":\n    \"name\": \"acme-git\"\n", server.URL+"/s.git")

	moved := gittest.Commit(t, filepath.Join(root, "a.git"), "refs/heads/main")
	w.plan(0)
	server.Down() // a repository that cannot be read holds its pin
	wantText(t, w.plan(0).all(), "were not refreshed")
	if err := server.Up(); err != nil {
		t.Fatal(err)
	}
	w.write(config("2"))
	w.apply()
	wantText(t, w.output("manifest"), moved)

	empty := newExampleWorkspace(t)
	empty.write("module \"none\" {\n  source = \"./modules/flux-git-repositories\"\n  repositories = {}\n}\noutput \"manifest\" {\n  value = module.none.manifest\n}\n")
	empty.must(0, "get")
	empty.plan(2) // an output alone
}

// commitModule commits a Terraform module, one file in the folder network, on
// top of branch main of a bare repository.
func commitModule(t *testing.T, repo, content string) string {
	t.Helper()
	dir := t.TempDir()
	file := filepath.Join(dir, "main.tf")
	writeFile(t, file, content)
	index := []string{"GIT_INDEX_FILE=" + filepath.Join(dir, "index")}
	git := func(args ...string) string {
		out, err := gittest.RunGit(repo, index, args...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	git("update-index", "--add", "--cacheinfo", "100644,"+git("hash-object", "-w", file)+",network/main.tf")
	commit := git("commit-tree", "-m", "module", "-p", "refs/heads/main", git("write-tree"))
	git("update-ref", "refs/heads/main", commit)
	return commit
}

// The two steps of the guide on module sources: the pins become an override
// file, and the CLI installs the module at the pinned commit, not at the tip.
func TestExampleModulePinsFile(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	repo := filepath.Join(root, "a.git")
	commit := commitModule(t, repo, "output \"release\" {\n  value = \"one\"\n}\n")
	pins := newExampleWorkspace(t)
	if !pins.cliIs(8, 7) {
		return // no functions, so no such module
	}
	pins.write(fmt.Sprintf(`
variable "release" {
  default = "1"
}
module "pins" {
  source = "./modules/module-pins-file"
  modules = {
    network = { url = "%s/a.git", branch = "main", subdir = "network" }
  }
  triggers = { release = var.release }
}
output "override_json" {
  value = module.pins.override_json
}
`, server.URL))
	pins.must(0, "get")
	pins.apply()
	file := pins.output("override_json")
	want(t, "override_json", file, fmt.Sprintf(`{"module":{"network":{"source":"git::%s/a.git//network?ref=%s"}}}`, server.URL, commit))

	second := commitModule(t, repo, "output \"release\" {\n  value = \"two\"\n}\n")
	infrastructure := func(override string) string {
		w := newWorkspace(t)
		writeFile(t, filepath.Join(w.dir, "main.tf"), fmt.Sprintf("module \"network\" {\n  source = \"git::%s/a.git//network\"\n}\noutput \"release\" {\n  value = module.network.release\n}\n", server.URL))
		writeFile(t, filepath.Join(w.dir, "pins_override.tf.json"), override)
		w.must(0, "get")
		w.apply()
		return w.output("release")
	}
	want(t, "installed release", infrastructure(file), "one")
	pins.apply("-var", "release=2")
	moved := pins.output("override_json")
	wantText(t, moved, second)
	want(t, "installed release", infrastructure(moved), "two")
}
