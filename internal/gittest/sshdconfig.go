package gittest

import (
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/crypto/ssh"
)

// configure writes the keys, the configuration and the command of the
// sessions into the server's directory.
func (s *SSHD) configure(o SSHOptions) error {
	lines := append([]string{}, o.Config...)
	for i, key := range o.HostKeys {
		name := "host" + strconv.Itoa(i)
		if err := s.writeKey(name, key); err != nil {
			return err
		}
		lines = append(lines, "HostKey "+quoted(s.path(name)))
		if _, ok := key.Signer.PublicKey().(*ssh.Certificate); ok {
			lines = append(lines, "HostCertificate "+quoted(s.path(name+"-cert.pub")))
		}
	}
	var authorized strings.Builder
	for _, key := range o.Clients {
		authorized.WriteString(key.Public + "\n")
	}
	files := map[string]string{"authorized_keys": authorized.String(), "commands": ""}
	if o.UserCA != nil {
		files["user_ca"] = o.UserCA.Public + "\n"
		lines = append(lines, "TrustedUserCAKeys "+quoted(s.path("user_ca")))
	}
	if o.Banner != "" {
		files["banner"] = o.Banner
		lines = append(lines, "Banner "+quoted(s.path("banner")))
	}
	if !o.V0Only {
		lines = append(lines, "AcceptEnv GIT_PROTOCOL")
	}
	if o.MaxSessions > 0 {
		lines = append(lines, "MaxSessions "+strconv.Itoa(o.MaxSessions))
	}
	files["session"] = s.session()
	lines = append(lines,
		"AuthorizedKeysFile "+quoted(s.path("authorized_keys")),
		"ForceCommand exec /bin/sh "+shellQuote(s.path("session")),
		// The login shell, which runs the command, would read the start-up
		// files of the real home directory.
		"SetEnv "+quoted("HOME="+s.root),
		"PasswordAuthentication no",
		"KbdInteractiveAuthentication no",
		"PermitRootLogin yes",
		"PermitUserRC no",
		"StrictModes no", // the directory above the keys may be anyone's
		"UsePAM no",
		"UseDNS no",
		"AllowTcpForwarding no",
		"PermitTTY no",
		"LogLevel VERBOSE",
	)
	files["sshd_config"] = strings.Join(lines, "\n") + "\n"
	for name, text := range files {
		if err := os.WriteFile(s.path(name), []byte(text), 0o600); err != nil {
			return err
		}
	}
	return nil
}

// session is the script that every session runs: it writes down what was
// asked and leaves the rest to git-shell, which allows git's own commands only
// and understands the quoting of git clients.
func (s *SSHD) session() string {
	var env strings.Builder
	for _, variable := range Env() {
		name, value, _ := strings.Cut(variable, "=")
		if name != "HOME" {
			fmt.Fprintf(&env, "export %s=%s\n", name, shellQuote(value))
		}
	}
	return env.String() +
		"printf '%s\\t%s\\n' \"$GIT_PROTOCOL\" \"$SSH_ORIGINAL_COMMAND\" >>" + shellQuote(s.path("commands")) + "\n" +
		"cd \"$HOME\" && exec git-shell -c \"$SSH_ORIGINAL_COMMAND\"\n"
}

// writeKey writes the private key, and the certificate if it has one.
func (s *SSHD) writeKey(name string, key *SSHKey) error {
	if err := os.WriteFile(s.path(name), []byte(key.Private), 0o600); err != nil {
		return err
	}
	if _, ok := key.Signer.PublicKey().(*ssh.Certificate); !ok {
		return nil
	}
	return os.WriteFile(s.path(name+"-cert.pub"), []byte(key.Public+"\n"), 0o600)
}

// quoted quotes an argument of sshd_config.
func quoted(text string) string { return `"` + text + `"` }

// shellQuote quotes text for a POSIX shell.
func shellQuote(text string) string {
	return "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
}
