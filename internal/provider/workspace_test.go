package provider

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	tfjson "github.com/hashicorp/terraform-json"
)

// These tests run the real CLI with the real provider binary, a new process for
// each command, as a pipeline does: what a plan file carries from one process
// to the next is the heart of the product.

// binary builds the provider once for all tests of the process.
var binary = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "gitpin-provider-")
	if err != nil {
		return "", err
	}
	path := filepath.Join(dir, "terraform-provider-gitpin")
	out, err := exec.Command("go", "build", "-o", path, "github.com/gitpin/terraform-provider-gitpin").CombinedOutput()
	if err != nil {
		return "", fmt.Errorf("go build: %w\n%s", err, out)
	}
	return path, nil
})

// workspace is a directory with a configuration, a state and a CLI.
type workspace struct {
	t   *testing.T
	dir string
	cli string
	env []string
}

// result is what one command did.
type result struct {
	code           int
	stdout, stderr string
}

// all is everything that the command printed, unwrapped: the CLI breaks
// diagnostics at the terminal's width.
func (r result) all() string {
	text := strings.NewReplacer("\n│ ", " ", "\n│", " ", "\n╷", " ", "\n╵", " ", "\n", " ").Replace(r.stdout + " " + r.stderr)
	return strings.Join(strings.Fields(text), " ")
}

// cliPath returns the CLI under test, or skips: `make test` sets it.
func cliPath(t *testing.T) string {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1: make test")
	}
	if path := os.Getenv("TF_ACC_TERRAFORM_PATH"); path != "" {
		return path
	}
	path, err := exec.LookPath("terraform")
	if err != nil {
		t.Fatal("set TF_ACC_TERRAFORM_PATH to a terraform or tofu binary, or run make test")
	}
	return path
}

// newWorkspace makes an empty workspace whose CLI finds the provider binary.
func newWorkspace(t *testing.T) *workspace {
	t.Helper()
	cli := cliPath(t)
	path, err := binary()
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rc := filepath.Join(dir, "cli.tfrc")
	writeFile(t, rc, fmt.Sprintf("provider_installation {\n  dev_overrides {\n    \"registry.terraform.io/gitpin/gitpin\" = %q\n  }\n  direct {}\n}\ndisable_checkpoint = true\n", filepath.Dir(path)))
	work := filepath.Join(dir, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		t.Fatal(err)
	}
	w := &workspace{t: t, dir: work, cli: cli}
	for _, kv := range os.Environ() {
		name, _, _ := strings.Cut(kv, "=")
		if !strings.HasPrefix(name, "TF_") && !strings.HasSuffix(strings.ToLower(name), "_proxy") && !strings.HasPrefix(name, "SSH_") {
			w.env = append(w.env, kv)
		}
	}
	w.env = append(w.env, "TF_CLI_CONFIG_FILE="+rc, "TF_IN_AUTOMATION=1", "CHECKPOINT_DISABLE=1", "TF_INPUT=0",
		"GIT_CONFIG_COUNT=1", "GIT_CONFIG_KEY_0=safe.directory", "GIT_CONFIG_VALUE_0=*")
	return w
}

func writeFile(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// header is the part that each configuration begins with.
const header = `terraform {
  required_providers {
    gitpin = { source = "registry.terraform.io/gitpin/gitpin" }
  }
}
`

// write replaces the configuration.
func (w *workspace) write(parts ...string) {
	w.t.Helper()
	writeFile(w.t, filepath.Join(w.dir, "main.tf"), header+strings.Join(parts, "\n"))
}

// run runs the CLI once. It never waits for ever.
func (w *workspace) run(args ...string) result {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), 3*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.cli, args...)
	cmd.Dir, cmd.Env = w.dir, w.env
	var stdout, stderr bytes.Buffer
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		w.t.Fatalf("%s %v: %v", w.cli, args, err)
	}
	if ctx.Err() != nil {
		w.t.Fatalf("%s %v did not end:\n%s%s", w.cli, args, stdout.String(), stderr.String())
	}
	return result{cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// must runs the CLI and ends the test unless it exits with code.
func (w *workspace) must(code int, args ...string) result {
	w.t.Helper()
	r := w.run(args...)
	if r.code != code {
		w.t.Fatalf("%v: exit code %d, want %d\n%s\n%s", args, r.code, code, r.stdout, r.stderr)
	}
	return r
}

// apply applies the configuration.
func (w *workspace) apply(args ...string) result {
	w.t.Helper()
	return w.must(0, append([]string{"apply", "-auto-approve", "-no-color"}, args...)...)
}

// plan plans with -detailed-exitcode: 0 no changes, 1 error, 2 changes.
func (w *workspace) plan(code int, args ...string) result {
	w.t.Helper()
	return w.must(code, append([]string{"plan", "-no-color", "-detailed-exitcode"}, args...)...)
}

// save plans into a file, and returns the plan.
func (w *workspace) save(file string, args ...string) *tfjson.Plan {
	w.t.Helper()
	w.must(0, append([]string{"plan", "-no-color", "-out=" + file}, args...)...)
	var plan tfjson.Plan
	w.decode(w.must(0, "show", "-json", file).stdout, &plan)
	return &plan
}

// state returns the values of a resource or data source in the state; nil if it
// is not there.
func (w *workspace) state(address string) map[string]any {
	w.t.Helper()
	var state tfjson.State
	w.decode(w.must(0, "show", "-json").stdout, &state)
	if state.Values == nil {
		return nil
	}
	for _, r := range state.Values.RootModule.Resources {
		if r.Address == address {
			return r.AttributeValues
		}
	}
	return nil
}

func (w *workspace) decode(text string, into json.Unmarshaler) {
	w.t.Helper()
	if err := into.UnmarshalJSON([]byte(text)); err != nil {
		w.t.Fatalf("%v in %s", err, text)
	}
}

// planned returns the planned change of a resource.
func planned(t *testing.T, plan *tfjson.Plan, address string) *tfjson.Change {
	t.Helper()
	for _, c := range plan.ResourceChanges {
		if c.Address == address {
			return c.Change
		}
	}
	t.Fatalf("the plan has no change of %s", address)
	return nil
}

// after returns a planned value; the second result is false if it is unknown.
func after(t *testing.T, plan *tfjson.Plan, address, attribute string) (any, bool) {
	t.Helper()
	c := planned(t, plan, address)
	if unknown, ok := c.AfterUnknown.(map[string]any); ok {
		if u, ok := unknown[attribute].(bool); ok && u {
			return nil, false
		}
	}
	values, _ := c.After.(map[string]any)
	return values[attribute], true
}

// want ends the test unless got equals want.
func want(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

// wantText ends the test unless text holds each of parts.
func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Fatalf("%q is missing in:\n%s", part, text)
		}
	}
}
