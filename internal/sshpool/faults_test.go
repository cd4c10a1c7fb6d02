package sshpool

import (
	"bufio"
	"bytes"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// silences are the servers that at some step do nothing any more.
var silences = map[string]struct {
	change   func(*server)
	phase    fault.Phase
	hostWide bool
}{
	"accepts TCP and says nothing": {func(s *server) {
		s.raw = func(net.Conn) { s.block() }
	}, fault.PhaseSSH, true},
	"stops in the middle of its version": {func(s *server) {
		s.raw = func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-Op"); s.block() }
	}, fault.PhaseSSH, true},
	"stops after its version": {func(s *server) {
		s.raw = func(c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n"); s.block() }
	}, fault.PhaseSSH, true},
	"stops in the middle of a packet of the key exchange": {func(s *server) {
		s.raw = func(c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-OpenSSH_9.2\r\n\x00\x00\x04\x00\x08\x14")
			s.block()
		}
	}, fault.PhaseSSH, true},
	"never answers the login": {func(s *server) {
		s.config.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
			s.block()
			return nil, errors.New("the test is over")
		}
	}, fault.PhaseAuth, true},
	"sends banners without end": {func(s *server) {
		s.config.PreAuthConnCallback = func(c ssh.ServerPreAuthConn) {
			for c.SendAuthBanner(strings.Repeat("buy! ", 20)) == nil {
				select {
				case <-s.end:
					return
				case <-time.After(10 * time.Millisecond):
				}
			}
		}
	}, fault.PhaseAuth, true},
	"never answers the channel open": {func(s *server) {
		s.open = func(*served, ssh.NewChannel) { s.block() }
	}, fault.PhaseAnswer, true},
	"opens the channel and ignores what is asked": {func(s *server) {
		s.open = func(_ *served, ch ssh.NewChannel) { _, _, _ = ch.Accept(); s.block() }
	}, fault.PhaseAnswer, false},
	"runs the command, which says nothing": {func(s *server) {
		s.exec = func(*execution) int { s.block(); return 0 }
	}, fault.PhaseAnswer, false},
	"sends a little and stops": {func(s *server) {
		s.exec = func(e *execution) int { _, _ = io.WriteString(e, "000eversion 2\n"); s.block(); return 0 }
	}, fault.PhaseRefs, false},
	"says only errors": {func(s *server) {
		s.exec = func(e *execution) int { _, _ = io.WriteString(e.Stderr(), "hm"); s.block(); return 0 }
	}, fault.PhaseAnswer, false},
	"ends the output but not the session": {func(s *server) {
		s.exec = func(e *execution) int { _ = e.CloseWrite(); s.block(); return 0 }
	}, fault.PhaseAnswer, false},
}

func TestFaultsSilentServerEndsWithTheContext(t *testing.T) {
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newServer(t, silence.change)
			p := newPool(t, Options{})
			ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
			defer cancel()
			_, err := run(ctx, p, s.addr(), s.auth(), "x", "")
			f := wantFault(t, err, fault.Timeout, silence.phase, s.addr())
			if f.HostWide != silence.hostWide {
				t.Errorf("HostWide is %v: %v", f.HostWide, f)
			}
		})
	}
}

func TestFaultsInterruptEndsEveryWaitAtOnce(t *testing.T) {
	for name, silence := range silences {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			reached := make(chan struct{}, 100)
			s := newServer(t, silence.change)
			p := newPool(t, Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
				c, err := new(net.Dialer).DialContext(ctx, network, addr)
				return &tapped{c, reached}, err
			}})
			// The interrupt comes at different moments: after each read and
			// write of the connection, until there are no more.
			for steps := 1; ; steps++ {
				ctx, cancel := context.WithCancel(t.Context())
				done := make(chan error, 1)
				go func() {
					_, err := run(ctx, p, s.addr(), s.auth(), "x", "")
					done <- err
				}()
				more := true
				for i := 0; i < steps && more; i++ {
					select {
					case <-reached:
					case <-time.After(100 * time.Millisecond):
						more = false
					}
				}
				cancel()
				select {
				case err := <-done:
					if f := fault.KindOf(err); f != fault.Canceled {
						t.Fatalf("after %d steps: %v", steps, err)
					}
				case <-time.After(guard):
					t.Fatal("the interrupt had no effect")
				}
				if !more || steps > 40 {
					return
				}
			}
		})
	}
}

// tapped tells each read and write.
type tapped struct {
	net.Conn
	reached chan struct{}
}

func (c *tapped) tell() {
	select {
	case c.reached <- struct{}{}:
	default:
	}
}

func (c *tapped) Read(p []byte) (int, error)  { defer c.tell(); return c.Conn.Read(p) }
func (c *tapped) Write(p []byte) (int, error) { defer c.tell(); return c.Conn.Write(p) }

func TestFaultsWriteThatNobodyTakes(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.exec = func(*execution) int { s.block(); return 0 }
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	session, err := newPool(t, Options{}).Session(ctx, s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	_, err = session.Stdin.Write(make([]byte, 8<<20)) // more than the window
	wantFault(t, err, fault.Timeout, fault.PhaseAnswer)
	if err := session.Stdin.Close(); fault.KindOf(err) != fault.Timeout {
		t.Errorf("close after a write that is still at work: %v", err)
	}
}

// The peer does not even read from its socket.
func TestFaultsSocketThatNobodyReads(t *testing.T) {
	stop := make(chan struct{})
	s := newServer(t, nil)
	p := newPool(t, Options{Dial: func(ctx context.Context, network, addr string) (net.Conn, error) {
		c, err := new(net.Dialer).DialContext(ctx, network, addr)
		return &stuckWriter{Conn: c, stop: stop, closed: make(chan struct{})}, err
	}})
	s.mustRun(p, "fine")
	close(stop)
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	_, err := run(ctx, p, s.addr(), s.auth(), "x", "")
	wantFault(t, err, fault.Timeout, fault.PhaseAnswer)
}

// stuckWriter blocks writes once stop is closed, until it is closed itself.
type stuckWriter struct {
	net.Conn
	stop, closed chan struct{}
}

func (c *stuckWriter) Write(p []byte) (int, error) {
	select {
	case <-c.stop:
		<-c.closed
		return 0, net.ErrClosed
	default:
		return c.Conn.Write(p)
	}
}

func (c *stuckWriter) Close() error {
	err := c.Conn.Close()
	if err == nil {
		close(c.closed)
	}
	return err
}

func TestFaultsBeforeTheHandshake(t *testing.T) {
	for name, test := range map[string]struct {
		raw       func(*server, net.Conn)
		kind      fault.Kind
		phase     fault.Phase
		transient bool
		parts     []string
	}{
		"closes at once": {func(_ *server, c net.Conn) {},
			fault.Unavailable, fault.PhaseSSH, true, []string{"closed the connection before the handshake", "try again later"}},
		"too many at once": {func(_ *server, c net.Conn) { _, _ = io.WriteString(c, "Exceeded MaxStartups\r\n") },
			fault.Unavailable, fault.PhaseSSH, true, []string{`the server said: "Exceeded MaxStartups"`}},
		"a penalty": {func(_ *server, c net.Conn) { _, _ = io.WriteString(c, "Not allowed at this time\r\n") },
			fault.Unavailable, fault.PhaseSSH, true, []string{"Not allowed at this time"}},
		"an http server": {func(_ *server, c net.Conn) {
			_, _ = http.ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c, "HTTP/1.1 400 Bad Request\r\nServer: nginx\r\n\r\n")
		}, fault.NotGit, fault.PhaseSSH, false, []string{"is not an SSH server", "HTTP/1.1 400 Bad Request", "port"}},
		"binary junk": {func(_ *server, c net.Conn) { _, _ = c.Write(bytes.Repeat([]byte{0, 1, 27, 0xff}, 100)) },
			fault.NotGit, fault.PhaseSSH, false, []string{"is not an SSH server (phase: SSH handshake). Check"}},
		"an endless greeting": {func(s *server, c net.Conn) {
			for line := []byte(strings.Repeat("welcome ", 20) + "\r\n"); ; {
				if _, err := c.Write(line); err != nil {
					return
				}
			}
		}, fault.NotGit, fault.PhaseSSH, false, []string{"is not an SSH server"}},
		"closes after its version": {func(_ *server, c net.Conn) { _, _ = io.WriteString(c, "SSH-2.0-x\r\n") },
			fault.Unavailable, fault.PhaseSSH, true, []string{"in the middle of the handshake"}},
		"disconnects": {func(_ *server, c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n")
			_, _ = c.Write(packet(ssh.Marshal(struct {
				Reason            uint32 `sshtype:"1"`
				Message, Language string
			}{11, "maintenance\x1b[2J until noon", ""})))
			_, _ = io.Copy(io.Discard, c)
		}, fault.Unavailable, fault.PhaseSSH, true, []string{`ended the connection`, "maintenance[2J until noon"}},
		"no packet of the protocol": {func(_ *server, c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n")
			_, _ = c.Write(packet([]byte{99, 1, 2, 3}))
			_, _ = io.Copy(io.Discard, c)
		}, fault.Protocol, fault.PhaseSSH, false, []string{"first packet should be msgKexInit"}},
		"wrong length": {func(_ *server, c net.Conn) {
			_, _ = io.WriteString(c, "SSH-2.0-x\r\n\xff\xff\xff\xff\xff\xff\xff\xff")
			_, _ = io.Copy(io.Discard, c)
		}, fault.Protocol, fault.PhaseSSH, false, []string{"handshake with"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(s *server) { s.raw = func(c net.Conn) { test.raw(s, c) } })
			ctx, cancel := context.WithTimeout(t.Context(), guard)
			defer cancel()
			_, err := run(ctx, newPool(t, Options{}), s.addr(), s.auth(), "x", "")
			f := wantFault(t, err, test.kind, test.phase, append(test.parts, s.addr())...)
			if !f.HostWide || f.Transient != test.transient {
				t.Errorf("HostWide %v, Transient %v: %v", f.HostWide, f.Transient, f)
			}
		})
	}
}

// packet frames payload as a packet before the key exchange (RFC 4253,
// section 6).
func packet(payload []byte) []byte {
	padding := 8 - (5+len(payload))%8 + 8
	b := binary.BigEndian.AppendUint32(nil, uint32(1+len(payload)+padding))
	b = append(b, byte(padding))
	b = append(b, payload...)
	return append(b, make([]byte, padding)...)
}

func TestFaultsOfTheDial(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	closed := l.Addr().String()
	_ = l.Close()
	ask := func(o Options, addr string) error {
		_, err := run(t.Context(), newPool(t, o), addr, authFor(t, addr, "git", knownHosts(addr, hostKey.PublicKey())), "x", "")
		return err
	}
	f := wantFault(t, ask(Options{}, closed), fault.Unavailable, fault.PhaseDial, closed+" refused the connection", "port")
	if !f.HostWide || f.Transient {
		t.Errorf("HostWide %v, Transient %v", f.HostWide, f.Transient)
	}
	unknown := &net.DNSError{Err: "no such host", Name: "git.example.com", IsNotFound: true}
	f = wantFault(t, ask(Options{Dial: failing(&net.OpError{Op: "dial", Net: "tcp", Err: unknown})}, "git.example.com:22"),
		fault.Unavailable, fault.PhaseDial, "the name git.example.com cannot be resolved: no such host")
	if f.Transient {
		t.Error("a name that does not exist is not worth another try")
	}
	proxy := &fault.Error{Kind: fault.Proxy, Phase: fault.PhaseDial, Happened: "the proxy refused"}
	f = wantFault(t, ask(Options{Dial: failing(fmt.Errorf("socks: %w", proxy))}, "git.example.com:22"), fault.Proxy, fault.PhaseDial, "the proxy refused")
	if f == proxy || !f.HostWide {
		t.Error("want a copy that is HostWide")
	}
}

func failing(err error) func(context.Context, string, string) (net.Conn, error) {
	return func(context.Context, string, string) (net.Conn, error) { return nil, err }
}

func TestFaultsOfTheHostKey(t *testing.T) {
	other := newSigner().PublicKey()
	for name, test := range map[string]struct {
		known func(addr string) string
		kind  fault.Kind
	}{
		"unknown":  {func(string) string { return knownHosts("git.example.com:22", other) }, fault.HostKeyUnknown},
		"mismatch": {func(addr string) string { return knownHosts(addr, other) }, fault.HostKeyMismatch},
		"revoked": {func(addr string) string {
			return knownHosts(addr, hostKey.PublicKey()) + "@revoked * " + string(ssh.MarshalAuthorizedKey(hostKey.PublicKey()))
		}, fault.HostKeyRevoked},
		"of another type": {func(addr string) string {
			key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
			if err != nil {
				t.Fatal(err)
			}
			public, err := ssh.NewPublicKey(&key.PublicKey)
			if err != nil {
				t.Fatal(err)
			}
			return knownHosts(addr, public)
		}, fault.HostKeyUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, nil)
			_, err := run(t.Context(), newPool(t, Options{}), s.addr(), authFor(t, s.addr(), "git", test.known(s.addr())), "x", "")
			if f := wantFault(t, err, test.kind, fault.PhaseSSH); !f.HostWide {
				t.Error("a wrong host key is so for the whole host")
			}
		})
	}
}

func TestFaultsOfTheLogin(t *testing.T) {
	refuse := func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) { return nil, errors.New("no") }
	password := func(ssh.ConnMetadata, []byte) (*ssh.Permissions, error) { return nil, errors.New("no") }
	for name, test := range map[string]struct {
		change func(*server)
		kind   fault.Kind
		parts  []string
	}{
		"key refused": {func(s *server) {
			s.config.PublicKeyCallback = refuse
			s.config.PasswordCallback = password
			s.config.BannerCallback = func(ssh.ConnMetadata) string { return "acme:\nstaff \x1b[1monly" }
		}, fault.Authentication, []string{`refused the login as "acme"`, "password", "publickey", `the server said: "acme: staff [1monly"`, "identity", "credentials[0]"}},
		"no keys taken": {func(s *server) {
			s.config.PublicKeyCallback = nil
			s.config.PasswordCallback = password
		}, fault.Authentication, []string{`refused the login as "acme"`, "it accepts password", "takes no public keys"}},
		"thrown out": {func(s *server) {
			s.config.PublicKeyCallback = refuse
			s.config.MaxAuthTries = 1
		}, fault.Authentication, []string{`refused the login as "acme"`, "too many authentication failures"}},
		"closed": {func(s *server) {
			s.config.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
				s.hangUp()
				return nil, errors.New("no")
			}
		}, fault.Unavailable, []string{`closed the connection during the login as "acme"`}},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, test.change)
			_, err := run(t.Context(), newPool(t, Options{}), s.addr(), authFor(t, s.addr(), "acme", knownHosts(s.addr(), hostKey.PublicKey())), "x", "")
			f := wantFault(t, err, test.kind, fault.PhaseAuth, test.parts...)
			if !f.HostWide || f.Transient != (test.kind == fault.Unavailable) {
				t.Errorf("HostWide %v, Transient %v: %v", f.HostWide, f.Transient, f)
			}
		})
	}
}

func TestFaultsFloodOfBanners(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.config.PreAuthConnCallback = func(c ssh.ServerPreAuthConn) {
			var err error
			for err == nil {
				err = c.SendAuthBanner(strings.Repeat("buy! ", 2000))
			}
		}
	})
	_, err := run(t.Context(), newPool(t, Options{}), s.addr(), s.auth(), "x", "")
	f := wantFault(t, err, fault.TooLarge, fault.PhaseAuth, "before the login")
	if len(f.Error()) > 1000 {
		t.Errorf("the error has %d bytes", len(f.Error()))
	}
}

func TestFaultsOfTheAgent(t *testing.T) {
	s := newServer(t, nil)
	auth := s.auth()
	auth.SSH.Methods = []ssh.AuthMethod{ssh.PublicKeysCallback(func() ([]ssh.Signer, error) {
		return nil, &fault.Error{Kind: fault.Credentials, Phase: fault.PhaseAuth, Happened: "the ssh agent does not answer"}
	})}
	_, err := run(t.Context(), newPool(t, Options{}), s.addr(), auth, "x", "")
	wantFault(t, err, fault.Credentials, fault.PhaseAuth, "the ssh agent does not answer")
}

func TestFaultsNoSSHCredentials(t *testing.T) {
	_, err := newPool(t, Options{}).Session(t.Context(), "git.example.com:22", nil, nil, "x")
	wantFault(t, err, fault.Credentials, fault.PhaseCredentials, "ssh needs a key")
}
