package provider

import (
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// Every configuration that the documentation shows is judged by the real CLI.
// A process of the CLI costs seconds, so all of them become modules of one
// configuration, and one process judges that.

// projectRoot is where README.md, docs and examples are.
const projectRoot = "../.."

// unit is a configuration of its own.
type unit struct {
	from  string            // where it is written, for errors
	files map[string]string // by file name
}

func (u unit) text() string {
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(u.files)) {
		all.WriteString("\n" + u.files[name])
	}
	return all.String()
}

// uses reports whether a part is in the unit.
func (u unit) uses(parts ...string) bool {
	text := u.text()
	return slices.ContainsFunc(parts, func(part string) bool { return strings.Contains(text, part) })
}

// withHeader says where the provider comes from, for a unit that does not.
func (u unit) withHeader() unit {
	if !u.uses("required_providers") {
		u.files["header.tf"] = "terraform {\n  required_providers {\n    gitpin = {\n      source = \"gitpin/gitpin\"\n    }\n  }\n}\n"
	}
	return u
}

// examples are the directories with configurations under examples/.
func examples(t *testing.T) []unit {
	t.Helper()
	byDir := map[string]unit{}
	for _, path := range filesUnder(t, "examples", ".tf") {
		dir := filepath.Dir(path)
		if byDir[dir].files == nil {
			byDir[dir] = unit{dir, map[string]string{}}
		}
		byDir[dir].files[filepath.Base(path)] = readFile(t, path)
	}
	var units []unit
	for _, dir := range slices.Sorted(maps.Keys(byDir)) {
		units = append(units, byDir[dir])
	}
	return units
}

// filesUnder returns the files below dir that end in suffix, sorted, relative
// to projectRoot.
func filesUnder(t *testing.T, dir, suffix string) []string {
	t.Helper()
	var paths []string
	err := fs.WalkDir(os.DirFS(projectRoot), dir, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && strings.HasPrefix(entry.Name(), "."):
			return fs.SkipDir // .terraform of somebody who tried the example
		case strings.HasSuffix(path, suffix):
			paths = append(paths, path)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return paths
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(projectRoot, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// pages are what people read: the README, the generated documentation and the
// READMEs of the example modules.
func pages(t *testing.T) []string {
	t.Helper()
	return slices.Concat([]string{"README.md"}, filesUnder(t, "docs", ".md"), filesUnder(t, "examples", ".md"))
}

var fenced = regexp.MustCompile("(?ms)^```(?:hcl|terraform)\n(.*?)^```$")

// blocks returns the HCL in a page.
func blocks(page string) []string {
	var all []string
	for _, match := range fenced.FindAllStringSubmatch(page, -1) {
		all = append(all, match[1])
	}
	return all
}

// elsewhere tells a block that the CLI cannot judge here: its own configuration
// file, another provider, or a module on a host that does not exist. Such a
// block is only formatted.
func elsewhere(block string) bool {
	for _, sign := range []string{"provider_installation {", `data "external"`, `source = "git::`} {
		if strings.Contains(block, sign) {
			return true
		}
	}
	return false
}

var blockHead = regexp.MustCompile(`(?m)^([a-z]+(?: "[^"]+")*) \{`)

// units makes the blocks of a page into as few configurations as can be: a
// block belongs to those before it until it declares something anew.
func units(from string, blocks []string) []unit {
	var all []unit
	declared := map[string]bool{}
	for i, block := range blocks {
		heads := blockHead.FindAllString(block, -1)
		again := slices.ContainsFunc(heads, func(head string) bool { return declared[head] })
		if again || len(all) == 0 {
			all = append(all, unit{fmt.Sprintf("%s, from block %d", from, i+1), map[string]string{}})
			clear(declared)
		}
		all[len(all)-1].files[fmt.Sprintf("block%02d.tf", i+1)] = block
		for _, head := range heads {
			declared[head] = true
		}
	}
	return all
}

// documented returns every configuration to validate, and the blocks to format
// only. What an example file says already is not judged twice.
func documented(t *testing.T) (validate []unit, format map[string]string) {
	t.Helper()
	validate, format = examples(t), map[string]string{}
	seen := map[string]bool{}
	for _, u := range validate {
		seen[strings.TrimSpace(u.text())] = true
	}
	for _, page := range pages(t) {
		var here []string
		for i, block := range blocks(readFile(t, page)) {
			if elsewhere(block) {
				format[fmt.Sprintf("%s-%d.tf", strings.ReplaceAll(page, "/", "-"), i+1)] = block
			} else {
				here = append(here, block)
			}
		}
		for _, u := range units(page, here) {
			if !seen[strings.TrimSpace(u.text())] {
				validate = append(validate, u)
			}
		}
	}
	return validate, format
}

// cliIs reports whether the CLI is at least the version given for its kind.
func (w *workspace) cliIs(terraform, tofu int) bool {
	w.t.Helper()
	var kind string
	var major, minor int
	if _, err := fmt.Sscanf(w.must(0, "version").stdout, "%s v%d.%d", &kind, &major, &minor); err != nil {
		w.t.Fatal(err)
	}
	if kind == "OpenTofu" {
		terraform = tofu
	}
	return major > 1 || minor >= terraform
}

// newExampleWorkspace is a workspace where "gitpin/gitpin" is found under either
// CLI's own registry, as the examples write it, and with the example modules.
func newExampleWorkspace(t *testing.T) *workspace {
	t.Helper()
	w := newWorkspace(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	rc := filepath.Join(w.dir, "..", "examples.tfrc")
	writeFile(t, rc, fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"registry.terraform.io/gitpin/gitpin\" = %[1]q\n    \"registry.opentofu.org/gitpin/gitpin\" = %[1]q\n  }\n  direct {}\n}\n", filepath.Dir(path)))
	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+rc)
	w.addModules(w.dir)
	return w
}

// addModules puts the example modules where their READMEs say.
func (w *workspace) addModules(dir string) {
	w.t.Helper()
	if err := os.CopyFS(filepath.Join(dir, "modules"), os.DirFS(filepath.Join(projectRoot, "examples/modules"))); err != nil {
		w.t.Fatal(err)
	}
}

// put writes the files of a unit into a directory of the workspace.
func (w *workspace) put(dir string, files map[string]string) {
	w.t.Helper()
	if err := os.MkdirAll(filepath.Join(w.dir, dir), 0o700); err != nil {
		w.t.Fatal(err)
	}
	for name, text := range files {
		writeFile(w.t, filepath.Join(w.dir, dir, name), text)
	}
}

func TestDocumentedConfigurationsAreFormatted(t *testing.T) {
	w := newExampleWorkspace(t)
	validate, format := documented(t)
	w.put("format", format)
	for i, u := range validate {
		w.put(fmt.Sprintf("unit%03d", i), u.files)
	}
	if r := w.run("fmt", "-check", "-diff", "-no-color", "-recursive"); r.code != 0 {
		t.Errorf("run terraform fmt on the blocks:\n%s%s%s", r.stdout, r.stderr, contents(validate))
	}
}

// contents says what is where, to read an error of the CLI.
func contents(units []unit) string {
	text := "\n"
	for i, u := range units {
		text += fmt.Sprintf("unit%03d is %s\n", i, u.from)
	}
	return text
}

// required matches the head of a variable up to its end at the first column.
var required = regexp.MustCompile(`(?ms)^variable "([^"]+)" \{\n(.*?)^\}`)

// call is a module block for a unit. Every variable without a default is given
// a value that is not known, of any type.
func (u unit) call(name string) string {
	text := fmt.Sprintf("module %q {\n  source = \"./%s\"\n", name, name)
	for _, v := range required.FindAllStringSubmatch(u.text(), -1) {
		if !regexp.MustCompile(`(?m)^  default\s*=`).MatchString(v[2]) {
			text += fmt.Sprintf("  %s = var.any\n", v[1])
		}
	}
	return text + "}\n"
}

func TestDocumentedConfigurationsAreValid(t *testing.T) {
	w := newExampleWorkspace(t)
	functions, ephemeral := w.cliIs(8, 7), w.cliIs(10, 11)
	validate, _ := documented(t)
	root := "variable \"any\" {}\n"
	for i, u := range validate {
		switch {
		case !functions && u.uses("provider::gitpin::", "module-pins-file"), !ephemeral && u.uses("ephemeral"):
			continue
		}
		name := fmt.Sprintf("unit%03d", i)
		w.put(name, u.withHeader().files)
		if u.uses(`"./modules/`) {
			w.addModules(filepath.Join(w.dir, name))
		}
		if u.uses("\nimport {") {
			w.validateAlone(name, u) // an import block has no place in a module
			continue
		}
		root += u.call(name)
	}
	writeFile(t, filepath.Join(w.dir, "main.tf"), root)
	for _, name := range []string{"deploy_key", "known_hosts"} {
		writeFile(t, filepath.Join(w.dir, name), "") // read by file() in the README
	}
	w.must(0, "get", "-no-color")
	if r := w.run("validate", "-no-color"); r.code != 0 {
		t.Errorf("%s%s%s", r.stdout, r.stderr, contents(validate))
	}
}

func (w *workspace) validateAlone(name string, u unit) {
	w.t.Helper()
	if r := w.run("-chdir="+name, "validate", "-no-color"); r.code != 0 {
		w.t.Errorf("%s: %s%s", u.from, r.stdout, r.stderr)
	}
}
