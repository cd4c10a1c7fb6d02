package gittest

import (
	"context"
	"encoding/base64"
	"io"
	"net"
	"net/http"
	"sync/atomic"
	"testing"
)

// HTTPProxyOptions says whom StartHTTPProxy lets through and where to.
type HTTPProxyOptions struct {
	User, Password string // if set, what lets a client in; else it gets 407
	Routes         Routes
	TLS            *TLSOptions // an https proxy
	Late           bool        // a tunnel is confirmed in one packet with what the server says first
}

// StartHTTPProxy starts a proxy that tunnels CONNECT requests and forwards
// requests for http:// URLs. What it returns records requests as every HTTP
// server does: the target of a CONNECT is in Request.Host, the credentials in
// the header Proxy-Authorization.
func StartHTTPProxy(o HTTPProxyOptions) (*HTTP, error) {
	transport := &http.Transport{
		DialContext: func(ctx context.Context, _, addr string) (net.Conn, error) {
			return o.Routes.dial(ctx, addr)
		},
		DisableKeepAlives:  true,
		DisableCompression: true,
	}
	proxy := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		basic := base64.StdEncoding.EncodeToString([]byte(o.User + ":" + o.Password))
		switch {
		case o.User != "" && r.Header.Get("Proxy-Authorization") != "Basic "+basic:
			w.Header().Set("Proxy-Authenticate", `Basic realm="gittest proxy"`)
			http.Error(w, "gittest: the proxy wants credentials", http.StatusProxyAuthRequired)
		case r.Method == http.MethodConnect:
			tunnel(w, r, o)
		case r.URL.IsAbs():
			forward(w, r, transport)
		default:
			http.Error(w, "gittest: this is a proxy", http.StatusBadRequest)
		}
	})
	return StartHTTP("", HTTPOptions{Handler: proxy, TLS: o.TLS})
}

// ServeHTTPProxy is StartHTTPProxy for tests.
func ServeHTTPProxy(t testing.TB, o HTTPProxyOptions) *HTTP {
	t.Helper()
	s, err := StartHTTPProxy(o)
	return keep(t, s, err)
}

// tunnel connects the client with the server that it asked for.
func tunnel(w http.ResponseWriter, r *http.Request, o HTTPProxyOptions) {
	server, err := o.Routes.dial(r.Context(), r.Host)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		_ = server.Close()
		panic(http.ErrAbortHandler)
	}
	defer func() { _ = client.Close() }()
	answer := []byte("HTTP/1.1 200 Connection established\r\n\r\n")
	if o.Late {
		first := make([]byte, 4096)
		n, err := server.Read(first)
		if err != nil {
			_ = server.Close()
			return
		}
		answer = append(answer, first[:n]...)
	}
	if _, err := client.Write(answer); err != nil {
		_ = server.Close()
		return
	}
	var up, down atomic.Int64
	relay{up: &up, down: &down}.run(r.Context(), buffered, client, server)
}

// forward sends the request on and the answer back.
func forward(w http.ResponseWriter, r *http.Request, transport http.RoundTripper) {
	out := r.Clone(r.Context())
	out.RequestURI = ""
	out.Header.Del("Proxy-Authorization")
	out.Header.Del("Proxy-Connection")
	answer, err := transport.RoundTrip(out)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadGateway)
		return
	}
	defer func() { _ = answer.Body.Close() }()
	for name, values := range answer.Header {
		w.Header()[name] = values
	}
	w.WriteHeader(answer.StatusCode)
	_, _ = io.Copy(w, answer.Body)
}
