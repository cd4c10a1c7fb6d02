package main

import (
	"context"
	"net/http"
	"strconv"
	"strings"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	"github.com/go-git/go-git/v5/plumbing/transport/client"
	githttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/storage/memory"
)

// goGit is go-git's Remote.List: protocol version 0, the whole advertisement.
type goGit struct {
	access access
	ssh    transport.AuthMethod
	http   *http.Transport
}

func newGoGit(a access) (*goGit, error) {
	g := &goGit{access: a}
	if a.Identity != "" {
		keys, err := gitssh.NewPublicKeys(a.User, []byte(a.Identity), "")
		if err != nil {
			return nil, err
		}
		if keys.HostKeyCallback, err = gitssh.NewKnownHostsCallback(a.KnownHostsFile); err != nil {
			return nil, err
		}
		g.ssh = keys
	}
	return g, g.forget()
}

// forget gives go-git a transport as Go's default one, but for the trusted CA.
func (g *goGit) forget() (err error) {
	if g.http != nil {
		g.http.CloseIdleConnections()
	}
	g.http = http.DefaultTransport.(*http.Transport).Clone()
	if g.http.TLSClientConfig, err = g.access.tlsConfig(); err != nil {
		return err
	}
	for _, scheme := range []string{"http", "https"} {
		client.InstallProtocol(scheme, githttp.NewClient(&http.Client{Transport: g.http}))
	}
	return nil
}

func (g *goGit) read(ctx context.Context, url, ref string) (string, error) {
	remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{url}})
	o := &gogit.ListOptions{PeelingOption: gogit.AppendPeeled}
	if strings.HasPrefix(url, "ssh://") {
		o.Auth = g.ssh
	}
	refs, err := remote.ListContext(ctx, o)
	if err != nil {
		return "", err
	}
	n, commit := 0, ""
	for _, r := range refs {
		name, peeled := strings.CutSuffix(r.Name().String(), "^{}")
		if !peeled {
			n++
		}
		if name == ref && (peeled || commit == "") {
			commit = r.Hash().String()
		}
	}
	if ref == "" {
		return strconv.Itoa(n), nil
	}
	return commit, nil
}
