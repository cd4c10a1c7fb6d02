package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// The sources of the providers that are built from their own code.
const (
	gitpinSource = "gitpin/gitpin"
	timeSource   = "hashicorp/time"
)

// cli runs Terraform or OpenTofu with the built providers installed as from a
// registry.
type cli struct {
	path string
	dir  string
	env  []string
	made int // directories with a configuration
}

// newCLI makes dir with a filesystem mirror in it.
func newCLI(dir string, o options, a access) (*cli, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	mirror := filepath.Join(dir, "mirror")
	for source, binary := range map[string]string{gitpinSource: o.provider, timeSource: o.other, externalSource: self} {
		if binary == "" {
			continue
		}
		// Each CLI completes a source with its own registry's host.
		for _, host := range []string{"registry.terraform.io", "registry.opentofu.org"} {
			target := filepath.Join(mirror, host, source, "1.0.0", runtime.GOOS+"_"+runtime.GOARCH)
			if err := os.MkdirAll(target, 0o755); err != nil {
				return nil, err
			}
			data, err := os.ReadFile(binary)
			if err != nil {
				return nil, err
			}
			name := "terraform-provider-" + filepath.Base(source) + "_v1.0.0"
			if err := os.WriteFile(filepath.Join(target, name), data, 0o755); err != nil {
				return nil, err
			}
		}
	}
	rc := filepath.Join(dir, "cli.tfrc")
	text := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %s\n  }\n}\n", quote(mirror))
	if err := os.WriteFile(rc, []byte(text), 0o600); err != nil {
		return nil, err
	}
	env := append(os.Environ(), "TF_CLI_CONFIG_FILE="+rc, "TF_IN_AUTOMATION=1", "TF_INPUT=0", "CHECKPOINT_DISABLE=1")
	// For the git that a script runs.
	for _, variable := range append(gittest.Env(), a.gitEnv()...) {
		if strings.HasPrefix(variable, "GIT_") {
			env = append(env, variable)
		}
	}
	return &cli{path: o.cli, dir: dir, env: env}, nil
}

// workspace is a directory with a configuration that is ready to be planned.
type workspace struct {
	cli *cli
	dir string
}

// prepare makes a workspace with the blocks of one provider ("" for none), and
// applies it if the state is to hold them.
func (c *cli) prepare(ctx context.Context, source, blocks string, apply bool) (*workspace, error) {
	c.made++
	w := &workspace{cli: c, dir: filepath.Join(c.dir, strconv.Itoa(c.made))}
	if err := os.Mkdir(w.dir, 0o755); err != nil {
		return nil, err
	}
	if source != "" {
		blocks = fmt.Sprintf("terraform {\n  required_providers {\n    %s = {\n      source = %q\n    }\n  }\n}\n\n%s\n", filepath.Base(source), source, blocks)
	}
	if err := os.WriteFile(filepath.Join(w.dir, "main.tf"), []byte(blocks), 0o600); err != nil {
		return nil, err
	}
	if err := w.run(ctx, "init"); err != nil || !apply {
		return w, err
	}
	return w, w.run(ctx, "apply", "-auto-approve")
}

// plan runs plan and returns how long it took.
func (w *workspace) plan(ctx context.Context) (time.Duration, error) {
	began := time.Now()
	err := w.run(ctx, "plan")
	return time.Since(began), err
}

func (w *workspace) run(ctx context.Context, args ...string) error {
	cmd := exec.CommandContext(ctx, w.cli.path, append(args, "-no-color")...)
	cmd.Dir, cmd.Env = w.dir, w.cli.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	// An interrupt lets it end its plugins.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	if err := cmd.Run(); err != nil {
		return fmt.Errorf("%s %s: %w: %s", w.cli.path, args[0], err, &out)
	}
	return nil
}

// eachOf returns a block for each of the URLs.
func eachOf(block string, urls []string, body string) string {
	quoted := make([]string, len(urls))
	for i, url := range urls {
		quoted[i] = quote(url)
	}
	return fmt.Sprintf("%s \"each\" {\n  for_each = toset([%s])\n  %s\n}\n", block, strings.Join(quoted, ", "), body)
}

// quote returns text, in which nothing is unprintable, as an HCL string.
func quote(text string) string {
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strconv.Quote(text))
}
