package main

import (
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// All ways must read the same, or they are not worth comparing.
func TestWaysAgree(t *testing.T) {
	root := t.TempDir()
	repo, err := makeRepository(root, 50)
	if err != nil {
		t.Fatal(err)
	}
	want := gittest.Git(t, filepath.Join(root, repo.name), "rev-parse", repo.tag+"^{commit}")
	https := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{}})
	sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	daemon := gittest.ServeGit(t, root, gittest.DaemonOptions{})
	v0 := gittest.ServeHTTP(t, root, gittest.HTTPOptions{V0Only: true})
	a, err := newAccess(t.TempDir(), https.CA, sshd, []string{https.Addr()}, []string{sshd.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	for _, url := range []string{https.URL + "/" + repo.name, v0.URL + "/" + repo.name, sshd.URL(repo.name), daemon.URL(repo.name), filepath.Join(root, repo.name)} {
		for _, by := range []string{byGitpin, byGoGit, byGit, byFloor} {
			if by == byFloor && !strings.HasPrefix(url, "http") && !strings.HasPrefix(url, "ssh:") {
				continue
			}
			w, err := newWay(by, a)
			if err != nil {
				t.Fatal(err)
			}
			one := job{URLs: []string{url}, Ref: repo.tag, Cold: true}
			if got, err := do(t.Context(), w, one); err != nil || got.Read != want || got.Took <= 0 {
				t.Errorf("%s by %s: %+v, %v, want %s", url, by, got, err, want)
			}
			// HEAD and 50 others.
			if got, err := do(t.Context(), w, job{URLs: []string{url}}); by != byFloor && (err != nil || got.Read != "51") {
				t.Errorf("all of %s by %s: %+v, %v", url, by, got, err)
			}
			if err := w.forget(); err != nil {
				t.Error(err)
			}
		}
	}
}

func TestWorkerTellsErrors(t *testing.T) {
	dir := t.TempDir()
	sshd := gittest.ServeSSH(t, dir, gittest.SSHOptions{})
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	a, err := newAccess(t.TempDir(), ca, sshd, nil, []string{sshd.Addr()})
	if err != nil {
		t.Fatal(err)
	}
	in, toWorker := io.Pipe()
	fromWorker, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveWorker(context.Background(), byGitpin, in, out) }()
	enc, dec := json.NewEncoder(toWorker), json.NewDecoder(fromWorker)
	if err := enc.Encode(a); err != nil {
		t.Fatal(err)
	}
	if err := enc.Encode(job{URLs: []string{filepath.Join(dir, "none.git")}, Ref: "HEAD"}); err != nil {
		t.Fatal(err)
	}
	var got answer
	if err := dec.Decode(&got); err != nil || !strings.HasPrefix(got.Error, "gitpin: ") {
		t.Errorf("%+v, %v", got, err)
	}
	_ = toWorker.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := newWay("smoke signals", a); err == nil {
		t.Error("there is a way that nobody knows")
	}
}
