// Command demo shows the provider at work with a real Terraform or OpenTofu:
// it plans, applies, moves the branch, and looks at what was recorded. It exits
// with 0 only if every step came out as it should. "make demo" runs it.
//
// Without -url it makes a repository of its own and serves it with git
// http-backend on loopback, behind a password. With -url it reads the user's
// repository, with the credentials in the environment:
//
//	GITPIN_USERNAME, GITPIN_PASSWORD     for http and https
//	GITPIN_TOKEN                         a bearer token, for http and https
//	GITPIN_IDENTITY, GITPIN_KNOWN_HOSTS  files, for ssh
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
)

func main() {
	cliPath := flag.String("cli", "", "path of terraform or tofu")
	provider := flag.String("provider", "", "path of the built provider")
	url := flag.String("url", "", "read this repository instead of one made for the demo")
	branch := flag.String("branch", "", "with -url: the branch to pin (default: what HEAD points at)")
	color := flag.Bool("color", false, "leave the CLI its colours, for scripts/picture")
	flag.Parse()

	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, *cliPath, *provider, *url, *branch, *color)
	stop()
	if err != nil {
		fmt.Fprintf(os.Stderr, "\ndemo failed: %v\n", err)
		os.Exit(1)
	}
}

// run plays one of the two stories in a directory that is gone afterwards.
func run(ctx context.Context, cliPath, provider, url, branch string, color bool) (err error) {
	if cliPath == "" || provider == "" || flag.NArg() > 0 {
		return errors.New("-cli and -provider are needed, and nothing else but -url and -branch: run it through make demo")
	}
	if url == "" && branch != "" {
		return errors.New("BRANCH goes with URL")
	}
	dir, err := os.MkdirTemp("", "gitpin-demo-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()

	c, err := newCLI(ctx, cliPath, provider, filepath.Join(dir, "config"))
	if err != nil {
		return err
	}
	c.color = color
	if url != "" {
		return ownRepository(ctx, c, url, branch)
	}
	return movingBranch(ctx, c, dir)
}
