package bench

import (
	"fmt"
	"net/url"
	"path/filepath"
	"strings"
	"testing"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// branch is a ref that every repository of gittest.WriteManyRefs has, and whose
// name begins no other's: a server answers a ref-prefix with all that begin so.
const branch = "refs/heads/main"

// reader returns the id of branch.
type reader func(b *testing.B, url string) string

// BenchmarkOneRef reads one branch of repositories of growing size over http
// from git http-backend. The connection is warm where the reader keeps one. The
// metrics down-B/op and up-B/op are bytes on the wire, HTTP headers included.
func BenchmarkOneRef(b *testing.B) {
	sizes := []int{1_000, 100_000}
	if !testing.Short() {
		sizes = append(sizes, 1_000_000)
	}
	root := b.TempDir()
	server := gittest.ServeHTTP(b, root, gittest.HTTPOptions{})
	proxy := gittest.Proxy(b, server.Addr(), gittest.ProxyOptions{})
	for _, size := range sizes {
		name := fmt.Sprintf("%d.git", size)
		if err := gittest.WriteManyRefs(filepath.Join(root, name), size); err != nil {
			b.Fatal(err)
		}
		want := gittest.Git(b, filepath.Join(root, name), "rev-parse", branch)
		remote := (&url.URL{Scheme: "http", Host: proxy.Addr(), Path: "/" + name}).String()
		for _, by := range []struct {
			name string
			open func(*testing.B) reader
		}{{"gitpin", gitpin}, {"go-git", goGit}, {"git-ls-remote", gitLsRemote}} {
			b.Run(fmt.Sprintf("http/refs=%d/by=%s", size, by.name), func(b *testing.B) {
				read := by.open(b)
				// Once ahead of the clock: connections, what was learnt of the
				// server, and the proof that it answers right.
				if got := read(b, remote); got != want {
					b.Fatalf("read %s, want %s", got, want)
				}
				down, up := proxy.BytesDown(), proxy.BytesUp()
				b.ReportAllocs()
				rounds := 0
				for b.Loop() {
					read(b, remote)
					rounds++
				}
				b.ReportMetric(float64(proxy.BytesDown()-down)/float64(rounds), "down-B/op")
				b.ReportMetric(float64(proxy.BytesUp()-up)/float64(rounds), "up-B/op")
			})
		}
	}
}

// gitpin is the provider's own reading, without the sharing of a run.
func gitpin(b *testing.B) reader {
	b.Helper()
	client, err := lsremote.New(lsremote.Config{})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = client.Close() })
	keychain, err := gitauth.NewKeychain(nil, gitauth.Options{})
	if err != nil {
		b.Fatal(err)
	}
	return func(b *testing.B, url string) string {
		remote, err := giturl.Parse(url)
		if err != nil {
			b.Fatal(err)
		}
		auth, err := keychain.For(remote)
		if err != nil {
			b.Fatal(err)
		}
		a, err := client.Read(b.Context(), remote, auth, lsremote.Query{Refs: []string{branch}})
		if err != nil {
			b.Fatal(err)
		}
		ref, _ := a.Lookup(branch)
		return ref.Commit()
	}
}

// goGit is go-git's Remote.List: protocol v0, the whole advertisement.
func goGit(*testing.B) reader {
	return func(b *testing.B, url string) string {
		remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{url}})
		refs, err := remote.ListContext(b.Context(), &gogit.ListOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, ref := range refs {
			if ref.Name() == branch {
				return ref.Hash().String()
			}
		}
		return ""
	}
}

// gitLsRemote starts a process for each reading, as the external data source does.
func gitLsRemote(*testing.B) reader {
	return func(b *testing.B, url string) string {
		id, _, _ := strings.Cut(gittest.Git(b, "", "ls-remote", url, branch), "\t")
		return id
	}
}
