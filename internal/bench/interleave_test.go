package main

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"
)

// fake is a way that always takes the same time, and writes down its turns.
func fake(turns *[]string, name string, took time.Duration) measurement {
	return func(context.Context) (time.Duration, error) {
		*turns = append(*turns, name)
		return took, nil
	}
}

func TestInterleave(t *testing.T) {
	var turns []string
	ways := []measurement{fake(&turns, "a", 10*time.Millisecond), fake(&turns, "b", 25*time.Millisecond), fake(&turns, "c", 1000*time.Millisecond)}
	// A round takes 5*10 + 5*25 + 1000 ms.
	samples, err := interleave(t.Context(), pace{budget: 3 * time.Second, min: 1, max: 9, repeats: 5}, ways)
	if err != nil {
		t.Fatal(err)
	}
	round := strings.Fields("a b c a b a b a b a b")
	back := slices.Clone(round)
	slices.Reverse(back)
	want := slices.Concat([]string{"a", "b", "c"}, round, back)
	if !slices.Equal(turns, want) {
		t.Errorf("turns %v, want %v", turns, want)
	}
	if len(samples[0]) != 10 || len(samples[1]) != 10 || len(samples[2]) != 2 || samples[1][3] != 25*time.Millisecond {
		t.Errorf("samples %v", samples)
	}
}

func TestInterleaveRounds(t *testing.T) {
	for _, c := range []struct {
		name string
		took time.Duration
		pace pace
		want int
	}{
		{"the least, though it takes longer", time.Minute, pace{budget: time.Second, min: 3, max: 9, repeats: 5}, 3},
		{"as the budget allows", 100 * time.Millisecond, pace{budget: 750 * time.Millisecond, min: 3, max: 9, repeats: 5}, 7},
		{"the most", time.Millisecond, pace{budget: time.Second, min: 3, max: 9, repeats: 5}, 9},
		{"one that takes no time at all", 0, pace{budget: time.Second, min: 3, max: 9, repeats: 5}, 9},
	} {
		t.Run(c.name, func(t *testing.T) {
			var turns []string
			samples, err := interleave(t.Context(), c.pace, []measurement{fake(&turns, "a", c.took)})
			if err != nil || len(samples[0]) != c.want {
				t.Errorf("%d rounds, %v, want %d", len(samples[0]), err, c.want)
			}
		})
	}
}

func TestInterleaveEndsWithAnError(t *testing.T) {
	broken := errors.New("broken")
	n := 0
	_, err := interleave(t.Context(), pace{min: 5, max: 5, repeats: 1}, []measurement{func(context.Context) (time.Duration, error) {
		if n++; n == 3 {
			return 0, broken
		}
		return 1, nil
	}})
	if !errors.Is(err, broken) || n != 3 {
		t.Errorf("%v after %d measurements", err, n)
	}
}
