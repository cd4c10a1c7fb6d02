package gittest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"syscall"
	"testing"
	"time"
)

func TestProxyCountsAndCuts(t *testing.T) {
	s := ServeGit(t, Repos(t), DaemonOptions{})
	p := Proxy(t, s.Addr(), ProxyOptions{})
	url := "git://" + p.Addr() + "/a.git"
	out, err := lsRemote(t, nil, url)
	wantMain(t, out, err)
	if p.Connections() != 1 || p.BytesUp() == 0 || p.BytesDown() == 0 {
		t.Fatalf("%d connections, %d bytes up, %d down", p.Connections(), p.BytesUp(), p.BytesDown())
	}

	whole := p.BytesDown()
	p.Cut(CutClose, whole-1)
	_, err = lsRemote(t, nil, url)
	wantError(t, err, "expected flush")
	if got := p.BytesDown(); got != 2*whole-1 {
		t.Errorf("%d bytes went down, want %d", got-whole, whole-1)
	}
	p.Cut(CutClose, whole)
	out, err = lsRemote(t, nil, url)
	wantMain(t, out, err)
}

func TestProxyCutKinds(t *testing.T) {
	s := ServeTCP(t, Conversation(Send([]byte("hello, world")), Hang))
	for _, tt := range []struct {
		name string
		kind CutKind
		want error
	}{
		{"close", CutClose, nil},
		{"reset", CutReset, syscall.ECONNRESET},
		{"stall", CutStall, context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Proxy(t, s.Addr(), ProxyOptions{})
			p.Cut(tt.kind, 5)
			got, err := readAll(t, p.Addr(), tt.kind == CutStall)
			// A reset may overtake what was sent before it.
			if got != "hello" && tt.kind != CutReset {
				t.Errorf("got %q, want the first 5 bytes", got)
			}
			if !errors.Is(err, tt.want) {
				t.Errorf("error %v, want %v", err, tt.want)
			}
		})
	}
	t.Run("before the first byte", func(t *testing.T) {
		p := Proxy(t, s.Addr(), ProxyOptions{})
		p.Cut(CutClose, 0)
		if got, err := readAll(t, p.Addr(), false); got != "" || err != nil {
			t.Errorf("got %q, %v", got, err)
		}
	})
}

// TestProxyDelay checks a lower bound only, which no busy machine can break.
func TestProxyDelay(t *testing.T) {
	s := ServeGit(t, Repos(t), DaemonOptions{})
	p := Proxy(t, s.Addr(), ProxyOptions{Delay: 30 * time.Millisecond})
	begin := time.Now()
	out, err := lsRemote(t, nil, "git://"+p.Addr()+"/a.git")
	wantMain(t, out, err)
	// The handshake, the request and the ls-refs command: a round trip each.
	if got := time.Since(begin); got < 180*time.Millisecond {
		t.Errorf("three round trips of 60 ms took %s", got)
	}
}

func TestProxyTargetDown(t *testing.T) {
	s := ServeTCP(t, Conversation(Hang))
	p := Proxy(t, s.Addr(), ProxyOptions{IPv6: true})
	s.Down()
	if _, err := readAll(t, p.Addr(), false); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v, want a reset", err)
	}
}

// readAll returns what a server sends until the end. If it is expected to fall
// silent, that counts as context.DeadlineExceeded after a short while.
func readAll(t *testing.T, addr string, silent bool) (string, error) {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return "", err // the reset of a server may come that early
	}
	defer func() { _ = c.Close() }()
	wait := 30 * time.Second
	if silent {
		wait = 200 * time.Millisecond
	}
	if err := c.SetDeadline(time.Now().Add(wait)); err != nil {
		t.Fatal(err)
	}
	var got bytes.Buffer
	_, err = io.Copy(&got, c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		err = context.DeadlineExceeded
	}
	return got.String(), err
}
