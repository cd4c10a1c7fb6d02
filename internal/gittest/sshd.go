package gittest

import (
	"fmt"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// SSHOptions says what kind of server StartSSH starts. The zero value has one
// new Ed25519 host key, lets in an Ed25519 key that the whole test process
// shares, and speaks protocol version 2.
type SSHOptions struct {
	HostKeys    []*SSHKey // one with a host certificate presents it
	Clients     []*SSHKey // the keys that let a client in
	UserCA      *SSHKey   // lets in every key with a certificate of this CA for the user
	V0Only      bool      // do not accept GIT_PROTOCOL
	MaxSessions int       // sessions at a time on one connection; 0 is OpenSSH's default, 10
	Banner      string    // shown before authentication
	IPv6        bool      // listen on [::1] in place of 127.0.0.1
	Config      []string  // more lines of sshd_config, which win over ours
}

// SSHD is an OpenSSH server that runs as the current user and gives access to
// git repositories only. The directory that it serves is the home directory of
// its sessions: the path a.git and the path ~/a.git both mean root/a.git. An
// absolute path is one of this machine.
type SSHD struct {
	*TCP
	User     string    // who can log in: the user who runs the tests
	Client   *SSHKey   // the first of the keys that let a client in
	HostKeys []*SSHKey // as presented

	root string
	dir  string // configuration, keys, record of commands
	log  logBuffer
}

// SSHCommand is what one session asked for.
type SSHCommand struct {
	Protocol string // the value of GIT_PROTOCOL that was accepted, e.g. "version=2"
	Line     string // e.g. "git-upload-pack '/srv/a.git'"
}

// StartSSH serves the repositories under root with OpenSSH's sshd. An error
// says, among other things, when it is not installed.
func StartSSH(root string, o SSHOptions) (*SSHD, error) {
	sshd, err := lookPath("sshd")
	if err != nil {
		return nil, fmt.Errorf("the ssh server runs OpenSSH: %w; run: make test-deps", err)
	}
	me, err := user.Current()
	if err != nil {
		return nil, fmt.Errorf("the ssh server runs as the current user: %w", err)
	}
	if err := o.fill(); err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gittest-sshd-")
	if err != nil {
		return nil, err
	}
	s := &SSHD{User: me.Username, Client: o.Clients[0], HostKeys: o.HostKeys, root: root, dir: dir}
	if err := s.start(sshd, o); err != nil {
		_ = os.RemoveAll(dir)
		return nil, err
	}
	return s, nil
}

// ServeSSH is StartSSH for tests.
func ServeSSH(t testing.TB, root string, o SSHOptions) *SSHD {
	t.Helper()
	s, err := StartSSH(root, o)
	return keep(t, s, err)
}

// fill puts in the keys that were left out.
func (o *SSHOptions) fill() error {
	if len(o.HostKeys) == 0 {
		key, err := NewSSHKey(Ed25519)
		if err != nil {
			return err
		}
		o.HostKeys = []*SSHKey{key}
	}
	if len(o.Clients) == 0 {
		key, err := ClientKey(Ed25519)
		if err != nil {
			return err
		}
		o.Clients = []*SSHKey{key}
	}
	return nil
}

func (s *SSHD) start(sshd string, o SSHOptions) error {
	if err := s.configure(o); err != nil {
		return err
	}
	config := s.path("sshd_config")
	if err := checkConfig(sshd, config); err != nil {
		return err
	}
	// -i: one server for the connection on standard input. -e: log to
	// standard error.
	var err error
	s.TCP, err = StartTCP(inetd(Env(), &s.log, sshd, "-i", "-e", "-f", config), TCPOptions{IPv6: o.IPv6})
	if err != nil {
		return err
	}
	// For the real git of GitEnv.
	if err := os.WriteFile(s.path("known_hosts"), []byte(s.KnownHosts()), 0o600); err != nil {
		return err
	}
	return s.writeKey("id", s.Client)
}

// checkConfig lets sshd check its configuration. Run by root, sshd also wants
// an empty directory that a service manager would have made.
func checkConfig(sshd, config string) error {
	check := func() (string, error) {
		out, err := exec.Command(sshd, "-t", "-f", config).CombinedOutput()
		return string(out), err
	}
	out, err := check()
	missing := regexp.MustCompile(`(?m)^Missing privilege separation directory: (\S+)`)
	if found := missing.FindStringSubmatch(out); err != nil && found != nil {
		if err := os.MkdirAll(found[1], 0o755); err != nil {
			return err
		}
		out, err = check()
	}
	if err != nil {
		return fmt.Errorf("sshd refuses its configuration: %w: %s", err, out)
	}
	return nil
}

func (s *SSHD) path(name string) string { return filepath.Join(s.dir, name) }

// Close stops the server and removes its files.
func (s *SSHD) Close() error {
	s.Down()
	return os.RemoveAll(s.dir)
}

// Log returns what sshd has logged.
func (s *SSHD) Log() string { return s.log.String() }

// URL returns the URL of a repository under root by its absolute path.
func (s *SSHD) URL(repo string) string {
	return "ssh://" + s.User + "@" + s.Addr() + filepath.Join(s.root, repo)
}

// SCP returns the scp form of the same repository, with a relative path. With
// IPv6 there is no such form that also names a port.
func (s *SSHD) SCP(repo string) string {
	return "[" + s.User + "@" + s.Addr() + "]:" + repo
}

// KnownHosts returns a known_hosts file with every host key of the server.
func (s *SSHD) KnownHosts() string { return knownHosts(s.HostKeys, s.Addr()) }

// GitEnv returns what real git needs in its environment to log in here, with
// nothing from ~/.ssh and no agent.
func (s *SSHD) GitEnv() []string {
	return []string{"GIT_SSH_COMMAND=ssh -F /dev/null" +
		" -i " + shellQuote(s.path("id")) +
		" -o UserKnownHostsFile=" + shellQuote(s.path("known_hosts")) +
		" -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes" +
		" -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes"}
}

// Commands returns what the sessions asked for so far, oldest first.
func (s *SSHD) Commands() ([]SSHCommand, error) {
	text, err := os.ReadFile(s.path("commands"))
	if err != nil {
		return nil, fmt.Errorf("reading the record of ssh commands: %w", err)
	}
	var commands []SSHCommand
	for line := range strings.Lines(string(text)) {
		protocol, command, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "\t")
		commands = append(commands, SSHCommand{Protocol: protocol, Line: command})
	}
	return commands, nil
}
