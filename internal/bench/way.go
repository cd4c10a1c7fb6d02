package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"
	"testing"
	"time"

	"golang.org/x/sync/errgroup"
)

// The ways to read refs.
const (
	byGitpin = "gitpin"
	byGoGit  = "go-git"
	byGit    = "git ls-remote"
	byFloor  = "floor"
)

// way is one way to read refs.
type way interface {
	// read returns the commit that the full ref name leads to, or, for "", the
	// number of refs that the remote has.
	read(ctx context.Context, url, ref string) (string, error)
	// forget drops whatever is kept between readings.
	forget() error
}

// newWay returns the way called by.
func newWay(by string, a access) (way, error) {
	switch by {
	case byGitpin:
		return newGitpin(a)
	case byGoGit:
		return newGoGit(a)
	case byGit:
		return gitCLI{a}, nil
	case byFloor:
		return &floor{access: a}, nil
	}
	return nil, fmt.Errorf("there is no way %q", by)
}

// do does a job. Dropping what earlier jobs have left is not part of the time.
func do(ctx context.Context, w way, j job) (answer, error) {
	if j.Cold {
		if err := w.forget(); err != nil {
			return answer{}, err
		}
	}
	if j.Allocs {
		return countAllocs(ctx, w, j)
	}
	read := make([]string, len(j.URLs))
	began := time.Now()
	var g errgroup.Group
	g.SetLimit(max(1, j.AtOnce))
	for i, url := range j.URLs {
		g.Go(func() (err error) {
			read[i], err = w.read(ctx, url, j.Ref)
			return err
		})
	}
	err := g.Wait()
	a := answer{Took: time.Since(began), Read: read[0], Peak: peakMemory(w)}
	if len(read) > 1 {
		sum := sha256.Sum256([]byte(strings.Join(read, "\n")))
		a.Read = hex.EncodeToString(sum[:])
	}
	return a, err
}

// countAllocs returns how many allocations one reading takes, the transport's
// included.
func countAllocs(ctx context.Context, w way, j job) (answer, error) {
	var a answer
	var failed error
	a.Allocs = testing.AllocsPerRun(5, func() {
		if _, err := w.read(ctx, j.URLs[0], j.Ref); err != nil {
			failed = err
		}
	})
	return a, failed
}

// peakMemory returns the most memory that a way has used so far. For a way
// that runs programs it is that of the largest of them.
func peakMemory(w way) int64 {
	if _, ok := w.(gitCLI); ok {
		return peakOfChildren()
	}
	return peakOfSelf()
}
