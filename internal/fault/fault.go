// Package fault holds the one error type that a failed reading ends in. Every
// layer below the Terraform wiring returns it, so that a diagnostic can always
// say, in this order, what was asked, what happened and what to do.
//
// Nothing in an Error may hold a secret: the layer that builds one passes
// server text through Clean, after its own credentials were scrubbed from it.
package fault

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"
)

// Kind classifies a failure by what a person has to do about it. The values
// are stable: they appear in logs.
type Kind string

// The kinds of failure.
const (
	Input              Kind = "input"               // the configuration is wrong; no request was made
	Credentials        Kind = "credentials"         // a secret cannot be used as it is; no request was made
	CredentialsUnknown Kind = "credentials_unknown" // a provider value is not known yet; no request was made
	Authentication     Kind = "authentication"      // the server refused the credentials, or wants some
	Forbidden          Kind = "forbidden"           // the credentials are good but may not read this
	NotFound           Kind = "not_found"           // no such repository, or not visible to these credentials
	RefNotFound        Kind = "ref_not_found"       // the repository was read; the ref is not advertised
	EmptyRepository    Kind = "empty_repository"    // the repository was read; it has no refs at all
	NoHead             Kind = "no_head"             // the repository was read; it advertises no HEAD
	HostKeyUnknown     Kind = "host_key_unknown"
	HostKeyMismatch    Kind = "host_key_mismatch"
	HostKeyRevoked     Kind = "host_key_revoked"
	TLS                Kind = "tls"
	Proxy              Kind = "proxy"
	Timeout            Kind = "timeout"
	Canceled           Kind = "canceled" // the caller gave up (an interrupt)
	RateLimited        Kind = "rate_limited"
	Unavailable        Kind = "unavailable" // refused, reset, unresolvable, or 5xx
	NotGit             Kind = "not_git"     // something answered, but not a git server
	Protocol           Kind = "protocol"    // a git server, but its answer breaks the protocol
	TooLarge           Kind = "too_large"
	Redirect           Kind = "redirect"
)

// Phase says how far a reading had come when it failed.
type Phase string

// The phases of a reading, in their order.
const (
	PhaseCredentials Phase = "credentials"
	PhaseQueue       Phase = "queue"
	PhaseDial        Phase = "dial"
	PhaseTLS         Phase = "TLS handshake"
	PhaseSSH         Phase = "SSH handshake"
	PhaseAuth        Phase = "authentication"
	PhaseAnswer      Phase = "waiting for the answer"
	PhaseRefs        Phase = "reading the refs"
)

// Error is a failed reading.
type Error struct {
	Kind  Kind
	Phase Phase
	// Asked is what was asked of which remote, e.g. "refs/heads/main of
	// https://git.example.com/acme/app.git". It holds no secret.
	Asked string
	// Happened is one clause without a final stop, e.g. "the server answered
	// 401 Unauthorized".
	Happened string
	// Server is what the server itself said, already cleaned (see Clean).
	Server string
	// Advice is one or more whole sentences that say what to do.
	Advice string
	// Status is the HTTP status code of the last answer, 0 if there was none.
	Status int
	// RetryAfter is how long the server asked to wait, 0 if it did not.
	RetryAfter time.Duration
	// Transient is true when the same request may well succeed a moment later
	// (a reset, 429, 5xx).
	Transient bool
	// HostWide is true when the failure says that the host, not this
	// repository, cannot be reached: a failed dial, TLS or SSH handshake, or a
	// host that accepted the connection and never answered.
	HostWide bool
	// Err is the cause, for errors.Is and errors.As. Its text is not shown.
	Err error
}

// Error returns asked, happened, server and advice on one line.
func (e *Error) Error() string {
	var b strings.Builder
	if e.Asked != "" {
		fmt.Fprintf(&b, "%s: ", e.Asked)
	}
	b.WriteString(e.What())
	if e.Advice != "" {
		fmt.Fprintf(&b, ". %s", e.Advice)
	}
	return b.String()
}

// Format prints Error under every verb, and under %+v what callers act on as
// well. Err is never printed: its text may quote a server.
func (e Error) Format(w fmt.State, verb rune) {
	text := e.Error()
	switch {
	case verb == 'q':
		text = strconv.Quote(text)
	case verb == 'v' && (w.Flag('+') || w.Flag('#')):
		text = fmt.Sprintf("%s (status %d, retry after %s, transient %t, host-wide %t): %s", e.Kind, e.Status, e.RetryAfter, e.Transient, e.HostWide, text)
	}
	_, _ = io.WriteString(w, text)
}

// What returns what happened, with the phase and what the server said, without
// what was asked and without advice.
func (e *Error) What() string {
	var b strings.Builder
	b.WriteString(e.Happened)
	if e.Phase != "" {
		fmt.Fprintf(&b, " (phase: %s)", e.Phase)
	}
	if e.Server != "" {
		fmt.Fprintf(&b, "; the server said: %q", e.Server)
	}
	return b.String()
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Err }

// KindOf returns the kind of err, or "" when err holds no Error.
func KindOf(err error) Kind {
	var e *Error
	if errors.As(err, &e) {
		return e.Kind
	}
	return ""
}

// FromContext returns an Error for a context that has ended: Timeout when its
// deadline passed, Canceled otherwise. It returns nil while ctx is alive.
func FromContext(ctx context.Context, phase Phase) *Error {
	switch {
	case ctx.Err() == nil:
		return nil
	case errors.Is(context.Cause(ctx), context.DeadlineExceeded), errors.Is(ctx.Err(), context.DeadlineExceeded):
		return &Error{Kind: Timeout, Phase: phase, Happened: "the time allowed for one reading ran out", Err: ctx.Err(),
			Advice: "Check that the host is up and can be reached from here, or raise the provider's timeout."}
	default:
		return &Error{Kind: Canceled, Phase: phase, Happened: "the run was interrupted", Err: ctx.Err()}
	}
}

// maxServerText bounds what a stranger may put into our diagnostics, in bytes.
const maxServerText = 300

// Clean makes text from a server fit for a diagnostic: valid UTF-8, no control
// or invisible formatting characters (a server must not paint the terminal),
// runs of white space folded, at most maxServerText bytes.
func Clean(text string) string {
	// A bound before the work: a body may be megabytes long.
	if len(text) > 8*maxServerText {
		text = text[:8*maxServerText]
	}
	text = Visible(text)
	text = strings.Join(strings.Fields(text), " ")
	if len(text) <= maxServerText {
		return text
	}
	cut := maxServerText
	for !utf8.RuneStart(text[cut]) {
		cut--
	}
	return text[:cut] + "…"
}

// Visible returns text as valid UTF-8 without control and invisible formatting
// characters, and with a space for each white one.
func Visible(text string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case unicode.IsSpace(r):
			return ' '
		case unicode.IsControl(r), unicode.Is(unicode.Cf, r):
			return -1
		}
		return r
	}, strings.ToValidUTF8(text, "�"))
}
