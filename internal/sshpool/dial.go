package sshpool

import (
	"context"
	"errors"
	"net"
	"sync"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// connect makes a connection for h and logs in. It enters each phase in at.
// Errors are HostWide.
func connect(ctx context.Context, h *host, at *progress) (*conn, *fault.Error) {
	at.enter(fault.PhaseDial)
	raw, err := h.pool.dial(ctx, "tcp", h.addr)
	if err != nil {
		return nil, dialFault(ctx, h.addr, err)
	}
	w := &watchedConn{Conn: raw}
	stop := context.AfterFunc(ctx, func() { _ = w.Close() })
	hs := &handshake{host: h, conn: w, at: at}
	sc, chans, reqs, err := ssh.NewClientConn(w, h.addr, hs.config())
	inTime := stop()
	if err != nil {
		_ = w.Close()
		return nil, hs.fault(ctx, err)
	}
	w.loggedIn()
	c := newConn(h, w, sc, chans, reqs)
	if !inTime {
		return nil, hs.fault(ctx, context.Cause(ctx)) // c ends by itself: its socket is closed
	}
	return c, nil
}

// handshake collects what a failed login has to be explained with.
type handshake struct {
	host *host
	conn *watchedConn
	at   *progress

	mu       sync.Mutex
	hostKey  error    // what was wrong with the host's key
	accepted []string // the methods that the server accepts
	tried    []string // the methods that it refused
	banner   []byte   // what it said before the login
}

// config returns the client configuration for x/crypto/ssh. The algorithms are
// those that it knows and holds to be safe: its defaults leave out two key
// exchanges that some hosts have nothing beside, and have one by SHA-1 that
// OpenSSH refuses. Of host keys only those that can be checked are asked for.
func (hs *handshake) config() *ssh.ClientConfig {
	hs.at.enter(fault.PhaseSSH)
	auth := hs.host.auth.SSH
	check := auth.HostKeyCallback(hs.host.addr)
	safe := ssh.SupportedAlgorithms()
	return &ssh.ClientConfig{
		Config: ssh.Config{KeyExchanges: safe.KeyExchanges, Ciphers: safe.Ciphers, MACs: safe.MACs},
		User:   auth.User,
		Auth:   auth.Methods,
		HostKeyCallback: func(name string, remote net.Addr, key ssh.PublicKey) error {
			err := check(name, remote, key)
			if err != nil {
				hs.mu.Lock()
				hs.hostKey = err
				hs.mu.Unlock()
				return err
			}
			// The key exchange is all but over; what comes next is the login.
			hs.at.enter(fault.PhaseAuth)
			return nil
		},
		HostKeyAlgorithms: auth.HostKeyAlgorithms(hs.host.addr),
		BannerCallback: func(text string) error {
			hs.mu.Lock()
			defer hs.mu.Unlock()
			hs.banner = append(hs.banner, text[:min(len(text), stderrLimit-len(hs.banner))]...)
			return nil
		},
		// It chooses no method; it only listens.
		AuthCallback: func(c *ssh.ClientAuthContext) (ssh.AuthMethod, error) {
			hs.mu.Lock()
			defer hs.mu.Unlock()
			hs.accepted, hs.tried = c.AllowedMethods, c.TriedMethods
			return nil, nil
		},
	}
}

// maxHandshake bounds what a server may send before the login is done, in
// bytes. A usual handshake takes 5 KB.
const maxHandshake = 1 << 20

var errHandshakeTooLarge = errors.New("too much was sent before the login")

// watchedConn is a socket that remembers how the peer introduced itself and
// when it was last heard of, and that a peer cannot make read for ever before
// the login is done.
type watchedConn struct {
	net.Conn

	mu    sync.Mutex
	first []byte    // the beginning of what it sent
	count int       // how many bytes it sent before the login
	free  bool      // the login is done
	heard time.Time // when something last came
	ended bool      // a read has failed: nothing comes any more
}

// Read reads from the peer.
func (w *watchedConn) Read(p []byte) (int, error) {
	n, err := w.Conn.Read(p)
	w.mu.Lock()
	defer w.mu.Unlock()
	if n > 0 {
		w.heard = time.Now()
	}
	w.ended = w.ended || err != nil
	if w.free {
		return n, err
	}
	w.first = append(w.first, p[:min(n, maxVersionLine-len(w.first))]...)
	w.count += n
	if w.count > maxHandshake {
		return 0, errHandshakeTooLarge
	}
	return n, err
}

// loggedIn lifts the bound on what the peer may send.
func (w *watchedConn) loggedIn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.free = true
}

// heardSince reports whether anything has come since t.
func (w *watchedConn) heardSince(t time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.heard.After(t)
}

// hasEnded reports whether the peer has ended the connection. It knows before
// x/crypto/ssh does.
func (w *watchedConn) hasEnded() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.ended
}

// greeting returns the beginning of what the peer has sent.
func (w *watchedConn) greeting() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return string(w.first)
}

// maxVersionLine is the longest identification line of RFC 4253, section 4.2.
const maxVersionLine = 255
