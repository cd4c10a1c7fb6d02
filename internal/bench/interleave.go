package main

import (
	"context"
	"time"
)

// pace says how much measuring one contest may take.
type pace struct {
	budget   time.Duration // about; the least number of rounds may take longer
	min, max int           // rounds
	// repeats is how often the fastest way is measured in a round at most. The
	// slowest is measured once.
	repeats int
}

// measurement measures one way once.
type measurement func(ctx context.Context) (time.Duration, error)

// interleave measures all ways by turns: in every round each of them, the fast
// ones several times, and each round begins with another one. A first turn is
// not counted: it fills caches, makes connections, and shows how long each way
// takes.
func interleave(ctx context.Context, p pace, ways []measurement) ([][]time.Duration, error) {
	first := make([]time.Duration, len(ways))
	var slowest time.Duration
	for i, measure := range ways {
		took, err := measure(ctx)
		if err != nil {
			return nil, err
		}
		first[i] = max(took, 1)
		slowest = max(slowest, first[i])
	}
	repeats := make([]int, len(ways))
	var round time.Duration
	for i, took := range first {
		repeats[i] = int(min(slowest/took, time.Duration(p.repeats)))
		round += time.Duration(repeats[i]) * took
	}
	rounds := int(min(max(p.budget/round, time.Duration(p.min)), time.Duration(p.max)))

	samples := make([][]time.Duration, len(ways))
	for r := range rounds {
		for turn := range ways {
			i := (r + turn) % len(ways)
			for range repeats[i] {
				took, err := ways[i](ctx)
				if err != nil {
					return nil, err
				}
				samples[i] = append(samples[i], took)
			}
		}
	}
	return samples, nil
}
