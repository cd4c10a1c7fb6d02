package lsremote

import (
	"bufio"
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"

	xproxy "golang.org/x/net/proxy"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// proxyAddr returns "host:port" of a proxy.
func proxyAddr(u *url.URL) string {
	port := u.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
		if port == "" {
			port = "1080"
		}
	}
	return net.JoinHostPort(u.Hostname(), port)
}

// through makes a connection that leads to addr by way of a proxy.
func through(ctx context.Context, dial dialFunc, proxy *url.URL, addr string) (net.Conn, error) {
	conn, err := dialProxy(ctx, dial, proxy)
	if err != nil {
		return nil, err
	}
	if proxy.Scheme == "https" {
		if conn, err = secureProxy(ctx, conn, proxy); err != nil {
			return nil, err
		}
	}
	led, err := tunnel(ctx, conn, proxy, addr)
	if err != nil {
		_ = conn.Close()
		return nil, proxyError(ctx, proxy, err)
	}
	return led, nil
}

// dialProxy connects to the proxy itself.
func dialProxy(ctx context.Context, dial dialFunc, proxy *url.URL) (net.Conn, error) {
	conn, err := dial(ctx, "tcp", proxyAddr(proxy))
	if err != nil {
		return nil, proxyError(ctx, proxy, err)
	}
	return conn, nil
}

// tunnel makes conn, which is connected to the proxy u, lead to addr.
func tunnel(ctx context.Context, conn net.Conn, u *url.URL, addr string) (net.Conn, error) {
	defer endWith(ctx, conn)()
	if strings.HasPrefix(u.Scheme, "socks5") {
		return conn, socks(ctx, conn, u, addr)
	}
	return connect(conn, u, addr)
}

// socks asks a SOCKS5 proxy for a connection (RFC 1928, RFC 1929). The proxy
// resolves the name.
func socks(ctx context.Context, conn net.Conn, u *url.URL, addr string) error {
	var auth *xproxy.Auth
	if u.User != nil {
		password, _ := u.User.Password()
		auth = &xproxy.Auth{User: u.User.Username(), Password: password}
	}
	dialer, err := xproxy.SOCKS5("tcp", proxyAddr(u), auth, connected{conn})
	if err != nil {
		return err
	}
	_, err = dialer.(xproxy.ContextDialer).DialContext(ctx, "tcp", addr)
	return err
}

// connected is a dialer that has dialled already.
type connected struct{ conn net.Conn }

func (c connected) Dial(string, string) (net.Conn, error) { return c.conn, nil }

func (c connected) DialContext(context.Context, string, string) (net.Conn, error) { return c.conn, nil }

// maxConnectAnswer bounds the header of a proxy's answer, in bytes.
const maxConnectAnswer = 64 << 10

// connect asks an http proxy for a tunnel (RFC 9110, section 9.3.6) and returns
// what leads through it.
func connect(conn net.Conn, u *url.URL, addr string) (net.Conn, error) {
	req := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: addr}, Host: addr, Header: http.Header{}}
	if u.User != nil {
		password, _ := u.User.Password()
		login := base64.StdEncoding.EncodeToString([]byte(u.User.Username() + ":" + password))
		req.Header.Set("Proxy-Authorization", "Basic "+login)
	}
	if err := req.Write(conn); err != nil {
		return nil, err
	}
	buffered := bufio.NewReader(io.LimitReader(conn, maxConnectAnswer))
	resp, err := http.ReadResponse(buffered, req) //nolint:bodyclose // the answer to CONNECT has no body; the connection goes on
	if err != nil {
		return nil, err
	}
	if resp.StatusCode/100 != 2 {
		return nil, refusedByProxy(resp.StatusCode)
	}
	// An ssh server speaks first, and what it says may have come along with the
	// proxy's answer.
	early, err := buffered.Peek(buffered.Buffered())
	if err != nil {
		return nil, err
	}
	return &led{Conn: conn, from: io.MultiReader(bytes.NewReader(early), conn)}, nil
}

// led is a connection of which some bytes have been read already.
type led struct {
	net.Conn
	from io.Reader // those, and the rest
}

// Read reads what came first, and then from the connection.
func (l *led) Read(p []byte) (int, error) { return l.from.Read(p) }

// refusedByProxy is for an answer of a proxy that lets nothing through.
func refusedByProxy(status int) *fault.Error {
	e := &fault.Error{Kind: fault.Proxy, Phase: fault.PhaseDial, Status: status, HostWide: true,
		Happened: "the proxy answered " + statusText(status),
		Advice:   "Check that the proxy may reach this host, or name the host in no_proxy."}
	if status == http.StatusProxyAuthRequired {
		e.Advice = "Check the user and the password for the proxy (proxy.username and proxy.password, or those in the proxy variable)."
	}
	e.Transient = status >= 500
	return e
}

// proxyError says why the proxy u leads nowhere. The proxy is named, its
// credentials are not.
func proxyError(ctx context.Context, u *url.URL, err error) *fault.Error {
	if e := fault.FromContext(ctx, fault.PhaseDial); e != nil {
		e.HostWide = e.Kind == fault.Timeout
		return e
	}
	name := u.Scheme + "://" + proxyAddr(u)
	if e, ok := errors.AsType[*fault.Error](err); ok && e.Kind == fault.Proxy {
		e.Happened += " (" + name + ")"
		return e
	}
	return &fault.Error{Kind: fault.Proxy, Phase: fault.PhaseDial, HostWide: true, Err: err,
		Happened: "no connection through the proxy " + name + ": " + fault.Clean(scrubLogin(innermost(err), u.User)),
		Advice:   "Check that the proxy is up and may reach this host, or name the host in no_proxy."}
}
