// Package lsremote reads the ref advertisement of a git remote, what
// "git ls-remote" shows, over https, http, ssh, git:// and from a local path:
// exactly the wanted refs, in as few round trips as the server allows, with
// memory and time bounded whatever the server sends.
package lsremote

import (
	"context"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// Config says how readings are made. The zero value of each field means the
// default that its comment names.
type Config struct {
	// Timeout bounds one reading, retries included. Default 60 s.
	Timeout time.Duration
	// Retry says how a transient failure is tried again.
	Retry Retry
	// MaxBytes bounds what a server may send as one answer (after
	// decompression), and what is kept of it. Default 256 MiB.
	MaxBytes int64
	// Proxy is the proxy to use. nil: the environment variables HTTPS_PROXY,
	// HTTP_PROXY and NO_PROXY count, for https and http and never for ssh.
	Proxy *Proxy
	// PerHost is how many readings run on one host at a time; as many idle
	// connections are kept. Default 4.
	PerHost int
	// UserAgent is sent as the HTTP header. Hosts know git clients by the
	// "git/" it begins with. Default "git/gitpin".
	UserAgent string
	// Now is the clock. Default time.Now.
	Now func() time.Time
	// Sleep waits for d, or until ctx ends, whose error it then returns.
	// Default: a timer.
	Sleep func(ctx context.Context, d time.Duration) error
	// Log is called once for each reading, at its end. nil: nothing is logged.
	Log func(ctx context.Context, e LogEntry)
}

// Retry says how a transient failure (a reset, 429, 5xx) is tried again.
type Retry struct {
	// MaxAttempts counts the first try too: 1 never retries. Default 4.
	MaxAttempts int
	// MinWait is the pause before the first retry; it doubles up to MaxWait.
	// Defaults 500 ms and 15 s.
	MinWait, MaxWait time.Duration
}

// Proxy is an explicitly configured proxy.
type Proxy struct {
	// URL is "http://host:port", "https://host:port" or "socks5://host:port".
	URL string
	// Username and Password are sent to the proxy only.
	Username, Password string
	// NoProxy lists what is reached directly, as in the NO_PROXY variable:
	// hosts, domain suffixes, addresses, CIDR ranges, with or without a port.
	NoProxy string
	// SSH is true where ssh hosts are reached through the proxy too. An http
	// proxy must allow CONNECT to their port.
	SSH bool
}

// LogEntry is what one reading leaves in the log. It holds no text of the
// server and no secret.
type LogEntry struct {
	Host, Path         string
	Protocol, Requests int
	BytesIn, BytesOut  int64
	RefsSeen, RefsKept int
	Duration           time.Duration
	Attempts           int
	Outcome            fault.Kind // "" when the reading succeeded
}
