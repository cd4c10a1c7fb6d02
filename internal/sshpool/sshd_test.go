package sshpool

import (
	"context"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// sshdAuth returns credentials for the OpenSSH server s.
func sshdAuth(t testing.TB, s *gittest.SSHD, addr, private string) *gitauth.Auth {
	t.Helper()
	var known strings.Builder
	for _, key := range s.HostKeys {
		known.WriteString(key.KnownHost(addr) + "\n")
	}
	k, err := gitauth.NewKeychain([]gitauth.Entry{{
		URL:    "ssh://" + addr,
		Secret: map[string]string{"identity": private, "known_hosts": known.String()},
	}}, gitauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	r, err := giturl.Parse("ssh://" + s.User + "@" + addr + "/a.git")
	if err != nil {
		t.Fatal(err)
	}
	auth, err := k.For(r)
	if err != nil {
		t.Fatal(err)
	}
	return auth
}

// list asks git-upload-pack for HEAD in protocol version 2, as lsremote does.
func list(ctx context.Context, p *Pool, addr string, auth *gitauth.Auth, path string) error {
	s, err := p.Session(ctx, addr, auth, map[string]string{"GIT_PROTOCOL": "version=2"}, "git-upload-pack '"+path+"'")
	if err != nil {
		return err
	}
	defer s.Close()
	if _, err := io.WriteString(s.Stdin, "0014command=ls-refs\n00010014ref-prefix HEAD\n0000"); err != nil {
		return err
	}
	if err := s.Stdin.Close(); err != nil {
		return err
	}
	out, err := io.ReadAll(s.Stdout)
	if err != nil {
		return err
	}
	if !strings.Contains(string(out), " HEAD\n0000") {
		return fmt.Errorf("no HEAD in %q, errors %q", out, s.Stderr())
	}
	return s.Wait()
}

func TestSSHDReads(t *testing.T) {
	root := gittest.Repos(t)
	for _, host := range []string{gittest.Ed25519, gittest.ECDSA, gittest.RSA} {
		for _, client := range []string{gittest.Ed25519, gittest.ECDSA, gittest.RSA} {
			t.Run(host+" host, "+client+" client", func(t *testing.T) {
				key, err := gittest.ClientKey(client)
				if err != nil {
					t.Fatal(err)
				}
				s := gittest.ServeSSH(t, root, gittest.SSHOptions{
					HostKeys: []*gittest.SSHKey{gittest.MakeSSHKey(t, host)},
					Clients:  []*gittest.SSHKey{key},
				})
				p := newPool(t, Options{})
				auth := sshdAuth(t, s, s.Addr(), key.Private)
				for range 2 {
					if err := list(t.Context(), p, s.Addr(), auth, filepath.Join(root, "a.git")); err != nil {
						t.Fatalf("%v\n%s", err, s.Log())
					}
				}
				if n := s.Connections(); n != 1 {
					t.Errorf("%d connections, want 1", n)
				}
			})
		}
	}
}

// Of a server's three host keys known_hosts has one: that is the one to ask for.
func TestSSHDOnlyKnownHostKeyTypesAreAskedFor(t *testing.T) {
	root := gittest.Repos(t)
	kinds := []string{gittest.Ed25519, gittest.ECDSA, gittest.RSA}
	var keys []*gittest.SSHKey
	for _, kind := range kinds {
		keys = append(keys, gittest.MakeSSHKey(t, kind))
	}
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: keys})
	for i, kind := range kinds {
		s.HostKeys = keys[i : i+1]
		if err := list(t.Context(), newPool(t, Options{}), s.Addr(), sshdAuth(t, s, s.Addr(), s.Client.Private), filepath.Join(root, "a.git")); err != nil {
			t.Errorf("%s: %v", kind, err)
		}
	}
}

func TestSSHDFailures(t *testing.T) {
	root := gittest.Repos(t)
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{Banner: "acme staff only\n"})
	t.Run("another key", func(t *testing.T) {
		auth := sshdAuth(t, s, s.Addr(), gittest.MakeSSHKey(t, gittest.Ed25519).Private)
		err := list(t.Context(), newPool(t, Options{}), s.Addr(), auth, "a.git")
		wantFault(t, err, fault.Authentication, fault.PhaseAuth, `refused the login as "`+s.User+`"`, "with the key ssh-ed25519 SHA256:", "it accepts publickey", "acme staff only")
	})
	t.Run("no repository", func(t *testing.T) {
		session, err := newPool(t, Options{}).Session(t.Context(), s.Addr(), sshdAuth(t, s, s.Addr(), s.Client.Private), nil, "git-upload-pack '/nowhere.git'")
		if err != nil {
			t.Fatal(err)
		}
		defer session.Close()
		out, err := io.ReadAll(session.Stdout)
		if len(out) > 0 || err != nil {
			t.Errorf("read %q, %v", out, err)
		}
		if !strings.Contains(session.Stderr(), "does not appear to be a git repository") {
			t.Errorf("error output %q", session.Stderr())
		}
		if err := session.Wait(); err == nil || err.Error() != "the command ended with status 128" {
			t.Errorf("ended with %v", err)
		}
	})
}

// Hundreds of sessions from many callers: OpenSSH refuses a session now and
// then when too many are open, and none of that may surface.
func TestSSHDManySessions(t *testing.T) {
	root := gittest.Repos(t)
	for _, test := range []struct{ sessions, callers, serverMax int }{
		{600, 16, 10},
		{60, 8, 2},
		{20, 4, 1},
	} {
		t.Run(fmt.Sprintf("%d with MaxSessions %d", test.sessions, test.serverMax), func(t *testing.T) {
			s := gittest.ServeSSH(t, root, gittest.SSHOptions{MaxSessions: test.serverMax})
			p := newPool(t, Options{})
			auth := sshdAuth(t, s, s.Addr(), s.Client.Private)
			work := make(chan int)
			var wg sync.WaitGroup
			for range test.callers {
				wg.Go(func() {
					for i := range work {
						if err := list(t.Context(), p, s.Addr(), auth, filepath.Join(root, "a.git")); err != nil {
							t.Errorf("session %d: %v", i, err)
						}
						if most := p.mostSessions(); most > 5 {
							t.Errorf("%d sessions on one connection", most)
						}
					}
				})
			}
			for i := range test.sessions {
				work <- i
			}
			close(work)
			wg.Wait()
			commands, err := s.Commands()
			if err != nil {
				t.Fatal(err)
			}
			if len(commands) != test.sessions {
				t.Errorf("%d commands, want %d", len(commands), test.sessions)
			}
			t.Logf("%d connections, %d refusals", s.Connections(), strings.Count(s.Log(), "no more sessions"))
		})
	}
}

// mostSessions returns how many sessions the fullest connection has.
func (p *Pool) mostSessions() (most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, h := range p.hosts {
		for _, c := range h.conns {
			most = max(most, c.inUse+len(c.spares))
		}
	}
	return most
}

const roundTrip = 50 * time.Millisecond

// BenchmarkSSHDWarm reads over a connection that is there, with a round trip
// of 50 ms: it shows how many of them one reading takes.
func BenchmarkSSHDWarm(b *testing.B) {
	root := gittest.Repos(b)
	s := gittest.ServeSSH(b, root, gittest.SSHOptions{})
	delay := gittest.Proxy(b, s.Addr(), gittest.ProxyOptions{Delay: roundTrip / 2})
	p := New(Options{})
	defer p.Close()
	auth := sshdAuth(b, s, delay.Addr(), s.Client.Private)
	read := func() {
		if err := list(b.Context(), p, delay.Addr(), auth, filepath.Join(root, "a.git")); err != nil {
			b.Fatal(err)
		}
	}
	read()
	for b.Loop() {
		read()
	}
	b.ReportMetric(float64(b.Elapsed())/float64(b.N)/float64(roundTrip), "round-trips/op")
}
