package gitauth

import (
	"context"
	"errors"
	"sync"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// shared keeps a value that costs a request or a process. Whoever finds none
// makes it; those who come meanwhile wait for that and share the outcome, a
// failure too. A failure is not kept.
type shared[T any] struct {
	mu    sync.Mutex
	value T
	set   bool
	work  *work // under way, or nil
}

// work is one attempt to make a value.
type work struct {
	done      chan struct{}
	err       error
	abandoned bool // it ended with its maker's context: says nothing to others
}

// get returns the value if good says so, else what produce returns. It waits no
// longer than ctx, and then returns a *fault.Error.
func (s *shared[T]) get(ctx context.Context, good func(T) bool, produce func(context.Context) (T, error)) (T, error) {
	for {
		s.mu.Lock()
		if value := s.value; s.set && good(value) {
			s.mu.Unlock()
			return value, nil
		}
		w := s.work
		if w == nil {
			w = &work{done: make(chan struct{})}
			s.work = w
			s.mu.Unlock()
			return s.make(ctx, w, produce)
		}
		s.mu.Unlock()
		select {
		case <-ctx.Done():
			var none T
			return none, fault.FromContext(ctx, fault.PhaseCredentials)
		case <-w.done:
			if w.err != nil && !w.abandoned {
				var none T
				return none, ownCopy(w.err)
			}
		}
	}
}

// make runs produce and publishes its outcome to those who wait for w.
func (s *shared[T]) make(ctx context.Context, w *work, produce func(context.Context) (T, error)) (T, error) {
	value, err := produce(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.work = nil
	w.err, w.abandoned = err, err != nil && ctx.Err() != nil
	if err == nil {
		s.value, s.set = value, true
	}
	close(w.done)
	if err != nil {
		err = ownCopy(err)
	}
	return value, err
}

// peek returns the value, if there is one.
func (s *shared[T]) peek() (T, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.value, s.set
}

// ownCopy returns a copy of a *fault.Error: every reading adds to its error what
// it was asked for.
func ownCopy(err error) error {
	var f *fault.Error
	if !errors.As(err, &f) {
		return err
	}
	own := *f
	return &own
}
