package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	tfjson "github.com/hashicorp/terraform-json"
)

// movingBranch is the story of a branch that moves between plan and apply.
func movingBranch(ctx context.Context, c *cli, dir string) (err error) {
	chapter(1, "A private repository, served by git http-backend on loopback behind a password")
	repo, err := newRepository(dir)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, repo.close()) }()
	first, err := repo.push("release 1")
	if err != nil {
		return err
	}
	config := configuration{
		url: repo.url, selector: `branch = "main"`, prefix: repo.server.URL + "/acme/", ephemeral: c.ephemeral,
		secret: map[string]string{"username": user, "password": repo.password},
	}
	if err := config.write(c); err != nil {
		return err
	}
	if err := c.show(ctx, "init"); err != nil {
		return err
	}

	chapter(2, "The plan shows the commit, and apply records it")
	if err := planAndApply(ctx, c, first); err != nil {
		return err
	}

	chapter(3, "The branch moves: the pin stays, and says that there is something newer")
	second, err := repo.push("release 2")
	if err != nil {
		return err
	}
	if err := seesUpdate(ctx, c, first, second); err != nil {
		return err
	}

	chapter(4, "A new trigger re-pins; the branch moves again between plan and apply")
	if err := setRelease(c, "2"); err != nil {
		return err
	}
	plan, err := c.plan(ctx, "repin.tfplan")
	if err != nil {
		return err
	}
	if err := planned(plan, tfjson.ActionUpdate, map[string]any{"commit": second, "previous_commit": first}); err != nil {
		return err
	}
	third, err := repo.push("release 3")
	if err != nil {
		return err
	}
	if err := c.apply(ctx, "repin.tfplan"); err != nil {
		return err
	}
	state, doc, err := c.state(ctx)
	if err != nil {
		return err
	}
	if err := shows("the state", state, map[string]any{"commit": second, "previous_commit": first}); err != nil {
		return err
	}
	ok("recorded is the commit of the plan, %s, not the branch's newest, %s", short(second), short(third))

	chapter(5, "Where the password is not")
	return secretFree(ctx, c, repo.password, doc, "repin.tfplan")
}

// setRelease writes the trigger to a file, as a user would commit it: what -var
// sets is gone in the next plan.
func setRelease(c *cli, release string) error {
	text := "release = " + quote(release)
	fmt.Printf("\n    $ echo '%s' >terraform.tfvars\n", text)
	return os.WriteFile(filepath.Join(c.dir, "terraform.tfvars"), []byte(text+"\n"), 0o600)
}

// planAndApply pins for the first time: both must show commit.
func planAndApply(ctx context.Context, c *cli, commit string) error {
	plan, err := c.plan(ctx, "first.tfplan")
	if err != nil {
		return err
	}
	if err := planned(plan, tfjson.ActionCreate, map[string]any{"commit": commit}); err != nil {
		return err
	}
	if err := c.apply(ctx, "first.tfplan"); err != nil {
		return err
	}
	state, _, err := c.state(ctx)
	if err != nil {
		return err
	}
	if err := shows("the state", state, map[string]any{"commit": commit, "update_available": false}); err != nil {
		return err
	}
	ok("planned and recorded: %s", commit)
	return nil
}

// seesUpdate plans after the branch moved from pinned to latest.
func seesUpdate(ctx context.Context, c *cli, pinned, latest string) error {
	plan, err := c.plan(ctx, "moved.tfplan")
	if err != nil {
		return err
	}
	want := map[string]any{"commit": pinned, "update_available": true, "latest": latest}
	if err := planned(plan, tfjson.ActionNoop, want); err != nil {
		return err
	}
	ok("no change to the pin: still %s; update_available = true, for %s", short(pinned), short(latest))
	return nil
}

// secretFree fails if the password is in the state or in the saved plan.
func secretFree(ctx context.Context, c *cli, password, state, planFile string) error {
	if !c.ephemeral {
		ok("this CLI is too old for ephemeral variables, so its plan files hold the variable: not checked")
		return nil
	}
	plan, err := c.output(ctx, "show", "-json", planFile)
	if err != nil {
		return err
	}
	for where, text := range map[string]string{"state": state, "plan": plan} {
		if strings.Contains(text, password) {
			return fmt.Errorf("the password is in the %s", where)
		}
	}
	ok("the password is neither in the state nor in the saved plan")
	return nil
}

// ownRepository reads and pins one ref of the user's repository.
func ownRepository(ctx context.Context, c *cli, url, branch string) error {
	secret, err := secretFromEnvironment()
	if err != nil {
		return err
	}
	config := configuration{url: url, selector: `ref    = "HEAD"`, secret: secret, ephemeral: c.ephemeral}
	if branch != "" {
		config.selector = "branch = " + quote(branch)
	}
	if len(secret) > 0 {
		// The longest prefix that matches is the URL itself.
		config.prefix = url
	}
	chapter(1, "The reading and the pin of "+url)
	if err := config.write(c); err != nil {
		return err
	}
	if err := c.show(ctx, "init"); err != nil {
		return err
	}
	plan, err := c.plan(ctx, "first.tfplan")
	if err != nil {
		return err
	}
	commit, err := plannedCommit(plan)
	if err != nil {
		return err
	}
	if err := c.apply(ctx, "first.tfplan"); err != nil {
		return err
	}
	state, _, err := c.state(ctx)
	if err != nil {
		return err
	}
	if err := shows("the state", state, map[string]any{"commit": commit}); err != nil {
		return err
	}
	ok("planned and recorded: %s is %s", state["tracking_ref"], commit)
	return nil
}

func chapter(n int, title string) { fmt.Printf("\n%d. %s\n", n, title) }

func ok(format string, a ...any) { fmt.Printf("\nok: "+format+"\n", a...) }

func short(id string) string { return id[:min(len(id), 12)] }
