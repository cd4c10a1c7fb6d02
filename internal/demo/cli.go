package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"time"

	"github.com/hashicorp/go-version"
	tfjson "github.com/hashicorp/terraform-json"
)

// mirrorVersion is the version under which the demo installs the provider.
const mirrorVersion = "0.1.0"

// cli runs Terraform or OpenTofu in one configuration directory.
type cli struct {
	path      string
	name      string // "terraform" or "tofu", as a person types it
	dir       string
	env       []string
	ephemeral bool // knows ephemeral variables
	color     bool // prints in colours, to a file too
}

// newCLI makes dir, and beside it a filesystem mirror with the provider, so
// that init installs it as it would from a registry.
func newCLI(ctx context.Context, path, provider, dir string) (*cli, error) {
	mirror := filepath.Join(filepath.Dir(dir), "mirror")
	rc := filepath.Join(filepath.Dir(dir), "cli.tfrc")
	if err := os.Mkdir(dir, 0o755); err != nil {
		return nil, err
	}
	// Each CLI completes "gitpin/gitpin" with its own registry's host.
	for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
		target := filepath.Join(mirror, host, "gitpin", "gitpin", mirrorVersion, runtime.GOOS+"_"+runtime.GOARCH)
		if err := os.MkdirAll(target, 0o755); err != nil {
			return nil, err
		}
		name := "terraform-provider-gitpin_v" + mirrorVersion
		if runtime.GOOS == "windows" {
			name += ".exe"
		}
		if err := copyFile(provider, filepath.Join(target, name)); err != nil {
			return nil, err
		}
	}
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %s\n  }\n}\n", quote(mirror))
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		return nil, err
	}
	c := &cli{path: path, name: "terraform", dir: dir}
	c.env = append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1")
	return c, c.identify(ctx)
}

// identify finds out which CLI this is, and what it can do.
func (c *cli) identify(ctx context.Context) error {
	text, err := c.output(ctx, "version")
	if err != nil {
		return err
	}
	// Ephemeral variables: Terraform 1.10, OpenTofu 1.11.
	oldest := "1.10.0"
	if strings.Contains(text, "OpenTofu") {
		c.name, oldest = "tofu", "1.11.0"
	}
	doc, err := c.output(ctx, "version", "-json")
	if err != nil {
		return err
	}
	var v struct {
		Version string `json:"terraform_version"`
	}
	if err := json.Unmarshal([]byte(doc), &v); err != nil {
		return fmt.Errorf("%s version -json: %w", c.path, err)
	}
	have, err := version.NewVersion(v.Version)
	if err != nil {
		return fmt.Errorf("%s version: %w", c.path, err)
	}
	c.ephemeral = have.Core().GreaterThanOrEqual(version.Must(version.NewVersion(oldest)))
	first, _, _ := strings.Cut(text, "\n")
	fmt.Printf("%s, %s\n", first, c.path)
	return nil
}

// setenv sets a variable for the commands to come: the way a secret takes.
func (c *cli) setenv(name, value string) { c.env = append(c.env, name+"="+value) }

// show runs a command and prints it and its output, indented.
func (c *cli) show(ctx context.Context, args ...string) error {
	fmt.Printf("\n    $ %s %s\n", c.name, strings.Join(args, " "))
	if !c.color {
		args = append(args, "-no-color")
	}
	cmd := c.command(ctx, args)
	out, err := cmd.CombinedOutput()
	for line := range strings.Lines(strings.Trim(string(out), "\n") + "\n") {
		if line == "\n" {
			fmt.Println()
			continue
		}
		fmt.Print("    " + line)
	}
	if err != nil {
		return fmt.Errorf("%s %s: %w", c.name, strings.Join(args, " "), err)
	}
	return nil
}

// output runs a command and returns what it prints.
func (c *cli) output(ctx context.Context, args ...string) (string, error) {
	out, err := c.command(ctx, args).Output()
	if exit := new(exec.ExitError); errors.As(err, &exit) {
		err = fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", c.path, strings.Join(args, " "), err)
	}
	return string(out), nil
}

func (c *cli) command(ctx context.Context, args []string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	// An interrupt lets it release its locks and end its plugins.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	return cmd
}

// plan plans, saves the plan as file and returns what it says.
func (c *cli) plan(ctx context.Context, file string) (*tfjson.Plan, error) {
	if err := c.show(ctx, "plan", "-out="+file); err != nil {
		return nil, err
	}
	doc, err := c.output(ctx, "show", "-json", file)
	if err != nil {
		return nil, err
	}
	plan := new(tfjson.Plan)
	return plan, json.Unmarshal([]byte(doc), plan)
}

// apply applies a saved plan.
func (c *cli) apply(ctx context.Context, file string) error { return c.show(ctx, "apply", file) }

// state returns the attributes of the pin in the state, and the whole state.
func (c *cli) state(ctx context.Context) (pin map[string]any, doc string, err error) {
	if doc, err = c.output(ctx, "show", "-json"); err != nil {
		return nil, "", err
	}
	state := new(tfjson.State)
	if err := json.Unmarshal([]byte(doc), state); err != nil {
		return nil, "", err
	}
	if state.Values != nil {
		for _, r := range state.Values.RootModule.Resources {
			if r.Address == pinAddress {
				return r.AttributeValues, doc, nil
			}
		}
	}
	return nil, "", fmt.Errorf("%s is not in the state", pinAddress)
}

func copyFile(from, to string) error {
	data, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return os.WriteFile(to, data, 0o755)
}
