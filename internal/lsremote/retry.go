package lsremote

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// retry makes attempts until one succeeds, fails for good, or no other fits
// into the time that is left until end.
func (r *reading) retry(ctx context.Context, end time.Time) (*Advertisement, *fault.Error) {
	for {
		r.attempt++
		a, err := r.once(ctx)
		if err == nil {
			return a, nil
		}
		e := r.fail(ctx, err)
		if !e.Transient || r.attempt >= r.config.Retry.MaxAttempts {
			return nil, e
		}
		wait := r.config.Retry.wait(r.attempt, e.RetryAfter)
		if wait >= end.Sub(r.config.Now()) {
			return nil, gaveUp(e, wait)
		}
		if r.config.Sleep(ctx, wait) != nil {
			if ended := fault.FromContext(ctx, e.Phase); ended != nil && ended.Kind == fault.Canceled {
				return nil, ended
			}
			return nil, gaveUp(e, wait)
		}
	}
}

// gaveUp is the error of the last attempt when the time is up: what the server
// said is worth more than that.
func gaveUp(e *fault.Error, wait time.Duration) *fault.Error {
	last := *e
	last.Happened += fmt.Sprintf("; another try in %s would come after the time allowed for one reading", wait.Round(time.Second))
	return &last
}

// wait returns the pause after the given attempt: twice as long each time,
// half of it by chance so that many clients do not come back at once, and
// never shorter than what the server asked for.
func (p Retry) wait(attempt int, asked time.Duration) time.Duration {
	pause := p.MinWait
	for range attempt - 1 {
		pause = min(2*pause, p.MaxWait)
	}
	jitter := rand.N(pause/2 + 1) //nolint:gosec // a pause is no secret
	if asked > 0 {
		return asked + jitter/4
	}
	return pause - jitter
}

// maxRetryAfter bounds what a server may ask for. It is far above any timeout.
const maxRetryAfter = 24 * time.Hour

// retryAfter returns the wait that the answer asks for, 0 if it does not.
func (x *exchange) retryAfter() time.Duration {
	return parseRetryAfter(x.resp.Header.Get("Retry-After"), x.config.Now())
}

// parseRetryAfter reads a Retry-After header: seconds, or a date (RFC 9110,
// section 10.2.3). What is neither, or lies in the past, is 0.
func parseRetryAfter(value string, now time.Time) time.Duration {
	value = strings.TrimSpace(value)
	if seconds, err := strconv.ParseUint(value, 10, 31); err == nil {
		return min(time.Duration(seconds)*time.Second, maxRetryAfter)
	}
	if date, err := http.ParseTime(value); err == nil {
		return min(max(date.Sub(now), 0), maxRetryAfter)
	}
	return 0
}
