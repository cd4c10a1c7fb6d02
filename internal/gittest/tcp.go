package gittest

import (
	"context"
	"fmt"
	"net"
	"sync"
	"testing"
)

// TCP listens on loopback and hands each connection to a function. The servers
// of this package other than HTTP are made of it. All its methods may be
// called from many goroutines.
type TCP struct {
	addr     string
	handle   ConnHandler
	mu       sync.Mutex
	listener net.Listener // nil while down
	stop     context.CancelFunc
	open     map[net.Conn]struct{}
	accepted int
	running  sync.WaitGroup
}

// ConnHandler serves one connection, which is closed when it returns. It has
// to return soon after ctx ends; by then the connection is closed as well.
type ConnHandler func(ctx context.Context, c net.Conn)

// TCPOptions says where StartTCP listens.
type TCPOptions struct {
	IPv6 bool // [::1] in place of 127.0.0.1
}

// StartTCP starts a server that does what handle does. An error means that
// there is no loopback of the wanted kind.
func StartTCP(handle ConnHandler, o TCPOptions) (*TCP, error) {
	s := &TCP{addr: anyPort(o.IPv6), handle: handle, open: map[net.Conn]struct{}{}}
	return s, s.Up()
}

// ServeTCP is StartTCP for tests.
func ServeTCP(t testing.TB, handle ConnHandler) *TCP {
	t.Helper()
	s, err := StartTCP(handle, TCPOptions{})
	return keep(t, s, err)
}

// Addr returns "host:port".
func (s *TCP) Addr() string { return s.addr }

// Connections returns how many connections were accepted so far.
func (s *TCP) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Open returns how many connections are being served now.
func (s *TCP) Open() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open)
}

// Up starts to listen, at the address that the server had before Down.
func (s *TCP) Up() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.listener != nil {
		return nil
	}
	ln, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("starting a test server: %w", err)
	}
	ctx, stop := context.WithCancel(context.Background())
	s.addr, s.listener, s.stop = ln.Addr().String(), ln, stop
	s.running.Add(1)
	go s.accept(ctx, ln)
	return nil
}

func (s *TCP) accept(ctx context.Context, ln net.Listener) {
	defer s.running.Done()
	for {
		c, err := ln.Accept()
		if err != nil {
			return
		}
		s.mu.Lock()
		if ctx.Err() != nil {
			s.mu.Unlock()
			_ = c.Close()
			return
		}
		s.accepted++
		s.open[c] = struct{}{}
		s.running.Add(1)
		s.mu.Unlock()
		go func() {
			defer s.running.Done()
			defer s.forget(c)
			s.handle(ctx, c)
		}()
	}
}

func (s *TCP) forget(c net.Conn) {
	_ = c.Close()
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.open, c)
}

// Down closes the listener and every connection and waits for their handlers.
func (s *TCP) Down() {
	s.mu.Lock()
	if s.listener != nil {
		_ = s.listener.Close()
		s.stop()
		s.listener = nil
	}
	for c := range s.open {
		_ = c.Close()
	}
	s.mu.Unlock()
	s.running.Wait()
}

// Close stops the server for good.
func (s *TCP) Close() error {
	s.Down()
	return nil
}
