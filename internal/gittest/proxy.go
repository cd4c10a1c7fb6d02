package gittest

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// ProxyOptions says what a TCPProxy does beside counting.
type ProxyOptions struct {
	// Delay is what each byte needs to get to the other side: half of a
	// round trip. A new connection costs the round trip of its handshake too.
	Delay time.Duration
	IPv6  bool // listen on [::1] in place of 127.0.0.1
}

// TCPProxy stands between clients and a server, counts what goes by, and can
// delay and cut it.
type TCPProxy struct {
	*TCP
	target   string
	delay    time.Duration
	up, down atomic.Int64

	cutMu    sync.Mutex
	cut      CutKind
	cutAfter int64
}

// StartProxy starts a proxy in front of target, "host:port".
func StartProxy(target string, o ProxyOptions) (*TCPProxy, error) {
	p := &TCPProxy{target: target, delay: o.Delay}
	tcp, err := StartTCP(p.serve, TCPOptions{IPv6: o.IPv6})
	if err != nil {
		return nil, err
	}
	p.TCP = tcp
	return p, nil
}

// Proxy is StartProxy for tests.
func Proxy(t testing.TB, target string, o ProxyOptions) *TCPProxy {
	t.Helper()
	p, err := StartProxy(target, o)
	return keep(t, p, err)
}

// Cut lets every connection that is made from now on end as kind says when the
// server has sent n bytes and wants to send more. A kind of 0 ends that.
func (p *TCPProxy) Cut(kind CutKind, n int64) {
	p.cutMu.Lock()
	defer p.cutMu.Unlock()
	p.cut, p.cutAfter = kind, n
}

// BytesUp returns how many bytes went to the server so far.
func (p *TCPProxy) BytesUp() int64 { return p.up.Load() }

// BytesDown returns how many bytes went to the clients so far.
func (p *TCPProxy) BytesDown() int64 { return p.down.Load() }

func (p *TCPProxy) serve(ctx context.Context, client net.Conn) {
	p.cutMu.Lock()
	r := relay{delay: p.delay, cut: p.cut, cutAfter: p.cutAfter, up: &p.up, down: &p.down}
	p.cutMu.Unlock()
	// The system has answered the client's SYN without any delay. So its
	// SYN, our answer and its first data are delayed here.
	if !pause(ctx, 2*p.delay) {
		return
	}
	var d net.Dialer
	server, err := d.DialContext(ctx, "tcp", p.target)
	if err != nil {
		reset(client)
		return
	}
	r.run(ctx, client, client, server)
}
