package lsremote

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	gogitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/storage/memory"
	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// place is one fixture repository over one transport.
type place struct {
	url  string
	auth *gitauth.Auth
	env  []string             // for git
	key  transport.AuthMethod // for go-git
	v0   bool
}

// places returns how each repository under root can be reached, by transport.
func places(t *testing.T, root string) map[string]func(repo string) place {
	t.Helper()
	all := map[string]func(string) place{
		"file": func(repo string) place { return place{url: root + "/" + repo} },
	}
	for name, v0 := range map[string]bool{"": false, " v0": true} {
		web := gittest.ServeHTTP(t, root, gittest.HTTPOptions{V0Only: v0})
		all["http"+name] = func(repo string) place { return place{url: web.URL + "/" + repo, v0: v0} }
		daemon := gittest.ServeGit(t, root, gittest.DaemonOptions{V0Only: v0})
		all["git"+name] = func(repo string) place { return place{url: daemon.URL(repo), v0: v0} }
		sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{V0Only: v0})
		all["ssh"+name] = func(repo string) place {
			url := sshd.URL(repo)
			auth := authFor(t, mustParse(t, url), "ssh://"+sshd.Addr(), sshSecret(t, sshd.Client, sshd.KnownHosts()))
			// Whether the host is the right one is not what go-git is asked here.
			key := &gogitssh.PublicKeys{User: sshd.User, Signer: sshd.Client.Signer}
			key.HostKeyCallback = ssh.InsecureIgnoreHostKey()
			return place{url: url, auth: auth, env: sshd.GitEnv(), key: key, v0: v0}
		}
	}
	return all
}

// listing is refs as "git ls-remote --symref" prints them: name to id, with
// "^{}" lines, and "ref: name" for the target of a symbolic one.
type listing map[string]string

// ours returns an advertisement as a listing.
func ours(a *Advertisement) listing {
	l := listing{}
	for _, r := range a.Refs {
		l[r.Name] = r.ID
		if r.Peeled != "" {
			l[r.Name+"^{}"] = r.Peeled
		}
		if r.Target != "" {
			l["ref: "+r.Name] = r.Target
		}
	}
	return l
}

// gitSays returns what git ls-remote prints.
func gitSays(t *testing.T, p place) listing {
	t.Helper()
	version := "2"
	if p.v0 {
		version = "0"
	}
	out, err := gittest.RunGit("", p.env, "-c", "protocol.version="+version, "ls-remote", "--symref", p.url)
	if err != nil {
		t.Fatal(err)
	}
	l := listing{}
	for line := range strings.Lines(out) {
		id, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		if target, found := strings.CutPrefix(id, "ref: "); found {
			l["ref: "+name] = target
			continue
		}
		l[name] = id
	}
	return l
}

// goGitSays returns what go-git lists.
func goGitSays(ctx context.Context, p place) (listing, error) {
	remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{p.url}})
	list, err := remote.ListContext(ctx, &gogit.ListOptions{Auth: p.key, PeelingOption: gogit.AppendPeeled})
	if errors.Is(err, transport.ErrEmptyRemoteRepository) {
		return listing{}, nil
	}
	l := listing{}
	for _, r := range list {
		if target := r.Target(); target != "" {
			l["ref: "+r.Name().String()] = target.String()
		} else {
			l[r.Name().String()] = r.Hash().String()
		}
	}
	return l, err
}

// Every fixture over every transport in both protocol versions: all refs equal
// those of git ls-remote, and those of go-git where it can read them.
func TestSecondOpinion(t *testing.T) {
	root := gittest.Repos(t)
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "d.git")
	gittest.Detach(t, root+"/d.git", c2)
	gittest.Git(t, root, "-C", "a.git", "symbolic-ref", "refs/remotes/o/HEAD", "refs/heads/foo")
	gittest.Git(t, root, "-C", "s.git", "pack-refs", "--all")
	c := newTestClient(t, Config{})
	for name, at := range places(t, root) {
		for _, repo := range []string{"a.git", "s.git", "e.git", "u.git", "x.git", "xe.git", "d.git"} {
			p := at(repo)
			r := mustParse(t, p.url)
			a, err := c.Read(t.Context(), r, p.auth, Everything())
			if err != nil {
				t.Errorf("%s %s: %v", name, repo, err)
				continue
			}
			checkAdvertisement(t, a)
			got, want := ours(a), gitSays(t, p)
			if !maps.Equal(got, want) {
				t.Errorf("%s %s: git and we differ in %v", name, repo, differing(got, want))
			}
			if a.Empty != (len(want) == 0) {
				t.Errorf("%s %s: empty: %t", name, repo, a.Empty)
			}
			if strings.HasPrefix(repo, "x") {
				continue // go-git cannot read SHA-256
			}
			theirs, err := goGitSays(t.Context(), p)
			if err != nil {
				t.Errorf("%s %s: go-git: %v", name, repo, err)
				continue
			}
			// go-git shows a symbolic ref without its id, and knows only HEAD.
			// For a detached one it takes the first branch with the same id.
			for _, l := range []listing{got, theirs} {
				if repo == "d.git" {
					delete(l, "ref: HEAD")
				}
				maps.DeleteFunc(l, func(key, _ string) bool {
					return key == "HEAD" || strings.HasPrefix(key, "ref: ") && key != "ref: HEAD"
				})
			}
			if !maps.Equal(got, theirs) {
				t.Errorf("%s %s: go-git and we differ in %v", name, repo, differing(got, theirs))
			}
		}
	}
}

// differing returns the keys that two listings do not share.
func differing(a, b listing) []string {
	var keys []string
	for key := range a {
		if b[key] != a[key] {
			keys = append(keys, key)
		}
	}
	for key := range b {
		if _, ok := a[key]; !ok {
			keys = append(keys, key)
		}
	}
	slices.Sort(keys)
	return keys
}
