package gittest

import (
	"context"
	"errors"
	"io"
	"net"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
)

// SOCKSOptions says whom StartSOCKS lets through and where to.
type SOCKSOptions struct {
	User, Password string // if set, what lets a client in
	Routes         Routes
}

// Routes says where a proxy really connects to: "git.example.com:443" may lead
// to a test server. What is not in it is dialled as it is.
type Routes map[string]string

// dial connects to addr, or to where it leads.
func (r Routes) dial(ctx context.Context, addr string) (net.Conn, error) {
	if to, ok := r[addr]; ok {
		addr = to
	}
	var d net.Dialer
	return d.DialContext(ctx, "tcp", addr)
}

// SOCKS is a SOCKS5 proxy (RFC 1928), with user and password (RFC 1929) where
// wanted.
type SOCKS struct {
	*TCP
	o        SOCKSOptions
	mu       sync.Mutex
	requests []string
}

// StartSOCKS starts a SOCKS5 proxy.
func StartSOCKS(o SOCKSOptions) (*SOCKS, error) {
	s := &SOCKS{o: o}
	tcp, err := StartTCP(s.serve, TCPOptions{})
	if err != nil {
		return nil, err
	}
	s.TCP = tcp
	return s, nil
}

// ServeSOCKS is StartSOCKS for tests.
func ServeSOCKS(t testing.TB, o SOCKSOptions) *SOCKS {
	t.Helper()
	s, err := StartSOCKS(o)
	return keep(t, s, err)
}

// URL returns "socks5://127.0.0.1:port".
func (s *SOCKS) URL() string { return "socks5://" + s.Addr() }

// Requests returns the addresses ("host:port") that clients asked for and were
// allowed to, oldest first.
func (s *SOCKS) Requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.requests)
}

func (s *SOCKS) serve(ctx context.Context, client net.Conn) {
	if err := s.greet(client); err != nil {
		return
	}
	addr, err := readSOCKSRequest(client)
	if err != nil {
		return
	}
	s.mu.Lock()
	s.requests = append(s.requests, addr)
	s.mu.Unlock()
	server, err := s.o.Routes.dial(ctx, addr)
	// Status, then the address that the proxy dials from, which nobody reads.
	reply := []byte{5, 0, 0, 1, 0, 0, 0, 0, 0, 0}
	if err != nil {
		reply[1] = 5 // connection refused
		_, _ = client.Write(reply)
		finish(client)
		return
	}
	if _, err := client.Write(reply); err != nil {
		_ = server.Close()
		return
	}
	var up, down atomic.Int64
	relay{up: &up, down: &down}.run(ctx, client, client, server)
}

// greet agrees on a way to log in, and checks user and password.
func (s *SOCKS) greet(client net.Conn) error {
	const none, password, unacceptable = 0, 2, 0xff
	offered, err := readSOCKSHead(client, 5)
	if err != nil {
		return err
	}
	method := byte(none)
	if s.o.User != "" {
		method = password
	}
	if !slices.Contains(offered, method) {
		_, _ = client.Write([]byte{5, unacceptable})
		finish(client)
		return errors.New("no common way to log in")
	}
	if _, err := client.Write([]byte{5, method}); err != nil || method == none {
		return err
	}
	user, err := readSOCKSHead(client, 1)
	if err != nil {
		return err
	}
	secret, err := readCounted(client)
	if err != nil {
		return err
	}
	if string(user) != s.o.User || string(secret) != s.o.Password {
		_, _ = client.Write([]byte{1, 1})
		finish(client)
		return errors.New("wrong user or password")
	}
	_, err = client.Write([]byte{1, 0})
	return err
}

// readSOCKSRequest reads the wish to connect to an address.
func readSOCKSRequest(client net.Conn) (string, error) {
	var head [4]byte
	if _, err := io.ReadFull(client, head[:]); err != nil {
		return "", err
	}
	if head[0] != 5 || head[1] != 1 {
		return "", errors.New("not a CONNECT request of version 5")
	}
	var host string
	switch head[3] {
	case 1, 4:
		ip := make(net.IP, 4*int(head[3])) // 4 bytes or 16
		if _, err := io.ReadFull(client, ip); err != nil {
			return "", err
		}
		host = ip.String()
	case 3:
		name, err := readCounted(client)
		if err != nil {
			return "", err
		}
		host = string(name)
	default:
		return "", errors.New("unknown kind of address")
	}
	var port [2]byte
	if _, err := io.ReadFull(client, port[:]); err != nil {
		return "", err
	}
	return net.JoinHostPort(host, strconv.Itoa(int(port[0])<<8|int(port[1]))), nil
}

// readSOCKSHead reads a version byte and a counted field.
func readSOCKSHead(client net.Conn, version byte) ([]byte, error) {
	var got [1]byte
	if _, err := io.ReadFull(client, got[:]); err != nil {
		return nil, err
	}
	if got[0] != version {
		return nil, errors.New("wrong version")
	}
	return readCounted(client)
}

// readCounted reads a length byte and as many bytes.
func readCounted(client net.Conn) ([]byte, error) {
	var n [1]byte
	if _, err := io.ReadFull(client, n[:]); err != nil {
		return nil, err
	}
	field := make([]byte, n[0])
	_, err := io.ReadFull(client, field)
	return field, err
}
