package sshpool

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"unicode/utf8"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// dialFault describes a TCP connection that did not come about.
func dialFault(ctx context.Context, addr string, err error) *fault.Error {
	if f := fault.FromContext(ctx, fault.PhaseDial); f != nil {
		return f
	}
	var known *fault.Error
	if errors.As(err, &known) {
		own := *known
		own.HostWide = true
		return &own
	}
	f := &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseDial, HostWide: true, Err: err,
		Happened: fmt.Sprintf("cannot connect to %s: %s", addr, reason(err)),
		Advice:   "Check that the host is up and can be reached from here, and the port in the URL."}
	var dns *net.DNSError
	var timeout net.Error
	switch {
	case errors.As(err, &dns):
		f.Happened = fmt.Sprintf("the name %s cannot be resolved: %s", dns.Name, dns.Err)
		f.Advice = "Check the host in the URL, and that this machine's name server knows it."
		f.Transient = dns.IsTemporary || dns.IsTimeout
	case errors.Is(err, syscall.ECONNREFUSED):
		f.Happened = addr + " refused the connection"
		f.Advice = "Check the port in the URL, and that an SSH server listens there."
	case errors.As(err, &timeout) && timeout.Timeout():
		f.Kind = fault.Timeout
	case errors.Is(err, syscall.ECONNRESET):
		f.Transient = true
	}
	return f
}

// reason returns the innermost part of a network error, in which the names of
// system calls and addresses are not repeated.
func reason(err error) string {
	var op *net.OpError
	if errors.As(err, &op) {
		err = op.Err
	}
	var call *os.SyscallError
	if errors.As(err, &call) {
		err = call.Err
	}
	return fault.Clean(err.Error())
}

// connectionLost describes a connection that ended early.
func connectionLost(addr string, phase fault.Phase, cause error) *fault.Error {
	return &fault.Error{Kind: fault.Unavailable, Phase: phase, Transient: true, Err: cause,
		Happened: "the connection to " + addr + " was lost",
		Advice:   "Try again; if it happens each time, ask the host's operator what ends it."}
}

// isLost reports whether err says that the peer, or the network, ended the
// connection.
func isLost(err error) bool {
	var op *net.OpError
	return errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) || errors.As(err, &op)
}

// disconnected returns what the server said when it ended the connection with
// a disconnect message (RFC 4253, section 11.1). x/crypto/ssh has no exported
// type for it.
func disconnected(err error) (text string, ok bool) {
	_, rest, ok := strings.Cut(err.Error(), "ssh: disconnect, reason ")
	if !ok {
		return "", false
	}
	code, quoted, _ := strings.Cut(rest, ": ")
	text, unquoteErr := strconv.Unquote(quoted)
	if unquoteErr != nil || text == "" {
		text = "disconnect, reason " + code
	}
	return text, true
}

// clean makes text of the server fit to be shown.
func (h *host) clean(text string) string {
	// Twice: a secret may have had something invisible in it.
	return fault.Clean(h.auth.Scrub(fault.Visible(h.auth.Scrub(text))))
}

// fault describes a handshake or login that failed with err.
func (hs *handshake) fault(ctx context.Context, err error) *fault.Error {
	phase := hs.at.phase()
	if f := fault.FromContext(ctx, phase); f != nil {
		return f
	}
	hs.mu.Lock()
	defer hs.mu.Unlock()
	f := hs.classify(phase, err)
	f.Phase, f.HostWide, f.Err = phase, true, err
	if f.Advice == "" {
		f.Advice = "Check that the host and the port in the URL are those of its SSH server; if so, ask its operator."
	}
	return f
}

func (hs *handshake) classify(phase fault.Phase, err error) *fault.Error {
	var known *fault.Error
	var negotiation *ssh.AlgorithmNegotiationError
	switch {
	// The check of the host key, and a way to log in that failed on this
	// side (an agent), say best themselves what was wrong.
	case errors.As(hs.hostKey, &known), errors.As(err, &known):
		own := *known
		return &own
	case errors.As(err, &negotiation):
		return hs.noneInCommon(negotiation)
	case errors.Is(err, errHandshakeTooLarge):
		return &fault.Error{Kind: fault.TooLarge, Happened: fmt.Sprintf("%s sent more than %d bytes before the login was done", hs.host.addr, maxHandshake)}
	case phase == fault.PhaseAuth:
		return hs.loginFault(err)
	case !strings.HasPrefix(hs.conn.greeting(), "SSH-"):
		return hs.notSSH()
	}
	text, ok := disconnected(err)
	switch {
	case ok:
		return &fault.Error{Kind: fault.Unavailable, Transient: true, Server: hs.host.clean(text),
			Happened: hs.host.addr + " ended the connection"}
	case isLost(err):
		return &fault.Error{Kind: fault.Unavailable, Transient: true,
			Happened: hs.host.addr + " closed the connection in the middle of the handshake"}
	}
	return &fault.Error{Kind: fault.Protocol, Happened: fmt.Sprintf("the handshake with %s failed: %s", hs.host.addr, hs.plain(err))}
}

// plain returns the text of an error of x/crypto/ssh without its prefixes.
func (hs *handshake) plain(err error) string {
	return hs.host.clean(strings.ReplaceAll(strings.TrimPrefix(err.Error(), "ssh: handshake failed: "), "ssh: ", ""))
}

// noneInCommon describes a server that shares no algorithm with us.
func (hs *handshake) noneInCommon(n *ssh.AlgorithmNegotiationError) *fault.Error {
	var known *fault.Error
	if n.What == "host key" && errors.As(hs.host.auth.SSH.NoCommonHostKey(hs.host.addr, n.RequestedAlgorithms), &known) {
		return known
	}
	return &fault.Error{Kind: fault.Protocol,
		Happened: fmt.Sprintf("%s offers no %s algorithm that is known here and considered safe", hs.host.addr, n.What),
		Server:   hs.host.clean(strings.Join(algorithms(n.RequestedAlgorithms), ", ")),
		Advice:   "Ask the host's operator to update its SSH server, or to allow one of " + strings.Join(algorithms(n.SupportedAlgorithms), ", ") + "."}
}

// algorithms returns list without the names by which one side tells the other
// what else it can do (RFC 8308, and OpenSSH's strict key exchange).
func algorithms(list []string) []string {
	return slices.DeleteFunc(slices.Clone(list), func(name string) bool {
		return strings.HasPrefix(name, "ext-info-") || strings.HasPrefix(name, "kex-strict-")
	})
}

// notSSH describes a peer that did not introduce itself as an SSH server.
func (hs *handshake) notSSH() *fault.Error {
	greeting := hs.host.clean(hs.conn.greeting())
	if strings.ContainsRune(greeting, utf8.RuneError) {
		greeting = "" // no text: another protocol
	}
	// sshd says so in the place of its version when too many log in at once
	// (MaxStartups), or too often (PerSourcePenalties).
	busy := strings.HasPrefix(greeting, "Exceeded MaxStartups") || strings.HasPrefix(greeting, "Not allowed at this time")
	if busy || hs.conn.greeting() == "" {
		return &fault.Error{Kind: fault.Unavailable, Transient: true, Server: greeting,
			Happened: hs.host.addr + " closed the connection before the handshake",
			Advice:   "The server may be busy, or refuse this machine's address for now: try again later."}
	}
	return &fault.Error{Kind: fault.NotGit, Server: greeting,
		Happened: "what answers at " + hs.host.addr + " is not an SSH server",
		Advice:   "Check the host and the port in the URL."}
}

// loginFault describes a login that failed.
func (hs *handshake) loginFault(err error) *fault.Error {
	user, addr := hs.host.auth.SSH.User, hs.host.addr
	said, disconnect := disconnected(err)
	if said == "" {
		said = string(hs.banner)
	}
	refused := disconnect && len(hs.tried) > 0 || strings.Contains(err.Error(), "unable to authenticate")
	switch {
	case strings.Contains(err.Error(), "signature algorithm"):
		return hs.onlySHA1(said)
	case refused:
		return hs.loginRefused(said)
	case disconnect, isLost(err):
		return &fault.Error{Kind: fault.Unavailable, Transient: true, Server: hs.host.clean(said),
			Happened: fmt.Sprintf("%s closed the connection during the login as %q", addr, user)}
	}
	return &fault.Error{Kind: fault.Protocol, Server: hs.host.clean(said),
		Happened: fmt.Sprintf("the login at %s as %q failed: %s", addr, user, hs.plain(err))}
}

// onlySHA1 describes a server with which our RSA key has no way to sign in
// common: it says that it takes SHA-1, or does not say what it takes.
func (hs *handshake) onlySHA1(said string) *fault.Error {
	f := hs.loginRefused(said)
	f.Happened += "; it does not offer to take SHA-2 signatures by RSA keys, and SHA-1 is not considered safe any more"
	f.Advice = "Use an ed25519 or ecdsa key, or ask the host's operator to update its SSH server."
	return f
}

// loginRefused describes a server that does not accept the login.
func (hs *handshake) loginRefused(said string) *fault.Error {
	auth := hs.host.auth
	f := &fault.Error{Kind: fault.Authentication, Server: hs.host.clean(said),
		Happened: fmt.Sprintf("%s refused the login as %q", hs.host.addr, auth.SSH.User),
		Advice:   fmt.Sprintf("Check that the public key of the identity in %s is registered at the host, and that %q is its user for git.", auth.Source, auth.SSH.User)}
	if auth.SSH.Key != "" {
		f.Happened += " with the key " + auth.SSH.Key
	}
	if len(hs.accepted) > 0 {
		f.Happened += "; it accepts " + hs.host.clean(strings.Join(hs.accepted, ", "))
		if !slices.Contains(hs.accepted, "publickey") {
			f.Advice = "This server takes no public keys from this user. Check the user in the URL."
		}
	}
	return f
}
