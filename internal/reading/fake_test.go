package reading

import (
	"context"
	"errors"
	"fmt"
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
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// timeout is that of one reading of the fake client.
const timeout = time.Minute

// fake is a Client and a Keychain. Its remotes answer with refs after latency,
// unless broken says otherwise. All in the fake time of synctest.
type fake struct {
	latency time.Duration
	broken  func(r giturl.Remote, auth string) *fault.Error // after the latency
	silent  func(r giturl.Remote) bool                      // until the timeout
	auth    func(r giturl.Remote) string

	mu       sync.Mutex
	refs     map[string]string // name to id, of every repository
	calls    []string
	running  map[string]int // by host
	peak     map[string]int
	canceled int
}

func newFake() *fake {
	return &fake{latency: time.Second, refs: map[string]string{"refs/heads/main": "1", "refs/tags/v1": "1"},
		running: map[string]int{}, peak: map[string]int{}}
}

func (f *fake) push(name, id string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.refs[name] = id
}

// slow sets how long the readings take that begin from now on.
func (f *fake) slow(latency time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.latency = latency
}

func (f *fake) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.calls)
}

func (f *fake) For(r giturl.Remote) (*gitauth.Auth, error) {
	if f.auth == nil {
		return &gitauth.Auth{}, nil
	}
	return &gitauth.Auth{ID: f.auth(r)}, nil
}

func (f *fake) Read(ctx context.Context, r giturl.Remote, a *gitauth.Auth, q lsremote.Query) (*lsremote.Advertisement, error) {
	result, latency := f.begin(r, q)
	defer f.end(r)
	late := false
	if f.silent != nil && f.silent(r) {
		latency, late = timeout, true
	}
	select {
	case <-time.After(latency):
	case <-ctx.Done():
		pass(time.Millisecond) // a real client needs a moment as well
		f.mu.Lock()
		f.canceled++
		f.mu.Unlock()
		return nil, fault.FromContext(ctx, fault.PhaseAnswer)
	}
	if late {
		return nil, &fault.Error{Kind: fault.Timeout, Phase: fault.PhaseAnswer, HostWide: true, Happened: "no answer"}
	}
	if f.broken != nil {
		if e := f.broken(r, a.ID); e != nil {
			return nil, e
		}
	}
	return result, nil
}

// begin notes the call and takes the refs as they are when a reading begins.
func (f *fake) begin(r giturl.Remote, q lsremote.Query) (*lsremote.Advertisement, time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.calls = append(f.calls, q.String()+" of "+r.String())
	f.running[r.Address()]++
	f.peak[r.Address()] = max(f.peak[r.Address()], f.running[r.Address()])
	a := &lsremote.Advertisement{ReadAt: time.Now()}
	for name, id := range f.refs {
		if q.Wants(name) {
			a.Refs = append(a.Refs, lsremote.Ref{Name: name, ID: id})
		}
	}
	slices.SortFunc(a.Refs, func(x, y lsremote.Ref) int { return strings.Compare(x.Name, y.Name) })
	return a, f.latency
}

func (f *fake) end(r giturl.Remote) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.running[r.Address()]--
}

// bench is a Reader over a fake, in a bubble of fake time.
type bench struct {
	*testing.T
	*fake
	reader *Reader

	background sync.WaitGroup
}

// run gives f a bench with max_age 90 s and two readings per host.
func run(t *testing.T, f func(b *bench)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, Options{MaxAge: 90 * time.Second, PerHost: 2})
		f(b)
		b.background.Wait()
		pass(time.Second) // what was given up ends
	})
}

func newBench(t *testing.T, o Options) *bench {
	client := newFake()
	return &bench{T: t, fake: client, reader: New(client, client, o)}
}

// start runs f in the background until it blocks.
func (b *bench) start(f func()) {
	b.background.Go(f)
	synctest.Wait()
}

// pass lets fake time go by.
func pass(d time.Duration) { <-time.After(d) }

func remote(t testing.TB, url string) giturl.Remote {
	t.Helper()
	r, err := giturl.Parse(url)
	if err != nil {
		t.Error(err)
	}
	return r
}

const repo = "https://git.example.com/acme/app.git"

func exact(names ...string) lsremote.Query { return lsremote.Query{Refs: names} }
func below(prefix string) lsremote.Query   { return lsremote.Query{Prefixes: []string{prefix}} }

// id reads a ref and returns its id, "" if it is not there.
func (b *bench) id(name string, q lsremote.Query, w Want) string {
	b.Helper()
	a, err := b.reader.Read(b.Context(), remote(b, repo), q, w)
	if err != nil {
		b.Error(err)
		return ""
	}
	ref, _ := a.Lookup(name)
	return ref.ID
}

func (b *bench) main(w Want) string {
	b.Helper()
	return b.id("refs/heads/main", exact("refs/heads/main"), w)
}

// calledTimes fails the test unless the client has been asked n times.
func (b *bench) calledTimes(n int) {
	b.Helper()
	if got := b.count(); got != n {
		b.Errorf("%d readings, want %d: %v", got, n, b.calls)
	}
}

// together calls f n times at the same moment and waits for all.
func together(n int, f func(i int)) {
	var wg sync.WaitGroup
	for i := range n {
		wg.Go(func() { f(i) })
	}
	wg.Wait()
}

// has makes a Want.Present for one ref.
func has(name string) func(*lsremote.Advertisement) bool {
	return func(a *lsremote.Advertisement) bool {
		_, ok := a.Lookup(name)
		return ok
	}
}

func age(d time.Duration) *time.Duration { return &d }

// wantFault fails the test unless err is a *fault.Error of the kind whose text
// holds all parts.
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

func repoAt(host string, i int) string { return fmt.Sprintf("https://%s/acme/r%d.git", host, i) }
