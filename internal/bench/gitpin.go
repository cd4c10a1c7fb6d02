package main

import (
	"context"
	"strconv"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// gitpin is the provider's own reading, without the sharing of a run: each
// reading asks the server.
type gitpin struct {
	keychain *gitauth.Keychain
	client   *lsremote.Client
}

func newGitpin(a access) (*gitpin, error) {
	entries, err := a.credentials()
	if err != nil {
		return nil, err
	}
	keychain, err := gitauth.NewKeychain(entries, gitauth.Options{})
	if err != nil {
		return nil, err
	}
	g := &gitpin{keychain: keychain}
	return g, g.forget()
}

func (g *gitpin) forget() error {
	if g.client != nil {
		if err := g.client.Close(); err != nil {
			return err
		}
	}
	var err error
	g.client, err = lsremote.New(lsremote.Config{PerHost: maxAtOnce})
	return err
}

func (g *gitpin) read(ctx context.Context, url, ref string) (string, error) {
	remote, err := giturl.Parse(url)
	if err != nil {
		return "", err
	}
	auth, err := g.keychain.For(remote)
	if err != nil {
		return "", err
	}
	q := lsremote.Everything()
	if ref != "" {
		q = lsremote.Query{Refs: []string{ref}}
	}
	a, err := g.client.Read(ctx, remote, auth, q)
	if err != nil {
		return "", err
	}
	if ref == "" {
		return strconv.Itoa(len(a.Refs)), nil
	}
	found, _ := a.Lookup(ref)
	return found.Commit(), nil
}
