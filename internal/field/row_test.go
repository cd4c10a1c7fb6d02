package field

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// mainA is refs/heads/main of the fixture a.git.
const mainA = "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"

// patience is far above what any reading here needs.
const patience = 60 * time.Second

// row is one variant of a field case: what is asked of which server, and what
// is right.
type row struct {
	id   int    // the number of the case, 0 for none
	what string // the variant

	url     string
	secret  map[string]string // nil for no credentials
	prefix  string            // what the secret is for; "" is the URL's origin
	config  lsremote.Config
	env     []string // "NAME=value", while the row runs
	ambient gitauth.Ambient

	// What is right: a commit ("" is main of a.git), an error of a kind, or,
	// where nothing is read, what is dialled and asked for.
	commit string
	kind   fault.Kind
	or     fault.Kind // as right as kind
	parsed string
	says   []string // in the error
	hides  []string // not in the error, beside the secret's values
	check  func(t *testing.T)

	// ours replaces the one reading.
	ours func(t *testing.T, s *stack) (gitpoll.Observation, error)
	// alone is true where git and go-git have nothing to say.
	alone bool
	// again, if set, brings the server back to where it was, for each client.
	again func()
}

func (r row) rewind() {
	if r.again != nil {
		r.again()
	}
}

// stack is what one provider instance reads with.
type stack struct {
	*gitpoll.Observer
	mu  sync.Mutex
	log []lsremote.LogEntry
}

// newStack builds the way of a reading from its parts, as the provider does.
// The error is what a provider block with these credentials would be refused
// with.
func newStack(t *testing.T, c lsremote.Config, entries []gitauth.Entry, o gitauth.Options) (*stack, error) {
	t.Helper()
	s := &stack{}
	if c.Timeout == 0 {
		c.Timeout = patience
	}
	if c.Retry.MinWait == 0 {
		c.Retry.MinWait = time.Millisecond
	}
	c.Log = func(_ context.Context, e lsremote.LogEntry) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.log = append(s.log, e)
	}
	client, err := lsremote.New(c)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	if o.Proxy == nil {
		o.Proxy = client.ProxyFor
	}
	keychain, err := gitauth.NewKeychain(entries, o)
	if err != nil {
		return nil, err
	}
	s.Observer = gitpoll.NewObserver(reading.New(client, keychain, reading.Options{Now: o.Now}), time.Now)
	return s, nil
}

// logged returns the log entries as text.
func (s *stack) logged() string {
	if s == nil {
		return ""
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return fmt.Sprintf("%+v", s.log)
}

// branchMain is what most rows ask for.
func branchMain(url string) gitpoll.Target {
	return gitpoll.Target{URL: url, Spec: selection.Spec{Branch: "main"}}
}

// entries returns the credentials of the row.
func (r row) entries() []gitauth.Entry {
	if r.secret == nil {
		return nil
	}
	prefix := r.prefix
	if remote, err := giturl.Parse(r.url); prefix == "" && err == nil {
		prefix = remote.Origin()
	}
	return []gitauth.Entry{{URL: prefix, Secret: r.secret}}
}

// secrets returns the values that nothing may show.
func (r row) secrets() []string {
	all := slices.Clone(r.hides)
	for _, key := range []string{"password", "bearerToken", "identity", "tls.key", "githubAppPrivateKey"} {
		if value := r.secret[key]; len(value) > 5 {
			all = append(all, value)
		}
	}
	return all
}

// run asks our stack, holds it to what is right, and returns the cell of the
// table.
func (r row) run(t *testing.T) string {
	t.Helper()
	if r.parsed != "" {
		return r.runParsed(t)
	}
	r.rewind()
	var o gitpoll.Observation
	s, err := newStack(t, r.config, r.entries(), gitauth.Options{Ambient: r.ambient})
	if err == nil && r.ours != nil {
		o, err = r.ours(t, s)
	} else if err == nil {
		o, err = s.Observe(t.Context(), branchMain(r.url), reading.Want{}, true)
	}
	r.judge(t, o, err)
	if text := fmt.Sprintf("%v %+v %#v %s", err, err, err, s.logged()); len(r.secrets()) > 0 {
		gittest.AssertNoSecrets(t, "error or log", []byte(text), r.secrets()...)
	}
	if r.check != nil {
		r.check(t)
	}
	if err != nil {
		return "error " + string(fault.KindOf(err))
	}
	return o.Commit[:7]
}

// judge compares an outcome with what is right.
func (r row) judge(t *testing.T, o gitpoll.Observation, err error) {
	t.Helper()
	if r.kind == "" {
		if want := r.right(); err != nil || o.Commit != want {
			t.Errorf("got %q, %v, want %s", o.Commit, err, want)
		} else if r.ours == nil && o.URL != r.url {
			t.Errorf("the URL became %q", o.URL)
		}
		return
	}
	var f *fault.Error
	if !errors.As(err, &f) || f.Kind != r.kind && f.Kind != r.or || f.Happened == "" || f.Advice == "" && f.Kind != fault.Canceled {
		t.Errorf("got %q, %v (%s), want an error of kind %s with advice", o.Commit, err, fault.KindOf(err), r.kind)
		return
	}
	for _, part := range r.says {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q is not in: %v", part, err)
		}
	}
}

func (r row) right() string {
	if r.commit != "" {
		return r.commit
	}
	return mainA
}

// runParsed only takes the URL apart.
func (r row) runParsed(t *testing.T) string {
	t.Helper()
	remote, err := giturl.Parse(r.url)
	if err != nil {
		t.Errorf("%q: %v", r.url, err)
		return "error"
	}
	got := spelled(remote.User, remote.Address(), remote.RepoArg())
	if got != r.parsed {
		t.Errorf("%q is %s, want %s", r.url, got, r.parsed)
	}
	return got
}

// spelled writes login, address and upload-pack argument in one.
func spelled(user, addr, arg string) string { return fmt.Sprintf("%s@%s %s", user, addr, arg) }

// with returns m with more in it.
func with(m map[string]string, pairs ...string) map[string]string {
	m = maps.Clone(m)
	if m == nil {
		m = map[string]string{}
	}
	for i := 0; i+1 < len(pairs); i += 2 {
		m[pairs[i]] = pairs[i+1]
	}
	return m
}
