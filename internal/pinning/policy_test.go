package pinning

import (
	"testing"
	"time"
)

func TestPolicyStale(t *testing.T) {
	hour := Policy{FreshnessThreshold: time.Hour}
	for _, c := range []struct {
		name   string
		policy Policy
		last   time.Time
		now    time.Time
		age    time.Duration
		stale  bool
	}{
		{"no threshold", Policy{}, start, at(1e6), 0, false},
		{"no threshold, never read", Policy{}, time.Time{}, start, 0, false},
		{"just read", hour, start, start, 0, false},
		{"as old as allowed", hour, start, at(60), time.Hour, false},
		{"older", hour, start, at(61), 61 * time.Minute, true},
		{"never read", hour, time.Time{}, start, 0, true},
		{"read by a machine whose clock is ahead", hour, at(90), start, -90 * time.Minute, false},
	} {
		if age, stale := c.policy.Stale(c.last, c.now); age != c.age || stale != c.stale {
			t.Errorf("%s: %s, %v, want %s, %v", c.name, age, stale, c.age, c.stale)
		}
	}
}
