package gitauth

import (
	"fmt"
	"net"
	"net/url"
	"slices"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// SSH is what an ssh connection authenticates with, in both directions.
type SSH struct {
	// User is the login name: the URL's user, else "git", as for Flux. The
	// secret's username has no part in it.
	User string
	// Methods are the ways to log in. They wait for nothing but an ssh agent.
	Methods []ssh.AuthMethod
	// HostKeys are the host keys to accept.
	HostKeys *HostKeys
}

// Format prints the login name: no verb prints a key.
func (s SSH) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "gitauth.SSH{user: %q, methods: %d}", s.User, len(s.Methods))
}

// HostKeyCallback returns the check of the host key that addr (host:port, as
// dialled) shows. Its errors are *fault.Error of kind HostKeyUnknown,
// HostKeyMismatch or HostKeyRevoked, in the phase of the ssh handshake.
func (s *SSH) HostKeyCallback(addr string) ssh.HostKeyCallback {
	return func(_ string, _ net.Addr, key ssh.PublicKey) error { return s.HostKeys.check(addr, key) }
}

// HostKeyAlgorithms returns the host key algorithms to offer to addr (host:port):
// those that known_hosts has a key for, so that a server with keys of several
// types shows one that can be checked. An RSA key stands for rsa-sha2-512 and
// rsa-sha2-256. It returns nil for a host that is not listed.
func (s *SSH) HostKeyAlgorithms(addr string) []string { return s.HostKeys.algorithms(addr) }

// NoCommonHostKey returns the *fault.Error, of kind HostKeyUnknown, for a server
// at addr that offers none of HostKeyAlgorithms but only offered.
func (s *SSH) NoCommonHostKey(addr string, offered []string) error {
	return s.HostKeys.noneInCommon(addr, offered)
}

// sshParts are the parsed parts of a secret for ssh.
type sshParts struct {
	signer   ssh.Signer
	hostKeys *HostKeys
}

// sshAuth turns an entry into credentials for an ssh remote. e is nil when none
// matches.
func (k *Keychain) sshAuth(e *entry, r giturl.Remote) (*Auth, error) {
	if e == nil {
		return nil, credentialsError(noCredentials, r, &problem{what: "ssh needs identity and known_hosts, and no entry matches: " + k.prefixes(),
			advice: "Add an entry to the provider's credentials with a prefix of this URL and a secret with identity and known_hosts."})
	}
	a, err := sshFromSecret(e, r)
	if err != nil {
		return nil, credentialsError(e.source(), r, err)
	}
	a.Source = e.source()
	return a, nil
}

func sshFromSecret(e *entry, r giturl.Remote) (*Auth, error) {
	if err := checkSSHSecret(e.Secret); err != nil {
		return nil, err
	}
	u := url.URL{Scheme: string(giturl.SSH), Host: r.Address()}
	if r.User != "" {
		u.User = url.User(r.User)
	}
	opts, err := fluxOptions(u, e.Secret)
	if err != nil {
		return nil, err
	}
	parts, err := e.ssh.get(func() (*sshParts, error) {
		signer, err := parseIdentity(string(opts.Identity), opts.Password)
		if err != nil {
			return nil, err
		}
		hostKeys, err := ParseKnownHosts(keyKnownHosts, string(opts.KnownHosts))
		return &sshParts{signer, hostKeys}, err
	})
	if err != nil {
		return nil, err
	}
	return &Auth{
		ID:     opaqueID("ssh", opts.Username, opts.Password, string(opts.Identity), string(opts.KnownHosts)),
		Keys:   present(e.Secret, []string{keyIdentity, keyKnownHosts, keyPassword}),
		SSH:    &SSH{User: opts.Username, Methods: []ssh.AuthMethod{ssh.PublicKeys(parts.signer)}, HostKeys: parts.hostKeys},
		hidden: &secrets{logins: []login{{secret: opts.Password}}, texts: []string{string(opts.Identity)}},
	}, nil
}

// checkSSHSecret finds what is missing for ssh.
func checkSSHSecret(secret map[string]string) error {
	if len(present(secret, appKeys)) > 0 {
		return &problem{what: "secret has a GitHub App, which works over https only",
			advice: "Write the repository's URL with https://."}
	}
	have := present(secret, []string{keyIdentity, keyKnownHosts})
	var missing string
	switch {
	case len(have) == 2:
		return nil
	case len(have) == 0:
		missing = "both"
	case slices.Contains(have, keyIdentity):
		missing = keyKnownHosts
	default:
		missing = keyIdentity
	}
	p := &problem{what: fmt.Sprintf("ssh needs identity and known_hosts, and secret lacks %s", missing),
		advice: "Put the private key into identity and the host's lines from ssh-keyscan, once their fingerprint is compared, into known_hosts."}
	if len(present(secret, []string{keyUsername, keyPassword, keyBearerToken})) > 0 && missing != keyKnownHosts {
		p.advice += " A user name, password or token is for https only."
	}
	return p
}
