package provider

import (
	"context"
	"sync"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-log/tflog"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// services is what one configured provider instance lends to its data sources
// and resources.
type services struct {
	reader   *reading.Reader
	observer *gitpoll.Observer
	// unknown is the name of a provider attribute that is not known yet, "" in
	// the ordinary case.
	unknown string
	now     func() time.Time
	memory  memory
}

// services builds what data sources and resources need. Unknown values do not
// fail it: they fail the readings that need them.
func (m providerModel) services(ctx context.Context, version string, now func() time.Time) (*services, diag.Diagnostics) {
	s := &services{now: now, unknown: m.unknownSetting(ctx)}
	if s.unknown != "" {
		// Nothing is read; what is known of the credentials is judged all the same.
		_, diags := m.keychain(ctx, gitauth.Options{})
		return s, diags
	}
	config, diags := m.client(ctx, version, now)
	if diags.HasError() {
		return s, diags
	}
	client, err := lsremote.New(config)
	if err != nil {
		diags.Append(badProvider(err))
		return s, diags
	}
	keychain, more := m.keychain(ctx, gitauth.Options{Proxy: client.ProxyFor, Now: now})
	diags.Append(more...)
	if diags.HasError() {
		return s, diags
	}
	s.reader = reading.New(client, keychain, reading.Options{
		MaxAge: duration(m.MaxAge, defaultMaxAge), PerHost: config.PerHost, Now: now,
	})
	s.observer = gitpoll.NewObserver(s.reader, now)
	return s, diags
}

// ready returns an error while the provider's own settings are not known: no
// request may be made with guessed ones.
func (s *services) ready() error {
	if s.unknown == "" {
		return nil
	}
	return &fault.Error{
		Kind: fault.CredentialsUnknown, Phase: fault.PhaseCredentials,
		Happened: "the provider's " + s.unknown + " is not known before apply, and nothing is read with a guessed value",
		Advice:   "Create what it depends on first (terraform apply -target=...), then plan again.",
	}
}

// observe makes one observation, explained with near names where the ref is
// missing.
func (s *services) observe(ctx context.Context, t gitpoll.Target, w reading.Want) (gitpoll.Observation, error) {
	if err := s.ready(); err != nil {
		return gitpoll.Observation{}, err
	}
	return s.observer.Observe(ctx, t, w, true)
}

// wait polls until the target is advertised, for at most timeout.
func (s *services) wait(ctx context.Context, t gitpoll.Target, timeout, interval time.Duration) (gitpoll.Observation, error) {
	if err := s.ready(); err != nil {
		return gitpoll.Observation{}, err
	}
	return s.observer.Wait(ctx, t, timeout, interval)
}

// memory is what one process remembers of its own readings, by plumbing. It
// may turn a plan into an error, and supplies the times of a reading that a
// plan in the same process has made; it never moves a pin.
type memory struct {
	mu sync.Mutex
	by map[string]remembered
}

type remembered struct {
	observation gitpoll.Observation // of the last reading that succeeded
	succeeded   time.Time
	failure     error // of the last refresh, nil if it succeeded
}

func (m *memory) of(plumbing string) remembered {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.by[plumbing]
}

func (m *memory) update(plumbing string, change func(*remembered)) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.by == nil {
		m.by = map[string]remembered{}
	}
	r := m.by[plumbing]
	change(&r)
	m.by[plumbing] = r
}

// logReading writes the one structured line that each reading leaves.
func logReading(ctx context.Context, e lsremote.LogEntry) {
	outcome := "ok"
	if e.Outcome != "" {
		outcome = string(e.Outcome)
	}
	tflog.Debug(ctx, "read a ref advertisement", map[string]any{
		"host": e.Host, "path": e.Path, "protocol": e.Protocol, "requests": e.Requests, "attempts": e.Attempts,
		"bytes_in": e.BytesIn, "bytes_out": e.BytesOut, "refs_seen": e.RefsSeen, "refs_kept": e.RefsKept,
		"duration_ms": e.Duration.Milliseconds(), "outcome": outcome,
	})
}
