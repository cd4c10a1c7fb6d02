package main

import (
	"context"
	"slices"
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
// ones several times. Every other round goes backwards, so that none always
// follows the same other one, and finds the machine as that has left it. A first
// turn is not counted: it fills caches, makes connections, and shows how long
// each way takes.
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
		for _, i := range turns(repeats, r%2 == 1) {
			took, err := ways[i](ctx)
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], took)
		}
	}
	return samples, nil
}

// turns returns the ways of one round in their order: all, then again those
// that are repeated, until none is left.
func turns(repeats []int, backwards bool) []int {
	var order []int
	for n := range slices.Max(repeats) {
		for i, times := range repeats {
			if n < times {
				order = append(order, i)
			}
		}
	}
	if backwards {
		slices.Reverse(order)
	}
	return order
}
