package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"runtime/pprof"
	"time"
)

// profiled is how long each kind of reading runs under the profiler.
const profiled = 5 * time.Second

// writeProfiles profiles our own readings, warm and one at a time, as far as
// their names match only. The servers are processes of their own.
func writeProfiles(ctx context.Context, dir string, only *regexp.Regexp) (err error) {
	runtime.MemProfileRate = 0 // until the servers are up
	s, err := startSetup(ctx, quickScale)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	w, err := newGitpin(s.access)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, w.forget()) }()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	cpu, err := os.Create(filepath.Join(dir, "reading.cpu"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, cpu.Close()) }()
	heap, err := os.Create(filepath.Join(dir, "reading.mem"))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, heap.Close()) }()

	runtime.MemProfileRate = 64 << 10
	if err := pprof.StartCPUProfile(cpu); err != nil {
		return err
	}
	defer pprof.StopCPUProfile()
	for _, c := range s.contests() {
		if c.far || !only.MatchString(c.name) {
			continue
		}
		progress("%s", c.name)
		for end := time.Now().Add(profiled); time.Now().Before(end); {
			if _, err := do(ctx, w, c.job(ours, c.server.addr)); err != nil {
				return err
			}
		}
	}
	return pprof.Lookup("allocs").WriteTo(heap, 0)
}
