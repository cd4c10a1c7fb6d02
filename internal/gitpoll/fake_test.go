package gitpoll

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const (
	latency = time.Second // of a reading of the fake client
	timeout = time.Minute // of a reading of a silent host
	app     = "https://git.example.com/acme/app.git"
	lib     = "https://git.example.com/acme/lib.git"
)

// world is a Client and a Keychain in the fake time of synctest: repositories
// by canonical URL, each with its refs, or with an error.
type world struct {
	mu    sync.Mutex
	refs  map[string]map[string]string
	fails map[string]*fault.Error
	slow  map[string]time.Duration // in addition to latency
	calls []string
}

func (w *world) For(giturl.Remote) (*gitauth.Auth, error) { return &gitauth.Auth{}, nil }

func (w *world) Read(ctx context.Context, r giturl.Remote, _ *gitauth.Auth, q lsremote.Query) (*lsremote.Advertisement, error) {
	a, fail, takes := w.look(r, q)
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return nil, fault.FromContext(ctx, fault.PhaseAnswer)
	}
	if fail != nil {
		return nil, fail
	}
	return a, nil
}

// look notes the call and takes what is there when the reading begins.
func (w *world) look(r giturl.Remote, q lsremote.Query) (*lsremote.Advertisement, *fault.Error, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.calls = append(w.calls, q.String()+" of "+r.String())
	if r.Host == "silent.example.com" {
		return nil, &fault.Error{Kind: fault.Timeout, Phase: fault.PhaseAnswer, HostWide: true, Happened: "no answer"}, timeout
	}
	if r.Host == "refusing.example.com" {
		return nil, &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true, Happened: "refused"}, 0
	}
	url := r.Canonical()
	a := &lsremote.Advertisement{ReadAt: time.Now(), ObjectFormat: "sha1"}
	for name, id := range w.refs[url] {
		if q.Wants(name) {
			ref := lsremote.Ref{Name: name, ID: id}
			if commit, ok := strings.CutPrefix(id, "tag of "); ok {
				ref.Peeled = commit
			}
			if name == "HEAD" {
				ref.Target = "refs/heads/main"
			}
			a.Refs = append(a.Refs, ref)
		}
	}
	slices.SortFunc(a.Refs, func(x, y lsremote.Ref) int { return strings.Compare(x.Name, y.Name) })
	a.Empty = len(w.refs[url]) == 0
	return a, w.fails[url], latency + w.slow[url]
}

func (w *world) push(url, name, id string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.refs[url][name] = id
}

// fail makes the repository fail; nil mends it.
func (w *world) fail(url string, e *fault.Error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fails[url] = e
}

// took returns the calls since it was last asked.
func (w *world) took() []string {
	w.mu.Lock()
	defer w.mu.Unlock()
	calls := w.calls
	w.calls = nil
	return calls
}

// bench is an Observer over a world.
type bench struct {
	*testing.T
	*world
	observer   *Observer
	background sync.WaitGroup
}

// run gives f a bench in a bubble of fake time. The bubble ends only when every
// goroutine in it has.
func run(t *testing.T, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		w := &world{
			refs: map[string]map[string]string{
				app:                                      {"HEAD": "c1", "refs/heads/main": "c1", "refs/heads/wip": "c2", "refs/tags/v1.0.0": "tag of c1", "refs/tags/v1.1.0": "c3"},
				lib:                                      {"refs/heads/main": "l1"},
				"https://git.example.com/acme/empty.git": {},
			},
			fails: map[string]*fault.Error{}, slow: map[string]time.Duration{},
		}
		reader := reading.New(w, w, reading.Options{MaxAge: 90 * time.Second})
		b := &bench{T: t, world: w, observer: NewObserver(reader, time.Now)}
		f(b)
		b.background.Wait()
	})
}

// start runs f in the background until it blocks.
func (b *bench) start(f func()) {
	b.background.Go(f)
	synctest.Wait()
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }

func branch(url, name string) Target {
	return Target{URL: url, Spec: selection.Spec{Branch: name}}
}

func wantFault(t testing.TB, err error, kind fault.Kind, parts ...string) *fault.Error {
	t.Helper()
	var e *fault.Error
	if !errors.As(err, &e) || e.Kind != kind {
		t.Errorf("got %v, want kind %s", err, kind)
		return &fault.Error{}
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("no %q in: %v", part, err)
		}
	}
	return e
}
