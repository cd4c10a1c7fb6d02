package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// median returns the middle of the samples, 0 if there are none.
func median(samples []time.Duration) time.Duration {
	if len(samples) == 0 {
		return 0
	}
	s := slices.Sorted(slices.Values(samples))
	mid := len(s) / 2
	if len(s)%2 == 1 {
		return s[mid]
	}
	return (s[mid-1] + s[mid]) / 2
}

// inMS writes a duration in milliseconds with three significant digits, or
// all digits before the point.
func inMS(d time.Duration) string {
	ms := float64(d) / float64(time.Millisecond)
	switch {
	case ms < 9.995:
		return fmt.Sprintf("%.2f", ms)
	case ms < 99.95:
		return fmt.Sprintf("%.1f", ms)
	}
	return thousands(int64(ms + 0.5))
}

// inBytes writes a size in B, kB or MB (powers of ten).
func inBytes(n int64) string {
	switch {
	case n < 10_000:
		return thousands(n) + " B"
	case n < 1_000_000:
		return fmt.Sprintf("%.0f kB", float64(n)/1e3)
	}
	return fmt.Sprintf("%.1f MB", float64(n)/1e6)
}

// thousands writes n >= 0 with commas.
func thousands(n int64) string {
	digits := fmt.Sprint(n)
	var b strings.Builder
	for i, d := range digits {
		if i > 0 && (len(digits)-i)%3 == 0 {
			b.WriteByte(',')
		}
		b.WriteRune(d)
	}
	return b.String()
}

// times writes a ratio with three significant digits.
func times(ratio float64) string {
	switch {
	case ratio < 9.995:
		return fmt.Sprintf("%.2f", ratio)
	case ratio < 99.95:
		return fmt.Sprintf("%.1f", ratio)
	}
	return thousands(int64(ratio + 0.5))
}
