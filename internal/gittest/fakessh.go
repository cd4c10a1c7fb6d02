package gittest

import (
	"context"
	"crypto/subtle"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
)

// SSHStage is a point at which a FakeSSH falls silent for ever.
type SSHStage int

// The stages of an ssh connection, in their order.
const (
	NoStage       SSHStage = iota
	BeforeVersion          // accepts the connection and says nothing
	AfterVersion           // sends its version line, nothing more
	AfterKexInit           // stops in the middle of the key exchange
	AtAuth                 // never decides about the credentials
	AtOpen                 // lets the client in, never answers the opening of a session
	AtExec                 // opens a session, never answers the command
)

// FakeSSHOptions says what StartFakeSSH starts. The zero value lets in anyone
// who has a key, and ends every command at once with status 0.
type FakeSSHOptions struct {
	HostKeys []*SSHKey // default: one new Ed25519
	Stop     SSHStage
	// Password, if set, is what lets a client in, in place of a key.
	Password string
	// UserAlgorithms are the signature algorithms that the server says it takes
	// from keys, and takes; default: all but SHA-1.
	UserAlgorithms []string
	// MaxSessions, if above 0, is how many sessions one connection may have
	// open; more are refused.
	MaxSessions int
	// Steps are what a command does on its standard input and output.
	Steps []Step
	// Stderr is what a command says before Steps, Status what it ends with.
	Stderr string
	Status uint32
	IPv6   bool // listen on [::1] in place of 127.0.0.1
}

// FakeSSH is an ssh server in this process. It is for what OpenSSH does not
// do: to stop at any stage, to answer as hosts do, to break off.
type FakeSSH struct {
	*TCP
	HostKeys []*SSHKey

	o        FakeSSHOptions
	mu       sync.Mutex
	users    []string
	commands []SSHCommand
}

// StartFakeSSH starts an ssh server that behaves as o says.
func StartFakeSSH(o FakeSSHOptions) (*FakeSSH, error) {
	if len(o.HostKeys) == 0 {
		key, err := NewSSHKey(Ed25519)
		if err != nil {
			return nil, err
		}
		o.HostKeys = []*SSHKey{key}
	}
	s := &FakeSSH{HostKeys: o.HostKeys, o: o}
	tcp, err := StartTCP(s.serve, TCPOptions{IPv6: o.IPv6})
	if err != nil {
		return nil, err
	}
	s.TCP = tcp
	return s, nil
}

// ServeFakeSSH is StartFakeSSH for tests.
func ServeFakeSSH(t testing.TB, o FakeSSHOptions) *FakeSSH {
	t.Helper()
	s, err := StartFakeSSH(o)
	return keep(t, s, err)
}

// URL returns the ssh:// URL of any path, with the login name git.
func (s *FakeSSH) URL(path string) string { return "ssh://git@" + s.Addr() + "/" + path }

// KnownHosts returns a known_hosts file with every host key of the server.
func (s *FakeSSH) KnownHosts() string { return knownHosts(s.HostKeys, s.Addr()) }

// Users returns the login names of the clients that were let in.
func (s *FakeSSH) Users() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.users)
}

// Commands returns what the sessions asked for so far, oldest first.
func (s *FakeSSH) Commands() []SSHCommand {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.commands)
}

func (s *FakeSSH) serve(ctx context.Context, c net.Conn) {
	switch s.o.Stop {
	case BeforeVersion:
		_ = Hang(ctx, c)
		return
	case AfterVersion:
		_ = takeSteps(ctx, c, []Step{Send([]byte("SSH-2.0-gittest\r\n")), Hang})
		return
	case AfterKexInit:
		// The version line is the first write, the offer of algorithms the
		// second.
		c = &mutedConn{Conn: c, writes: 2}
	}
	conn, channels, requests, err := ssh.NewServerConn(c, s.config(ctx))
	if err != nil {
		return
	}
	defer func() { _ = conn.Close() }()
	s.mu.Lock()
	s.users = append(s.users, conn.User())
	s.mu.Unlock()
	var running sync.WaitGroup
	running.Go(func() { ssh.DiscardRequests(requests) })
	s.sessions(ctx, c, channels, &running)
	running.Wait()
}

// config lets in whom the options say.
func (s *FakeSSH) config(ctx context.Context) *ssh.ServerConfig {
	decide := func(ok bool) (*ssh.Permissions, error) {
		if s.o.Stop == AtAuth {
			<-ctx.Done()
		}
		if !ok {
			return nil, errors.New("not these credentials")
		}
		return &ssh.Permissions{}, nil
	}
	config := &ssh.ServerConfig{ServerVersion: "SSH-2.0-gittest", PublicKeyAuthAlgorithms: s.o.UserAlgorithms}
	if s.o.Password == "" {
		config.PublicKeyCallback = func(ssh.ConnMetadata, ssh.PublicKey) (*ssh.Permissions, error) {
			return decide(true)
		}
	} else {
		config.PasswordCallback = func(_ ssh.ConnMetadata, password []byte) (*ssh.Permissions, error) {
			return decide(subtle.ConstantTimeCompare(password, []byte(s.o.Password)) == 1)
		}
	}
	for _, key := range s.HostKeys {
		config.AddHostKey(key.Signer)
	}
	return config
}

// sessions answers the opening of sessions until the connection ends.
func (s *FakeSSH) sessions(ctx context.Context, c net.Conn, channels <-chan ssh.NewChannel, running *sync.WaitGroup) {
	var mu sync.Mutex
	open := 0
	for channel := range channels {
		if s.o.Stop == AtOpen {
			continue // neither accepted nor refused
		}
		mu.Lock()
		full := s.o.MaxSessions > 0 && open >= s.o.MaxSessions
		if !full {
			open++
		}
		mu.Unlock()
		if full {
			_ = channel.Reject(ssh.ResourceShortage, "no more sessions")
			continue
		}
		running.Go(func() {
			s.session(ctx, c, channel)
			mu.Lock()
			defer mu.Unlock()
			open--
		})
	}
}

// session runs one session to its end.
func (s *FakeSSH) session(ctx context.Context, c net.Conn, opening ssh.NewChannel) {
	channel, requests, err := opening.Accept()
	if err != nil {
		return
	}
	defer func() { _ = channel.Close() }()
	command, ok := s.command(requests)
	if !ok {
		return
	}
	s.mu.Lock()
	s.commands = append(s.commands, command)
	s.mu.Unlock()

	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		ssh.DiscardRequests(requests) // ends when the client closes the channel
		cancel()
	}()
	_, _ = io.WriteString(channel.Stderr(), s.o.Stderr)
	if takeSteps(ctx, sessionConn{channel, c}, s.o.Steps) == nil {
		_, _ = channel.SendRequest("exit-status", false, ssh.Marshal(struct{ Status uint32 }{s.o.Status}))
	}
}

// command reads the requests of a session up to the one for a command, and
// grants it. ok is false if there is none.
func (s *FakeSSH) command(requests <-chan *ssh.Request) (command SSHCommand, ok bool) {
	for request := range requests {
		var env struct{ Name, Value string }
		var exec struct{ Command string }
		switch {
		case request.Type == "env" && ssh.Unmarshal(request.Payload, &env) == nil && env.Name == "GIT_PROTOCOL":
			command.Protocol = env.Value
			_ = request.Reply(true, nil)
		case request.Type == "exec" && ssh.Unmarshal(request.Payload, &exec) == nil && s.o.Stop != AtExec:
			command.Line = exec.Command
			_ = request.Reply(true, nil)
			return command, true
		case request.Type != "exec":
			_ = request.Reply(false, nil)
		}
	}
	return command, false
}

// sessionConn is the channel of a session on its connection, for Reset.
type sessionConn struct {
	ssh.Channel
	conn net.Conn
}

func (c sessionConn) reset() { reset(c.conn) }

// mutedConn lets a number of writes through and swallows the rest.
type mutedConn struct {
	net.Conn
	mu     sync.Mutex
	writes int
}

func (c *mutedConn) Write(p []byte) (int, error) {
	c.mu.Lock()
	c.writes--
	muted := c.writes < 0
	c.mu.Unlock()
	if !muted {
		return c.Conn.Write(p)
	}
	return len(p), nil
}
