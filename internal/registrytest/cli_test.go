package registrytest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// cli is a Terraform or OpenTofu on a clean machine: an empty home directory,
// no configuration but the one given, and a working directory of its own.
type cli struct {
	t              *testing.T
	path           string
	home, dir      string
	env            []string
	defaultHost    string // where "gitpin/gitpin" is looked for
	configFileName string // the file in home that the CLI reads its configuration from
}

// newCLI returns a clean machine. `make test` says which CLI.
func newCLI(t *testing.T) *cli {
	t.Helper()
	if os.Getenv("TF_ACC") == "" {
		t.Skip("acceptance tests run with TF_ACC=1: make test")
	}
	path := os.Getenv("TF_ACC_TERRAFORM_PATH")
	if path == "" {
		var err error
		if path, err = exec.LookPath("terraform"); err != nil {
			t.Fatal("set TF_ACC_TERRAFORM_PATH to a terraform or tofu binary, or run make test")
		}
	}
	c := &cli{t: t, path: path, home: t.TempDir(), dir: t.TempDir()}
	c.env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + c.home, "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1", "TF_INPUT=0"}
	c.defaultHost, c.configFileName = "registry.terraform.io", ".terraformrc"
	if strings.Contains(c.must(0, "version").text, "OpenTofu") {
		c.defaultHost, c.configFileName = "registry.opentofu.org", ".tofurc"
	}
	return c
}

// trust makes the CLI trust a server's certificate.
func (c *cli) trust(server *gittest.HTTP) {
	c.t.Helper()
	ca := filepath.Join(c.home, "ca.pem")
	c.write(ca, server.CA.PEM)
	c.env = append(c.env, "SSL_CERT_FILE="+ca)
}

// configure writes the CLI configuration.
func (c *cli) configure(parts ...string) {
	c.t.Helper()
	c.write(filepath.Join(c.home, c.configFileName), strings.Join(parts, "\n"))
}

// redirect is the CLI configuration that takes a registry for the public one.
func (c *cli) redirect(reg *registry) string {
	return fmt.Sprintf("host %q {\n  services = {\n    \"providers.v1\" = %q\n  }\n}\n", c.defaultHost, reg.providers())
}

// config writes main.tf.
func (c *cli) config(parts ...string) {
	c.t.Helper()
	c.write(filepath.Join(c.dir, "main.tf"), strings.Join(parts, "\n"))
}

// fresh goes to a new working directory with the same configuration and lock
// file, as a checkout on the same machine.
func (c *cli) fresh() {
	c.t.Helper()
	old := c.dir
	c.dir = c.t.TempDir()
	for _, name := range []string{"main.tf", ".terraform.lock.hcl"} {
		c.write(filepath.Join(c.dir, name), c.read(filepath.Join(old, name)))
	}
}

func (c *cli) write(path, text string) {
	c.t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		c.t.Fatal(err)
	}
}

func (c *cli) read(path string) string {
	c.t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		c.t.Fatal(err)
	}
	return string(data)
}

// installed returns the providers that init has installed.
func (c *cli) installed() []string {
	c.t.Helper()
	found, err := filepath.Glob(filepath.Join(c.dir, ".terraform", "providers", "*", "gitpin", "gitpin", "*", "*", project+"*"))
	if err != nil {
		c.t.Fatal(err)
	}
	return found
}

// result is what one command printed, both streams, unwrapped: the CLI breaks
// diagnostics at the terminal's width.
type result struct{ text string }

// must runs the CLI and ends the test unless it exits with code.
func (c *cli) must(code int, args ...string) result {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(c.t.Context(), 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, c.path, args...)
	cmd.Dir, cmd.Env = c.dir, c.env
	var out bytes.Buffer
	cmd.Stdout, cmd.Stderr = &out, &out
	err := cmd.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		c.t.Fatalf("%s %v: %v", c.path, args, err)
	}
	if got := cmd.ProcessState.ExitCode(); got != code {
		c.t.Fatalf("%s %v: exit code %d, want %d\n%s", c.path, args, got, code, out.String())
	}
	text := strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(out.String())
	return result{strings.Join(strings.Fields(text), " ")}
}

// says ends the test unless the command printed each of parts.
func (r result) says(t *testing.T, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(r.text, part) {
			t.Fatalf("%q is missing in:\n%s", part, r.text)
		}
	}
}

// job is what a user wants of an installed provider: a pin and its commit.
type job struct{ config, commit string }

// newJob returns a configuration, less the required_providers, that pins a
// branch on a git server.
func newJob(t *testing.T) job {
	t.Helper()
	repos := gittest.Repos(t)
	server := gittest.ServeHTTP(t, repos, gittest.HTTPOptions{})
	return job{
		config: fmt.Sprintf("resource \"gitpin_pin\" \"app\" {\n  url    = \"%s/a.git\"\n  branch = \"main\"\n}\noutput \"commit\" {\n  value = gitpin_pin.app.commit\n}\n", server.URL),
		commit: gittest.Git(t, filepath.Join(repos, "a.git"), "rev-parse", "refs/heads/main"),
	}
}

// required is the block that asks for the provider.
func required(source, version string) string {
	return fmt.Sprintf("terraform {\n  required_providers {\n    gitpin = {\n      source  = %q\n      version = %q\n    }\n  }\n}\n", source, version)
}

// use plans and applies j after an init that has gone well.
func (c *cli) use(j job) {
	c.t.Helper()
	c.must(2, "plan", "-no-color", "-detailed-exitcode", "-out=saved.plan").says(c.t, j.commit)
	c.must(0, "apply", "-no-color", "saved.plan").says(c.t, "1 added")
	if got := c.must(0, "output", "-no-color", "-raw", "commit").text; got != j.commit {
		c.t.Fatalf("the pin has commit %s, want %s", got, j.commit)
	}
	c.must(0, "plan", "-no-color", "-detailed-exitcode")
}
