package lsremote

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"io"
	"net"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// Errors are built where they happen, without Asked and with the server's text
// as it came. Read fills in Asked, and scrubs and cleans the text: scrubbing
// must come first, for a secret that was cut in two is not found any more. So
// no text of a server may stand in Happened, unless it was scrubbed before.

// protocolError says how an answer breaks the protocol. text is what the
// server sent.
func protocolError(text []byte, format string, args ...any) *fault.Error {
	return &fault.Error{Kind: fault.Protocol, Phase: fault.PhaseRefs,
		Happened: fmt.Sprintf(format, args...), Server: string(text),
		Advice: "This is not what git's wire protocol allows. Check that the URL is that of a git repository, and that nothing between here and the server changes its answers."}
}

// tooLarge says that an answer passed the bound.
func tooLarge(limit int64) *fault.Error {
	return &fault.Error{Kind: fault.TooLarge, Phase: fault.PhaseRefs,
		Happened: fmt.Sprintf("the answer is larger than the allowed %d bytes", limit),
		Advice:   "Ask for fewer refs (a branch, a tag or a narrower prefix), or raise the provider's max_advertisement_bytes."}
}

// isCut tells whether err says that a stream ended too early.
func isCut(err error) bool { return errors.Is(err, io.ErrUnexpectedEOF) }

// refusals are words that servers use when they refuse, in lower case, in the
// order in which they are looked for: "access denied or repository not
// exported" (git daemon) and "not found or you don't have permission" leave
// open which it is, and the less certain kind must win.
var refusals = []struct {
	kind  fault.Kind
	words []string
}{
	{fault.RateLimited, []string{"rate limit", "too many requests", "too many connections", "throttl"}},
	{fault.NotFound, []string{"not found", "could not be found", "does not exist", "doesn't exist", "no such ", "not exported",
		"does not appear to be a git repository", "not a git repository", "unknown repository", "unknown project"}},
	{fault.Forbidden, []string{"denied", "not authorized", "not authorised", "unauthorized", "forbidden", "not allowed",
		"no permission", "don't have permission", "do not have permission", "dubious ownership"}},
}

// refused turns what a server said in place of refs into an error. The text
// decides only about the kind and the advice.
func refused(text string) *fault.Error {
	e := &fault.Error{Kind: fault.Protocol, Phase: fault.PhaseRefs, Server: text,
		Happened: "the server refused the request", Advice: "The server's own words say why."}
	lower := strings.ToLower(text)
	for _, r := range refusals {
		for _, word := range r.words {
			if strings.Contains(lower, word) {
				e.Kind = r.kind
				e.Transient = r.kind == fault.RateLimited
				e.Advice = adviceFor(r.kind)
				return e
			}
		}
	}
	return e
}

func adviceFor(kind fault.Kind) string {
	switch kind {
	case fault.RateLimited:
		return "The host limits how often it may be asked. Lower per_host_concurrency, raise max_age, or give credentials with a higher limit."
	case fault.NotFound:
		return "Check the path of the URL, and that the credentials in use may see the repository: hosts do not tell a hidden repository from a missing one."
	default:
		return "The credentials in use are known there, but may not read this repository: check what they are allowed to read."
	}
}

// dialError says why addr ("host:port") cannot be connected to.
func dialError(ctx context.Context, addr string, err error) *fault.Error {
	if e := fault.FromContext(ctx, fault.PhaseDial); e != nil {
		e.HostWide = e.Kind == fault.Timeout
		return e
	}
	e := &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true, Err: err,
		Happened: fmt.Sprintf("no connection to %s: %s", addr, cause(err)),
		Advice:   "Check the host and the port of the URL, and that the host can be reached from here (firewall, VPN, proxy)."}
	var dns *net.DNSError
	if errors.As(err, &dns) {
		e.Happened = fmt.Sprintf("the name of %s cannot be resolved: %s", addr, dns.Err)
		e.Advice = "Check the host in the URL, and that its name can be resolved from here."
	}
	return e
}

// cause returns the innermost text of a network error, which names no address
// and no operation.
func cause(err error) string { return fault.Clean(innermost(err)) }

// innermost is cause as it came. net/http quotes the peer in it: a header that
// cannot be, or why a server of HTTP/2 goes away.
func innermost(err error) string {
	var op *net.OpError
	if errors.As(err, &op) && op.Err != nil {
		err = op.Err
	}
	return err.Error()
}

// tlsError says why the TLS handshake with addr ("host:port") failed.
func tlsError(ctx context.Context, addr string, err error) *fault.Error {
	if e := fault.FromContext(ctx, fault.PhaseTLS); e != nil {
		e.HostWide = e.Kind == fault.Timeout
		return e
	}
	e := &fault.Error{Kind: fault.TLS, Phase: fault.PhaseTLS, HostWide: true, Err: err}
	var (
		authority x509.UnknownAuthorityError
		name      x509.HostnameError
		invalid   x509.CertificateInvalidError
		record    tls.RecordHeaderError
	)
	switch {
	case errors.As(err, &authority):
		e.Happened = "the certificate of " + addr + " is signed by an authority that is not trusted here"
		e.Advice = "If the host has a private authority, give its certificate as ca.crt in the secret for this URL. If that is there already, the host may not send the certificates between."
	case errors.As(err, &name):
		e.Happened, e.Server = "the certificate of "+addr+" is for another name", name.Error()
		e.Advice = "Use a name in the URL that the certificate has, or have the certificate extended."
	case errors.As(err, &invalid):
		e.Happened, e.Server = "the certificate of "+addr+" is not valid", invalid.Error()
		e.Advice = "Have the certificate issued anew, for a server."
		if invalid.Reason == x509.Expired {
			e.Advice = "Check the clock of this machine, and have the certificate renewed."
		}
	case errors.As(err, &record):
		e.Happened = addr + " does not speak TLS on this port"
		e.Advice = "Check the port, and whether the URL should begin with http://."
	case isAlert(err):
		return alertError(addr, err)
	case isLost(err):
		e.Kind, e.Transient = fault.Unavailable, true
		e.Happened = addr + " closed the connection during the TLS handshake"
		e.Advice = "Check that the host is up, and that nothing between here and there ends TLS connections."
	default:
		e.Happened = "the TLS handshake with " + addr + " failed: " + cause(err)
		e.Advice = "Check which TLS versions and certificates the server has."
	}
	return e
}

// isAlert tells whether the peer ended the connection by a TLS alert.
// crypto/tls has no type for that, only the operation.
func isAlert(err error) bool {
	var op *net.OpError
	return errors.As(err, &op) && op.Op == "remote error"
}

// alertError is for a TLS alert of the peer. In TLS 1.3 a server refuses a
// client certificate, or the lack of one, only after the client's handshake is
// over, so it may come while the answer is awaited; and the end of the
// connection may overtake it, so that nothing is left but a reset.
func alertError(addr string, err error) *fault.Error {
	e := &fault.Error{Kind: fault.TLS, Phase: fault.PhaseTLS, Err: err, Transient: !isAlert(err),
		Happened: addr + " refused the TLS connection: " + cause(err),
		Advice:   "If the host wants a client certificate, give tls.crt and tls.key in the secret for this URL; if they are there, check that the host trusts them."}
	if cause(err) == errNoCommonVersion.Error() { // crypto/tls has its own type in the error
		e.Advice = "The host speaks no TLS 1.2 or later, and older versions are not considered safe any more. Ask its operator to update it."
	}
	return e
}

// errNoCommonVersion is the alert of a peer that shares no version with us
// (RFC 8446, section 6.2).
const errNoCommonVersion = tls.AlertError(70)

// isLost tells whether err says that a peer went away.
func isLost(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op) && (op.Op == "read" || op.Op == "write")
}

// lost is for a connection that broke after it was made. scrub hides the
// secrets that the peer was given.
func lost(phase fault.Phase, err error, scrub func(string) string) *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Phase: phase, Transient: true, Err: err,
		Happened: "the connection broke: " + fault.Clean(scrub(innermost(err))),
		Advice:   "Try again; if it happens every time, check what is between here and the server."}
}
