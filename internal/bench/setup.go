package main

import (
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// roundTrip is the simulated time to a far host and back.
const roundTrip = 50 * time.Millisecond

// scale says how much is measured.
type scale struct {
	sizes  []int // refs of the repositories
	hosted int   // how many repositories of one host are read
	atOnce []int // how many of them at the same time
	pace   pace
	plans  pace // each plan takes seconds
}

var (
	fullScale = scale{
		sizes: []int{10, 1_000, 100_000, 1_000_000}, hosted: 200, atOnce: []int{4, 8, 16},
		pace: pace{budget: 8 * time.Second, min: 3, max: 25, repeats: 5}, plans: pace{budget: time.Minute, min: 3, max: 7, repeats: 1},
	}
	quickScale = scale{
		sizes: []int{10, 1_000, 100_000}, hosted: 40, atOnce: []int{8},
		pace: pace{budget: time.Second, min: 1, max: 9, repeats: 5}, plans: pace{min: 1, max: 1, repeats: 1},
	}
)

// maxAtOnce is the most readings at a time that are measured.
const maxAtOnce = 16

// or returns the quick scale if that is wanted.
func (s scale) or(quick scale, wanted bool) scale {
	if wanted {
		return quick
	}
	return s
}

// setup is the servers, the repositories and how to get at them.
type setup struct {
	scale scale
	dir   string
	root  string // of the repositories
	repos map[int]repository
	names []string // of pinned repositories of size many

	nginx                     *nginx
	http, https, v0, ssh, git *server
	files                     *server
	access                    access
	closers                   []io.Closer
}

// startSetup makes the repositories and starts the servers.
func startSetup(ctx context.Context, sc scale) (s *setup, err error) {
	s = &setup{scale: sc, repos: map[int]repository{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if s.dir, err = os.MkdirTemp("", "gitpin-bench-"); err != nil {
		return nil, err
	}
	s.root = filepath.Join(s.dir, "repositories")
	if err := s.makeRepositories(ctx); err != nil {
		return nil, err
	}
	if s.nginx, err = startNginx(ctx, s.dir, s.root); err != nil {
		return nil, err
	}
	sshd, counter, err := startSSHD(s.dir, s.root)
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, sshd)
	daemon, err := gittest.StartGit(s.root, gittest.DaemonOptions{})
	if err != nil {
		return nil, err
	}
	s.closers = append(s.closers, daemon)
	for _, each := range []struct {
		server   **server
		prefix   string
		addr     string
		suffix   string
		requests func() (int, error)
	}{
		{&s.http, "http://", s.nginx.http, "/", s.nginx.requests},
		{&s.https, "https://", s.nginx.https, "/", s.nginx.requests},
		{&s.v0, "http://", s.nginx.v0, "/", s.nginx.requests},
		{&s.ssh, "ssh://" + sshd.User + "@", sshd.Addr(), s.root + "/", counter},
		{&s.git, "git://", daemon.Addr(), "/", nil},
	} {
		started, err := startServer(each.prefix, each.addr, each.suffix)
		if err != nil {
			return nil, err
		}
		started.requests = each.requests
		s.closers = append(s.closers, started)
		*each.server = started
	}
	s.files = &server{suffix: s.root + "/"}
	s.access, err = newAccess(s.dir, s.nginx.ca, sshd, s.https.addrs(), s.ssh.addrs())
	return s, err
}

func (s *setup) makeRepositories(ctx context.Context) (err error) {
	for _, size := range s.scale.sizes {
		progress("making a repository with %s refs", thousands(int64(size)))
		if err := ctx.Err(); err != nil {
			return err
		}
		if s.repos[size], err = makeRepository(s.root, size); err != nil {
			return err
		}
	}
	s.names, err = s.repos[many].alias(s.root, pinned)
	return err
}

// close stops the servers and removes all files.
func (s *setup) close() error {
	var errs []error
	for i := range s.closers {
		errs = append(errs, s.closers[len(s.closers)-1-i].Close())
	}
	if s.nginx != nil {
		s.nginx.close()
	}
	return errors.Join(append(errs, os.RemoveAll(s.dir))...)
}

// startSSHD starts OpenSSH as it is for a plain account: the user's shell runs the
// command. counter returns how many sessions there were.
func startSSHD(dir, root string) (sshd *gittest.SSHD, counter func() (int, error), err error) {
	record := filepath.Join(dir, "sessions")
	sshd, err = gittest.StartSSH(root, gittest.SSHOptions{Config: []string{
		"ForceCommand printf . >>'" + record + `'; eval "exec $SSH_ORIGINAL_COMMAND"`,
	}})
	counter = func() (int, error) {
		info, err := os.Stat(record)
		if errors.Is(err, os.ErrNotExist) {
			return 0, nil
		}
		if err != nil {
			return 0, err
		}
		return int(info.Size()), nil
	}
	return sshd, counter, err
}

// server is one server, reached directly or through a proxy.
type server struct {
	prefix, addr, suffix string // addr is "" for the file system
	counted              *gittest.TCPProxy
	far                  *gittest.TCPProxy
	requests             func() (int, error) // nil: one for each connection
}

func startServer(prefix, addr, suffix string) (*server, error) {
	counted, err := gittest.StartProxy(addr, gittest.ProxyOptions{})
	if err != nil {
		return nil, err
	}
	far, err := gittest.StartProxy(addr, gittest.ProxyOptions{Delay: roundTrip / 2})
	if err != nil {
		return nil, errors.Join(err, counted.Close())
	}
	return &server{prefix: prefix, addr: addr, suffix: suffix, counted: counted, far: far}, nil
}

// Close stops the proxies.
func (s *server) Close() error { return errors.Join(s.counted.Close(), s.far.Close()) }

// addrs returns all addresses that lead to the server.
func (s *server) addrs() []string { return []string{s.addr, s.counted.Addr(), s.far.Addr()} }

// urls returns the URLs of repositories at an address of the server.
func (s *server) urls(addr string, names ...string) []string {
	urls := make([]string, len(names))
	for i, name := range names {
		urls[i] = s.prefix + addr + s.suffix + strings.TrimPrefix(name, "/")
	}
	return urls
}
