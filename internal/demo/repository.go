package main

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// repository is a git repository with a clone to push from, and the server
// that shows it behind a password.
type repository struct {
	server   *gittest.HTTP
	url      string
	password string
	clone    string
	pushed   int // commits
}

const user = "demo"

// newRepository makes acme/app.git under dir and serves dir's repositories.
func newRepository(dir string) (*repository, error) {
	root := filepath.Join(dir, "srv")
	bare := filepath.Join(root, "acme", "app.git")
	r := &repository{clone: filepath.Join(dir, "clone"), password: rand.Text()}
	if err := os.MkdirAll(bare, 0o755); err != nil {
		return nil, err
	}
	// init -b came with git 2.28; a symbolic ref does the same everywhere.
	for _, args := range [][]string{
		{"init", "-q", "--bare", bare},
		{"--git-dir", bare, "symbolic-ref", "HEAD", "refs/heads/main"},
		{"clone", "-q", bare, r.clone},
	} {
		if _, err := gittest.RunGit(dir, nil, args...); err != nil {
			return nil, err
		}
	}
	server, err := gittest.StartHTTP(root, gittest.HTTPOptions{User: user, Password: r.password})
	if err != nil {
		return nil, err
	}
	r.server, r.url = server, server.URL+"/acme/app.git"
	return r, nil
}

func (r *repository) close() error { return r.server.Close() }

// push commits a file and pushes it to main, and returns the commit's id.
func (r *repository) push(text string) (string, error) {
	if err := os.WriteFile(filepath.Join(r.clone, "app.txt"), []byte(text+"\n"), 0o600); err != nil {
		return "", err
	}
	// A time of its own for each makes the ids those of every other run: the
	// README's picture is made of them.
	r.pushed++
	date := fmt.Sprintf("%d +0000", 1790000000+3600*r.pushed)
	env := []string{"GIT_AUTHOR_DATE=" + date, "GIT_COMMITTER_DATE=" + date}
	for _, args := range [][]string{
		{"add", "app.txt"},
		{"commit", "-q", "-m", text},
		{"push", "-q", "origin", "HEAD:refs/heads/main"},
	} {
		if _, err := gittest.RunGit(r.clone, env, args...); err != nil {
			return "", err
		}
	}
	id, err := gittest.RunGit(r.clone, nil, "rev-parse", "HEAD")
	if err == nil {
		fmt.Printf("\n    $ git push      # %q: main is now %s\n", text, id)
	}
	return id, err
}

// secretFromEnvironment reads the credentials for a repository of the user's.
// It is empty if there are none.
func secretFromEnvironment() (map[string]string, error) {
	secret := map[string]string{}
	for variable, key := range map[string]string{
		"GITPIN_USERNAME": "username",
		"GITPIN_PASSWORD": "password",
		"GITPIN_TOKEN":    "bearerToken",
	} {
		if value := os.Getenv(variable); value != "" {
			secret[key] = value
		}
	}
	for variable, key := range map[string]string{
		"GITPIN_IDENTITY":    "identity",
		"GITPIN_KNOWN_HOSTS": "known_hosts",
	} {
		if name := os.Getenv(variable); name != "" {
			data, err := os.ReadFile(name)
			if err != nil {
				return nil, fmt.Errorf("%s names a file that cannot be read: %w", variable, err)
			}
			secret[key] = string(data)
		}
	}
	return secret, nil
}
