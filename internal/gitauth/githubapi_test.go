package gitauth

import (
	"net/http"
	"testing"
	"time"
)

func TestRetryAfter(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	for _, c := range []struct {
		after, reset string
		want         time.Duration
	}{
		{"", "", 0},
		{"7", "", 7 * time.Second},
		{" 7 ", "1767323105", 7 * time.Second},
		{"0", "1767323105", time.Minute},
		{"99999999", "", maxRetryAfter},
		{"99999999999999999999", "", 0},
		{"-1", "", 0},
		{"Fri, 02 Jan 2026 03:04:35 GMT", "", 30 * time.Second},
		{"Fri, 02 Jan 2026 03:04:00 GMT", "", 0},
		{"soon", "1767323045", 0},
		{"", "1767323105", time.Minute},
		{"", "4102444800", maxRetryAfter},
		{"", "1", 0},
	} {
		h := http.Header{}
		h.Set("Retry-After", c.after)
		h.Set("X-Ratelimit-Reset", c.reset)
		if got := retryAfter(h, now); got != c.want {
			t.Errorf("%q, %q: got %s, want %s", c.after, c.reset, got, c.want)
		}
	}
}

func FuzzAPIRetryAfter(f *testing.F) {
	f.Add("120", "", int64(0))
	f.Add("", "9223372036854775807", int64(1767323045))
	f.Add("Fri, 02 Jan 2026 03:04:35 GMT", "-1", int64(1767323045))
	f.Fuzz(func(t *testing.T, after, reset string, now int64) {
		h := http.Header{"Retry-After": {after}, "X-Ratelimit-Reset": {reset}}
		if got := retryAfter(h, time.Unix(now, 0)); got < 0 || got > maxRetryAfter {
			t.Errorf("%q, %q at %d: %s", after, reset, now, got)
		}
	})
}
