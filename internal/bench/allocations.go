package main

import (
	"context"
	"errors"
	"fmt"
)

// allocations counts what one reading allocates for refs that it does not keep:
// a server of version 0 sends them all, and none of them is wanted.
func (s *setup) allocations(ctx context.Context) (text string, err error) {
	w, err := startWorker(ctx, byGitpin, s.access)
	if err != nil {
		return "", err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	count := func(size int) (float64, error) {
		urls := s.v0.urls(s.v0.addr, s.repos[size].name)
		a, err := w.do(job{URLs: urls, Ref: "refs/tags/none", Allocs: true})
		return a.Allocs, err
	}
	few, err := count(many)
	if err != nil {
		return "", err
	}
	lots, err := count(all)
	if err != nil {
		return "", err
	}
	return fmt.Sprintf("allocations of a reading that keeps none of %s refs: %.0f, of %s refs: %.0f, so %.5f for each ref that is not kept\n",
		thousands(many), few, thousands(all), lots, (lots-few)/(all-many)), nil
}
