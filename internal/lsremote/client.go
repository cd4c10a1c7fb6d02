package lsremote

import (
	"cmp"
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/sshpool"
)

// Client reads advertisements. It is safe for concurrent use, keeps
// connections open between readings, and must be closed.
type Client struct {
	config     Config
	agent      string // how protocol version 2 is told who asks
	dial       dialFunc
	proxies    *proxies
	transports *transports
	pool       *sshpool.Pool
	learnt     *learnt
	localEnv   *localEnv
}

// New returns a Client. The error is a *fault.Error of kind Input; it shows no
// secret.
func New(c Config) (*Client, error) {
	c = c.withDefaults()
	proxies, err := newProxies(c.Proxy)
	if err != nil {
		return nil, err
	}
	dial := (&net.Dialer{KeepAliveConfig: net.KeepAliveConfig{
		// A peer that vanished is noticed within half a minute.
		Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3,
	}}).DialContext
	return &Client{
		config:     c,
		agent:      strings.Map(agentRune, c.UserAgent),
		dial:       dial,
		proxies:    proxies,
		transports: &transports{dial: dial, perHost: c.PerHost, all: map[string]*http.Transport{}},
		pool:       sshpool.New(sshpool.Options{Dial: proxies.sshDial(dial)}),
		learnt:     newLearnt(),
		localEnv:   newLocalEnv(),
	}, nil
}

// withDefaults fills in what is not set.
func (c Config) withDefaults() Config {
	c.Timeout = cmp.Or(c.Timeout, 60*time.Second)
	c.Retry.MaxAttempts = cmp.Or(c.Retry.MaxAttempts, 4)
	c.Retry.MinWait = max(cmp.Or(c.Retry.MinWait, 500*time.Millisecond), 0)
	c.Retry.MaxWait = max(cmp.Or(c.Retry.MaxWait, 15*time.Second), c.Retry.MinWait)
	c.MaxBytes = cmp.Or(c.MaxBytes, 256<<20)
	c.PerHost = cmp.Or(c.PerHost, 4)
	c.UserAgent = strings.Map(headerRune, cmp.Or(c.UserAgent, "git/gitpin"))
	if c.Now == nil {
		c.Now = time.Now
	}
	if c.Sleep == nil {
		c.Sleep = sleep
	}
	if c.Log == nil {
		c.Log = func(context.Context, LogEntry) {}
	}
	return c
}

// headerRune drops what may not stand in a header.
func headerRune(c rune) rune {
	if c < ' ' || c > '~' {
		return -1
	}
	return c
}

// agentRune replaces the space, which the capability must not have
// (gitprotocol-v2, "agent"), as git does.
func agentRune(c rune) rune {
	if c == ' ' {
		return '.'
	}
	return c
}

// sleep waits for d, or until ctx ends.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Read asks the remote for the refs that q wants and returns those that it
// advertises. A wanted ref that is not there is no error. a is what the
// keychain gives for the remote; nil is the same as no credentials.
//
// The reading, retries included, ends within Config.Timeout and with ctx. The
// error is always a *fault.Error with Asked filled in.
func (c *Client) Read(ctx context.Context, remote giturl.Remote, a *gitauth.Auth, q Query) (*Advertisement, error) {
	began := c.config.Now()
	r := &reading{Client: c, remote: remote, auth: cmp.Or(a, anonymous), query: q.Normalize()}
	bounded, cancel := context.WithTimeout(ctx, c.config.Timeout)
	defer cancel()

	ad, failed := r.run(bounded, began.Add(c.config.Timeout))
	took := c.config.Now().Sub(began)
	if failed != nil {
		c.config.Log(ctx, r.entry(nil, failed.Kind, took))
		return nil, r.explain(failed)
	}
	ad.ReadAt = began
	c.config.Log(ctx, r.entry(ad, "", took))
	return ad, nil
}

// run checks what is asked and asks it.
func (r *reading) run(ctx context.Context, end time.Time) (*Advertisement, *fault.Error) {
	if err := r.query.check(); err != nil {
		return nil, err
	}
	return r.retry(ctx, end)
}

// check refuses a query that cannot be sent: it becomes lines of a request, in
// which a name must not begin another line.
func (q Query) check() *fault.Error {
	if q.Empty() {
		return &fault.Error{Kind: fault.Input, Happened: "no refs are asked for", Advice: "Name refs or prefixes."}
	}
	for _, name := range q.Refs {
		if e, ok := errors.AsType[*fault.Error](gitref.CheckFull(name)); ok {
			return e
		}
	}
	for _, prefix := range q.Prefixes {
		if strings.ContainsFunc(prefix, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
			return &fault.Error{Kind: fault.Input, Happened: "a prefix holds a space or a control character, which no ref name has",
				Advice: `Write a prefix such as "refs/tags/".`}
		}
	}
	return nil
}

// Close ends all connections that are kept open. No reading may be under way.
func (c *Client) Close() error {
	c.transports.close()
	return errors.Join(c.pool.Close(), c.localEnv.close())
}
