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
		name        string
		kind        CutKind
		silentAfter int64
		want        error
	}{
		{"close", CutClose, never, nil},
		{"reset", CutReset, never, syscall.ECONNRESET},
		{"stall", CutStall, 5, context.DeadlineExceeded},
	} {
		t.Run(tt.name, func(t *testing.T) {
			p := Proxy(t, s.Addr(), ProxyOptions{})
			p.Cut(tt.kind, 5)
			got, err := readAll(t, p.Addr(), tt.silentAfter)
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
		if got, err := readAll(t, p.Addr(), never); got != "" || err != nil {
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
	if _, err := readAll(t, p.Addr(), never); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("error %v, want a reset", err)
	}
}

// never is for readAll: the server is not expected to fall silent.
const never = -1

// readAll returns what a server sends until the end. If it falls silent after
// silentAfter bytes, that counts as context.DeadlineExceeded.
func readAll(t *testing.T, addr string, silentAfter int64) (string, error) {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		return "", err // the reset of a server may come that early
	}
	defer func() { _ = c.Close() }()
	var got bytes.Buffer
	wait := func(d time.Duration) {
		if err := c.SetDeadline(time.Now().Add(d)); err != nil {
			t.Fatal(err)
		}
	}
	wait(30 * time.Second)
	if silentAfter != never {
		if _, err := io.CopyN(&got, c, silentAfter); err != nil {
			return got.String(), err
		}
		wait(100 * time.Millisecond)
	}
	_, err = io.Copy(&got, c)
	var timeout net.Error
	if errors.As(err, &timeout) && timeout.Timeout() {
		err = context.DeadlineExceeded
	}
	return got.String(), err
}
