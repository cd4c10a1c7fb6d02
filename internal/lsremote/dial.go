package lsremote

import (
	"context"
	"crypto/tls"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// dialing is what a dial must know of the request that it is made for. It
// travels in the request's context.
type dialing struct {
	ctx   context.Context
	phase *phase
	// proxy leads to the host, nil for none.
	proxy *url.URL
	// forward is true when the proxy takes the request itself (plain http), so
	// that it is the proxy that net/http asks to be connected to.
	forward bool
	// certAsked is set when the host asks for a client certificate.
	certAsked atomic.Bool
}

type dialingKey struct{}

// with returns a context that carries d.
func (d *dialing) with(ctx context.Context) context.Context {
	return context.WithValue(ctx, dialingKey{}, d)
}

// dialingOf returns what the context of a dial carries. net/http has detached
// that context: the dial would go on after the reading has ended, and a silent
// host would hold a goroutine for minutes. The returned context ends with the
// reading.
func dialingOf(detached context.Context) (*dialing, context.Context, func()) {
	d := detached.Value(dialingKey{}).(*dialing)
	ctx, cancel := context.WithCancelCause(detached)
	end := context.AfterFunc(d.ctx, func() { cancel(context.Cause(d.ctx)) })
	return d, ctx, func() { end(); cancel(nil) }
}

// dialFunc is net.Dialer.DialContext, or what takes its place.
type dialFunc func(ctx context.Context, network, addr string) (net.Conn, error)

// connector makes the connections of one http.Transport.
type connector struct {
	dial dialFunc
	tls  *tls.Config // for the hosts, not for proxies
}

// plain connects for an http URL: to the host at addr, or to the proxy there.
func (c *connector) plain(detached context.Context, _, addr string) (net.Conn, error) {
	d, ctx, stop := dialingOf(detached)
	defer stop()
	return c.reach(ctx, d, addr)
}

// secure connects for an https URL, TLS handshake included, or for an http URL
// to the https proxy at addr.
func (c *connector) secure(detached context.Context, _, addr string) (net.Conn, error) {
	d, ctx, stop := dialingOf(detached)
	defer stop()
	conn, err := c.reach(ctx, d, addr)
	if err != nil {
		return nil, err
	}
	if d.forward {
		return secureProxy(ctx, conn, d.proxy)
	}
	d.phase.set(fault.PhaseTLS)
	secured, err := handshake(ctx, conn, c.noticing(d), addr)
	if err != nil {
		return nil, tlsError(ctx, addr, err)
	}
	return secured, nil
}

// noticing returns the TLS configuration for a connection that notices in d
// when the host asks for a client certificate. The certificate is chosen as
// without it.
func (c *connector) noticing(d *dialing) *tls.Config {
	config := c.tls.Clone()
	config.GetClientCertificate = func(asked *tls.CertificateRequestInfo) (*tls.Certificate, error) {
		d.certAsked.Store(true)
		for i := range c.tls.Certificates {
			if asked.SupportsCertificate(&c.tls.Certificates[i]) == nil {
				return &c.tls.Certificates[i], nil
			}
		}
		return new(tls.Certificate), nil
	}
	return config
}

// reach makes the TCP connection to addr, through the proxy if there is one.
func (c *connector) reach(ctx context.Context, d *dialing, addr string) (net.Conn, error) {
	switch {
	case d.forward:
		return dialProxy(ctx, c.dial, d.proxy)
	case d.proxy != nil:
		return through(ctx, c.dial, d.proxy, addr)
	}
	conn, err := c.dial(ctx, "tcp", addr)
	if err != nil {
		return nil, dialError(ctx, addr, err)
	}
	return conn, nil
}

// handshake makes the TLS handshake with addr over conn, which it closes if
// that fails.
func handshake(ctx context.Context, conn net.Conn, config *tls.Config, addr string) (*tls.Conn, error) {
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	config = config.Clone()
	config.ServerName, _, _ = strings.Cut(host, "%") // no certificate names an IPv6 zone
	secured := tls.Client(conn, config)
	if err := secured.HandshakeContext(ctx); err != nil {
		_ = conn.Close()
		return nil, err
	}
	return secured, nil
}

// secureProxy makes the TLS handshake with an https proxy. What the
// credentials say about TLS is for the host and not for the proxy.
func secureProxy(ctx context.Context, conn net.Conn, u *url.URL) (net.Conn, error) {
	secured, err := handshake(ctx, conn, &tls.Config{MinVersion: tls.VersionTLS12}, proxyAddr(u))
	if err != nil {
		return nil, proxyError(ctx, u, err)
	}
	return secured, nil
}

// forwardProxy tells net/http about a proxy that takes plain http requests
// itself; all others are hidden from it by the dial functions.
func forwardProxy(req *http.Request) (*url.URL, error) {
	if d, ok := req.Context().Value(dialingKey{}).(*dialing); ok && d.forward {
		return d.proxy, nil
	}
	return nil, nil
}
