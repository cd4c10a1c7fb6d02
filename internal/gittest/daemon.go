package gittest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
)

// DaemonOptions says how StartGit runs git daemon.
type DaemonOptions struct {
	V0Only bool // drop the client's wish for another version
	IPv6   bool // listen on [::1] in place of 127.0.0.1
}

// Daemon is git daemon, which serves git:// URLs.
type Daemon struct {
	*TCP
	behind *TCP // the real server behind one that speaks only version 0
	log    *logBuffer
}

// StartGit serves the repositories under root with git daemon. An error means
// that git is missing, or that there is no loopback of the wanted kind.
func StartGit(root string, o DaemonOptions) (*Daemon, error) {
	programs, err := RunGit(root, nil, "--exec-path")
	if err != nil {
		return nil, err
	}
	s := &Daemon{log: &logBuffer{}}
	// Each connection has a daemon of its own: git daemon listening by
	// itself wants a port number, and has a backlog of 5.
	s.TCP, err = StartTCP(inetd(Env(), s.log, filepath.Join(programs, "git-daemon"), "--inetd", "--verbose",
		"--log-destination=stderr", "--export-all", "--informative-errors", "--base-path="+root), TCPOptions{IPv6: o.IPv6})
	if err != nil || !o.V0Only {
		return s, err
	}
	s.behind = s.TCP
	s.TCP, err = StartTCP(withoutExtraParameters(s.behind.Addr()), TCPOptions{IPv6: o.IPv6})
	if err != nil {
		return nil, errors.Join(err, s.behind.Close())
	}
	return s, nil
}

// Close stops the server for good.
func (s *Daemon) Close() error {
	err := s.TCP.Close()
	if s.behind != nil {
		err = errors.Join(err, s.behind.Close())
	}
	return err
}

// withoutExtraParameters hands connections over to target after it took the
// extra parameters, such as version=2, off the request (gitprotocol-pack(5),
// "Git Transport"): so does a server that is older than they are.
func withoutExtraParameters(target string) ConnHandler {
	return func(ctx context.Context, client net.Conn) {
		request, _, err := readPkt(client)
		if err != nil {
			return
		}
		request, _, _ = strings.Cut(request, "\x00\x00")
		var d net.Dialer
		server, err := d.DialContext(ctx, "tcp", target)
		if err != nil {
			return
		}
		var up, down atomic.Int64
		fromClient := io.MultiReader(bytes.NewReader(Pkt(request+"\x00")), client)
		relay{up: &up, down: &down}.run(ctx, fromClient, client, server)
	}
}

// ServeGit is StartGit for tests.
func ServeGit(t testing.TB, root string, o DaemonOptions) *Daemon {
	t.Helper()
	s, err := StartGit(root, o)
	return keep(t, s, err)
}

// URL returns the URL of a repository under the root.
func (s *Daemon) URL(repo string) string { return "git://" + s.Addr() + "/" + repo }

// Log returns what git daemon has logged.
func (s *Daemon) Log() string { return s.log.String() }
