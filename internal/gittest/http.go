package gittest

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"testing"
)

// HTTPOptions says what kind of git server StartHTTP starts. The zero value is
// a plain http server that anyone may read, in every protocol version.
type HTTPOptions struct {
	User, Password string // Basic credentials that let a client in
	Bearer         string // a bearer token that lets a client in
	TLS            *TLSOptions
	V0Only         bool // drop the Git-Protocol header, as some proxies do
	IPv6           bool // listen on [::1] in place of 127.0.0.1
	// Middleware stands between the recording of requests and the check of
	// credentials. It sees every request, and may answer itself.
	Middleware func(http.Handler) http.Handler
	// Handler answers in place of git http-backend, if set. Then root is
	// not used.
	Handler http.Handler
}

// HTTP is a git server over http or https. All its methods may be called from
// many goroutines.
type HTTP struct {
	URL string // "http://127.0.0.1:port", without a final slash
	CA  *CA    // who issued the server's certificate; nil without TLS

	recorder
	addr     string
	handler  http.Handler
	tls      *tls.Config
	http2    bool
	log      logBuffer
	mu       sync.Mutex
	server   *http.Server // nil while down
	stop     context.CancelFunc
	serving  sync.WaitGroup
	accepted int
}

// StartHTTP serves the repositories under root with git http-backend. An error
// means that git is missing, or that there is no loopback of the wanted kind.
func StartHTTP(root string, o HTTPOptions) (*HTTP, error) {
	s := &HTTP{}
	next := o.Handler
	if next == nil {
		backend, err := gitBackend(root, &s.log)
		if err != nil {
			return nil, err
		}
		next = backend
	}
	if o.V0Only {
		next = withoutGitProtocol(next)
	}
	next = guard(next, o)
	if o.Middleware != nil {
		next = o.Middleware(next)
	}
	s.handler = s.running(s.record(next))

	scheme := "http"
	if o.TLS != nil {
		scheme = "https"
		s.http2 = o.TLS.HTTP2
		var err error
		if s.CA, s.tls, err = o.TLS.server(); err != nil {
			return nil, err
		}
	}
	s.addr = anyPort(o.IPv6)
	if err := s.Up(); err != nil {
		return nil, err
	}
	s.URL = scheme + "://" + s.addr
	return s, nil
}

// ServeHTTP is StartHTTP for tests.
func ServeHTTP(t testing.TB, root string, o HTTPOptions) *HTTP {
	t.Helper()
	s, err := StartHTTP(root, o)
	return keep(t, s, err)
}

// Addr returns "host:port" of the server.
func (s *HTTP) Addr() string { return s.addr }

// Log returns what http-backend and the http server complained about.
func (s *HTTP) Log() string { return s.log.String() }

// Connections returns how many TCP connections were accepted so far.
func (s *HTTP) Connections() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.accepted
}

// Up starts the server at the address that it had before Down.
func (s *HTTP) Up() error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.server != nil {
		return nil
	}
	ln, err := net.Listen("tcp", s.addr)
	if err != nil {
		return fmt.Errorf("starting the http server: %w", err)
	}
	s.addr = ln.Addr().String()
	protocols := new(http.Protocols)
	protocols.SetHTTP1(true)
	protocols.SetHTTP2(s.http2)
	ctx, stop := context.WithCancel(context.Background())
	server := &http.Server{
		Handler: s.handler,
		// A handler that waits for its client must end with the server.
		BaseContext: func(net.Listener) context.Context { return ctx },
		TLSConfig:   s.tls.Clone(),
		Protocols:   protocols,
		ErrorLog:    log.New(&s.log, "", 0),
		ConnState: func(_ net.Conn, state http.ConnState) {
			if state == http.StateNew {
				s.mu.Lock()
				s.accepted++
				s.mu.Unlock()
			}
		},
	}
	s.server, s.stop = server, stop
	s.serving.Add(1)
	go func() {
		defer s.serving.Done()
		serve := server.Serve
		if s.tls != nil {
			serve = func(ln net.Listener) error { return server.ServeTLS(ln, "", "") }
		}
		if err := serve(ln); !errors.Is(err, http.ErrServerClosed) {
			fmt.Fprintln(&s.log, "http server:", err)
		}
	}()
	return nil
}

// Down closes the listener and every connection, in the middle of an answer
// too, and waits until nothing is served any more.
func (s *HTTP) Down() {
	s.mu.Lock()
	server, stop := s.server, s.stop
	s.server = nil
	s.mu.Unlock()
	if server != nil {
		stop()
		_ = server.Close()
	}
	s.serving.Wait()
}

// Close stops the server for good.
func (s *HTTP) Close() error {
	s.Down()
	return nil
}

// running lets Down wait for the handlers, which http.Server.Close does not.
func (s *HTTP) running(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		up := s.server != nil
		if up {
			s.serving.Add(1)
		}
		s.mu.Unlock()
		if !up {
			panic(http.ErrAbortHandler)
		}
		defer s.serving.Done()
		next.ServeHTTP(w, r)
	})
}
