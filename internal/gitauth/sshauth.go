package gitauth

import (
	"fmt"
	"net"
	"net/url"
	"strings"

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
	// Key is the type and fingerprint of the public key that logs in, as hosts
	// show it ("ssh-ed25519 SHA256:..."); "" where an agent chooses the key.
	Key string
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

// NoCommonHostKey returns the *fault.Error for a server at addr that offers none
// of HostKeyAlgorithms but only offered: HostKeyUnknown, or Protocol when addr is
// not listed and the server's algorithms are all too old.
func (s *SSH) NoCommonHostKey(addr string, offered []string) error {
	return s.HostKeys.noneInCommon(addr, offered)
}

// sshAuth returns the credentials for an ssh remote: those of e, nil when no
// entry matches, and in the place of what is missing there those of the machine,
// where Options ask for them.
func (k *Keychain) sshAuth(e *entry, r giturl.Remote) (*Auth, error) {
	source := noCredentials
	if e != nil {
		source = e.source()
	} else {
		e = &entry{} // no secret, and nothing to remember
	}
	missing := k.missingForSSH(e.Secret)
	if len(missing) > 0 && k.opts.AmbientUnknown {
		return nil, unknownError(r, "ambient")
	}
	if err := k.checkSSHSecret(r, e.Secret, missing, source); err != nil {
		return nil, credentialsError(source, r, err)
	}
	a, err := k.sshParts(e, r)
	if err != nil {
		return nil, credentialsError(source, r, err)
	}
	a.Source = source
	if e.Secret[keyIdentity] == "" {
		a.Source = strings.TrimPrefix(source+", the ssh agent", noCredentials+", ")
	}
	a.Keys = present(e.Secret, []string{keyIdentity, keyKnownHosts, keyPassword})
	return a, nil
}

// missingForSSH returns which of the two necessary keys neither secret nor the
// machine supply.
func (k *Keychain) missingForSSH(secret map[string]string) []string {
	var missing []string
	if secret[keyIdentity] == "" && !k.opts.Ambient.SSHAgent {
		missing = append(missing, keyIdentity)
	}
	if secret[keyKnownHosts] == "" && k.opts.Ambient.KnownHostsFile == "" {
		missing = append(missing, keyKnownHosts)
	}
	return missing
}

func (k *Keychain) checkSSHSecret(r giturl.Remote, secret map[string]string, missing []string, source string) error {
	if len(present(secret, appKeys)) > 0 {
		return &problem{what: "secret has a GitHub App, which works over https only",
			advice: "Write the repository's URL with https://."}
	}
	if len(missing) == 0 {
		return nil
	}
	if source == noCredentials {
		return &problem{what: fmt.Sprintf("ssh needs %s, and no entry matches: %s", strings.Join(missing, " and "), k.prefixes()),
			advice: k.missingEntry(r)}
	}
	p := &problem{what: fmt.Sprintf("ssh needs identity and known_hosts, and secret lacks %s", strings.Join(missing, " and ")),
		advice: "Put the private key into identity and the host's lines from ssh-keyscan, once their fingerprint is compared, into known_hosts."}
	if secret[keyIdentity] == "" && len(present(secret, []string{keyUsername, keyPassword, keyBearerToken})) > 0 {
		p.advice += " A user name, password or token is for https only."
	}
	return p
}

func (k *Keychain) sshParts(e *entry, r giturl.Remote) (*Auth, error) {
	text, hostKeys, err := k.knownHosts(e)
	if err != nil {
		return nil, err
	}
	if e.Secret[keyIdentity] == "" {
		return agentAuth(r, text, hostKeys)
	}
	opts, err := fluxOptions(sshURL(r), map[string]string{
		keyIdentity: e.Secret[keyIdentity], keyPassword: e.Secret[keyPassword], keyKnownHosts: text})
	if err != nil {
		return nil, err
	}
	signer, err := e.signer.get(func() (ssh.Signer, error) { return parseIdentity(string(opts.Identity), opts.Password) })
	if err != nil {
		return nil, err
	}
	a := &Auth{
		ID: opaqueID("ssh", opts.Username, opts.Password, string(opts.Identity), string(opts.KnownHosts)),
		SSH: &SSH{User: opts.Username, Methods: []ssh.AuthMethod{ssh.PublicKeys(sha2(signer))}, HostKeys: hostKeys,
			Key: signer.PublicKey().Type() + " " + ssh.FingerprintSHA256(signer.PublicKey())},
	}
	a.hide(private{logins: []login{{secret: opts.Password}}, texts: []string{string(opts.Identity)}})
	return a, nil
}

// knownHosts returns the host keys for e, with the text they come from.
func (k *Keychain) knownHosts(e *entry) (string, *HostKeys, error) {
	text := e.Secret[keyKnownHosts]
	if text == "" {
		return k.ambient.knownHosts(k.opts.Ambient.KnownHostsFile)
	}
	hostKeys, err := e.hostKeys.get(func() (*HostKeys, error) { return parseKnownHosts(keyKnownHosts, text) })
	return text, hostKeys, err
}

// sshURL is the part of r that git.NewAuthOptions is to see.
func sshURL(r giturl.Remote) url.URL {
	u := url.URL{Scheme: string(giturl.SSH), Host: r.Address()}
	if r.User != "" {
		u.User = url.User(r.User)
	}
	return u
}
