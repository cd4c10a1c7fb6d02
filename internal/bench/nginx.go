package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// nginx serves the repositories under a directory with git http-backend, which
// fcgiwrap starts for each request: over http, over https, and over http in
// protocol version 0 only.
type nginx struct {
	http, https, v0 string // "host:port"
	ca              *gittest.CA

	log    *os.File
	status string   // URL of nginx's own counters
	asked  int      // how often they were asked for
	ended  []func() // in reverse order
}

// fcgiwrapProcesses is how many requests are served at a time.
const fcgiwrapProcesses = 16

// startNginx starts both programs with all their files in dir.
func startNginx(ctx context.Context, dir, root string) (s *nginx, err error) {
	s = &nginx{}
	defer func() {
		if err != nil {
			s.close()
		}
	}()
	if s.log, err = os.Create(filepath.Join(dir, "nginx.log")); err != nil {
		return nil, err
	}
	s.ended = append(s.ended, func() { _ = s.log.Close() })
	if err := s.startBackend(ctx, dir); err != nil {
		return nil, err
	}
	addrs, err := freeAddrs(ctx, 4)
	if err != nil {
		return nil, err
	}
	s.http, s.https, s.v0, s.status = addrs[0], addrs[1], addrs[2], "http://"+addrs[3]+"/"
	if s.ca, err = writeCertificate(dir); err != nil {
		return nil, err
	}
	config, err := s.config(dir, root, addrs[3])
	if err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "nginx.conf")
	if err := os.WriteFile(path, []byte(config), 0o600); err != nil {
		return nil, err
	}
	if err := s.start(exec.CommandContext(ctx, "nginx", "-e", "stderr", "-p", dir, "-c", path)); err != nil {
		return nil, err
	}
	return s, s.await()
}

// startBackend starts fcgiwrap on a socket that is open already, as its standard
// input.
func (s *nginx) startBackend(ctx context.Context, dir string) error {
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: filepath.Join(dir, "fcgi"), Net: "unix"})
	if err != nil {
		return err
	}
	s.ended = append(s.ended, func() { _ = ln.Close() })
	socket, err := ln.File()
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	// Each by itself: those that fcgiwrap starts by itself (-c) outlive it.
	for range fcgiwrapProcesses {
		cmd := exec.CommandContext(ctx, "fcgiwrap")
		cmd.Stdin = socket
		if err := s.start(cmd); err != nil {
			return err
		}
	}
	return nil
}

// start starts a server that ends with close, or with its context. A killed
// nginx would leave its workers behind.
func (s *nginx) start(cmd *exec.Cmd) error {
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.Stderr = s.log
	cmd.Env = gittest.Env()
	if err := cmd.Start(); err != nil {
		return fmt.Errorf("%w; run: make bench, which says what to install", err)
	}
	s.ended = append(s.ended, func() {
		_ = cmd.Cancel()
		_ = cmd.Wait()
	})
	return nil
}

func (s *nginx) close() {
	for i := range s.ended {
		s.ended[len(s.ended)-1-i]()
	}
}

// config returns the configuration. Go's and git's own servers would answer
// the same; this is what many have in front of git.
func (s *nginx) config(dir, root, status string) (string, error) {
	programs, err := gittest.RunGit("", nil, "--exec-path")
	if err != nil {
		return "", err
	}
	owner, err := runAs()
	if err != nil {
		return "", err
	}
	location := func(more string) string {
		return `location / {
      fastcgi_pass unix:` + dir + `/fcgi;
      include ` + dir + `/params;
      ` + more + `
    }`
	}
	params := map[string]string{
		"SCRIPT_FILENAME": programs + "/git-http-backend", "GIT_PROJECT_ROOT": root, "GIT_HTTP_EXPORT_ALL": "1",
		"PATH_INFO": "$uri", "QUERY_STRING": "$query_string", "REQUEST_METHOD": "$request_method",
		"CONTENT_TYPE": "$content_type", "CONTENT_LENGTH": "$content_length", "REMOTE_ADDR": "$remote_addr",
		"SERVER_PROTOCOL": "$server_protocol",
	}
	var lines strings.Builder
	for name, value := range params {
		fmt.Fprintf(&lines, "fastcgi_param %s %s;\n", name, value)
	}
	if err := os.WriteFile(filepath.Join(dir, "params"), []byte(lines.String()), 0o600); err != nil {
		return "", err
	}
	return `daemon off;
pid ` + dir + `/nginx.pid;
` + owner + `
worker_processes 2;
error_log stderr warn;
events { worker_connections 1024; }
http {
  access_log off;
  client_body_temp_path ` + dir + `/body;
  fastcgi_temp_path ` + dir + `/fastcgi;
  proxy_temp_path ` + dir + `/proxy;
  uwsgi_temp_path ` + dir + `/uwsgi;
  scgi_temp_path ` + dir + `/scgi;
  fastcgi_max_temp_file_size 0; # the disk is not what is measured
  keepalive_requests 1000000;
  keepalive_timeout 600s;
  server { listen ` + s.http + `; ` + location("") + ` }
  server {
    listen ` + s.https + ` ssl http2;
    ssl_certificate ` + dir + `/cert.pem;
    ssl_certificate_key ` + dir + `/key.pem;
    ssl_protocols TLSv1.2 TLSv1.3;
    ` + location("") + `
  }
  server { listen ` + s.v0 + `; ` + location(`fastcgi_param HTTP_GIT_PROTOCOL "";`) + ` }
  server { listen ` + status + `; location / { stub_status; } }
}
`, nil
}

// runAs makes nginx's processes run as the current user, whose files they
// serve. Only root can and need say so.
func runAs() (string, error) {
	if os.Geteuid() != 0 {
		return "", nil
	}
	me, err := user.Current()
	if err != nil {
		return "", err
	}
	group, err := user.LookupGroupId(me.Gid)
	if err != nil {
		return "", err
	}
	return "user " + me.Username + " " + group.Name + ";", nil
}

// writeCertificate makes a CA and the server's certificate.
func writeCertificate(dir string) (*gittest.CA, error) {
	ca, err := gittest.NewCA()
	if err != nil {
		return nil, err
	}
	cert, err := ca.Issue(gittest.CertOptions{})
	if err != nil {
		return nil, err
	}
	return ca, errors.Join(
		os.WriteFile(filepath.Join(dir, "cert.pem"), []byte(cert.Chain), 0o600),
		os.WriteFile(filepath.Join(dir, "key.pem"), []byte(cert.Key), 0o600))
}

// freeAddrs returns n loopback addresses that were free a moment ago.
func freeAddrs(ctx context.Context, n int) ([]string, error) {
	var open []net.Listener // until the end, so that all differ
	defer func() {
		for _, ln := range open {
			_ = ln.Close()
		}
	}()
	addrs := make([]string, n)
	for i := range addrs {
		ln, err := new(net.ListenConfig).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		open = append(open, ln)
		addrs[i] = ln.Addr().String()
	}
	return addrs, nil
}

// await waits until nginx answers.
func (s *nginx) await() error {
	var err error
	for range 500 {
		if _, err = s.requests(); err == nil {
			return nil
		}
		<-time.After(20 * time.Millisecond)
	}
	log, _ := os.ReadFile(s.log.Name())
	return fmt.Errorf("nginx does not answer: %w: %s", err, log)
}

// requests returns how many requests nginx has had so far, ours for this left
// out.
func (s *nginx) requests() (int, error) {
	_, requests, err := s.counters()
	return requests, err
}

// counters returns how many connections and requests nginx has had so far,
// ours for this left out.
func (s *nginx) counters() (connections, requests int, err error) {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, s.status, nil)
	if err != nil {
		return 0, 0, err
	}
	req.Close = true
	resp, err := http.DefaultTransport.RoundTrip(req)
	if err != nil {
		return 0, 0, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	if err != nil {
		return 0, 0, err
	}
	s.asked++
	connections, requests, err = parseStatus(string(text))
	return connections - s.asked, requests - s.asked, err
}

// parseStatus reads the text of nginx's stub_status.
func parseStatus(text string) (connections, requests int, err error) {
	_, numbers, found := strings.Cut(text, "server accepts handled requests\n")
	var handled int
	if n, err := fmt.Sscan(numbers, &connections, &handled, &requests); !found || n != 3 {
		return 0, 0, fmt.Errorf("nginx's status is not understood: %q: %w", text, err)
	}
	return connections, requests, nil
}
