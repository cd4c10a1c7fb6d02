package gitauth

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// TestSharedFailure lets ten callers wait for one attempt: all get its failure,
// each a copy, and the next caller tries anew.
func TestSharedFailure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		var attempts atomic.Int32
		finish := make(chan struct{})
		produce := func(context.Context) (int, error) {
			attempts.Add(1)
			<-finish
			return 0, &fault.Error{Kind: fault.Unavailable, Happened: "no"}
		}
		always := func(int) bool { return true }
		var mu sync.Mutex
		errs := map[*fault.Error]bool{}
		var wg sync.WaitGroup
		for range 10 {
			wg.Go(func() {
				_, err := s.get(t.Context(), always, produce)
				mu.Lock()
				defer mu.Unlock()
				errs[asFault(err)] = true
			})
		}
		synctest.Wait()
		close(finish)
		wg.Wait()
		if attempts.Load() != 1 || len(errs) != 10 || errs[nil] {
			t.Errorf("%d attempts, %d errors", attempts.Load(), len(errs))
		}
		got, err := s.get(t.Context(), always, func(context.Context) (int, error) { return 7, nil })
		if got != 7 || err != nil {
			t.Errorf("after a failure: %d, %v", got, err)
		}
		got, err = s.get(t.Context(), always, func(context.Context) (int, error) { return 0, errors.New("not asked") })
		if got != 7 || err != nil {
			t.Errorf("the value is not kept: %d, %v", got, err)
		}
	})
}

// TestSharedTakesOver cancels the caller that works: one of those who wait goes
// on with a context of its own.
func TestSharedTakesOver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s shared[int]
		always := func(int) bool { return true }
		ctx, cancel := context.WithCancel(t.Context())
		produce := func(ctx context.Context) (int, error) {
			select {
			case <-ctx.Done():
				return 0, fault.FromContext(ctx, fault.PhaseCredentials)
			default:
				return 7, nil
			}
		}
		go func() {
			_, err := s.get(ctx, always, func(ctx context.Context) (int, error) { <-ctx.Done(); return produce(ctx) })
			if fault.KindOf(err) != fault.Canceled {
				t.Errorf("the first: %v", err)
			}
		}()
		synctest.Wait()
		var wg sync.WaitGroup
		for range 5 {
			wg.Go(func() {
				if got, err := s.get(t.Context(), always, produce); got != 7 || err != nil {
					t.Errorf("one that waits: %d, %v", got, err)
				}
			})
		}
		synctest.Wait()
		cancel()
		wg.Wait()
	})
}
