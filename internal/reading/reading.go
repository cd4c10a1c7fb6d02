// Package reading makes the readings of one run and shares them (invariant
// I4): who asks for what was just read gets that very advertisement, who asks
// while it is being read waits for it, and a host that cannot be reached is
// not tried over and over.
package reading

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// DefaultPerHost is how many readings run on one host at a time.
const DefaultPerHost = 4

// Client makes one reading; *lsremote.Client is one. It bounds its own time.
type Client interface {
	Read(ctx context.Context, r giturl.Remote, a *gitauth.Auth, q lsremote.Query) (*lsremote.Advertisement, error)
}

// Keychain finds the credentials of a remote; *gitauth.Keychain is one.
type Keychain interface {
	For(r giturl.Remote) (*gitauth.Auth, error)
}

// Options says how readings are shared.
type Options struct {
	// MaxAge is how old a shared reading may be. 0 or less shares none that
	// began before it was asked for.
	MaxAge time.Duration
	// PerHost is how many readings run on one host and port at a time; below 1
	// means DefaultPerHost.
	PerHost int
	// Now is the clock; nil means time.Now.
	Now func() time.Time
}

// Want says what one caller expects of a reading.
type Want struct {
	// MaxAge replaces that of Options; nil leaves it.
	MaxAge *time.Duration
	// Fresh demands a reading that begins after the call, and tries a host
	// even if it failed before. The reading is shared with later callers.
	Fresh bool
	// Present tells whether the advertisement holds what the caller looks for;
	// nil means that it always does. "No" of a reading that began before the
	// call is not the last word: one that begins after it decides.
	Present func(*lsremote.Advertisement) bool
}

// Reader makes and shares readings. It is safe for concurrent use. All that it
// knows is forgotten with it: one Reader serves one run.
type Reader struct {
	client   Client
	keychain Keychain
	maxAge   time.Duration
	now      func() time.Time
	hosts    *hosts

	mu      sync.Mutex
	last    sequence
	flights map[source][]*flight // under way and kept, by what they read
}

// source is a repository as certain credentials see it.
type source struct{ repository, auth string }

// New returns a Reader.
func New(c Client, k Keychain, o Options) *Reader {
	if o.PerHost < 1 {
		o.PerHost = DefaultPerHost
	}
	if o.Now == nil {
		o.Now = time.Now
	}
	return &Reader{
		client: c, keychain: k, maxAge: o.MaxAge, now: o.Now,
		hosts: newHosts(o.PerHost), flights: map[source][]*flight{},
	}
}

// Read returns an advertisement of the remote that covers q: a shared one that
// is young enough, one that is under way, or a new one. It is shared and must
// not be changed. The end of ctx ends the call at once, and the reading too if
// nobody else waits for it. The error is a *fault.Error with Asked filled in.
func (r *Reader) Read(ctx context.Context, remote giturl.Remote, q lsremote.Query, w Want) (*lsremote.Advertisement, error) {
	c := call{remote: remote, query: q.Normalize(), maxAge: r.maxAge, fresh: w.Fresh, anew: w.Fresh}
	if w.MaxAge != nil {
		c.maxAge = *w.MaxAge
	}
	if err := fault.FromContext(ctx, fault.PhaseQueue); err != nil {
		return nil, c.explain(err)
	}
	var err error
	if c.auth, err = r.keychain.For(remote); err != nil {
		return nil, c.explain(err)
	}
	for {
		f := r.join(ctx, &c)
		a, err := r.wait(ctx, c, f)
		switch {
		case err != nil:
			return nil, c.explain(err)
		case w.Present == nil, f.began > c.number, w.Present(a):
			return a, nil
		}
		c.anew = true
	}
}

// call is one call of Read.
type call struct {
	remote giturl.Remote
	auth   *gitauth.Auth
	query  lsremote.Query
	maxAge time.Duration
	fresh  bool     // a host that failed before is tried again
	anew   bool     // only a reading that begins after the call will do
	number sequence // when the call was made
}

func (c call) source() source {
	return source{c.remote.Canonical() + " as " + c.remote.User, c.auth.ID}
}

// explain makes err, which may come from a reading that others asked for, one
// that says what this call asked for.
func (c call) explain(err error) error {
	var e *fault.Error
	if !errors.As(err, &e) {
		return err
	}
	own := *e
	own.Asked = c.query.String() + " of " + c.remote.String()
	return &own
}

// sequence orders calls and the beginnings of readings. A clock would not do:
// two events may have the same time.
type sequence uint64
