package field

import (
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

var keyKinds = []string{gittest.RSA, gittest.ECDSA, gittest.Ed25519}

// hostKeys: a server with several, known_hosts with one of them.
func hostKeys(t *testing.T) []row {
	root := gittest.Repos(t)
	var all []*gittest.SSHKey
	for _, kind := range keyKinds {
		all = append(all, gittest.MakeSSHKey(t, kind))
	}
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: all})
	var rows []row
	for i, kind := range keyKinds {
		rows = append(rows, row{id: 41, what: "three host keys, only " + kind + " known", url: s.URL("a.git"), secret: with(sshAccess(s), "known_hosts", all[i].KnownHost(s.Addr()))})
	}
	onlyRSA := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: all[:1]})
	ca, host := gittest.MakeSSHKey(t, gittest.Ed25519), gittest.MakeSSHKey(t, gittest.Ed25519)
	certified, err := host.Certify(ca, ssh.HostCert, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	sha1CA := *all[0]
	if sha1CA.Signer, err = ssh.NewSignerWithAlgorithms(sha1CA.Signer.(ssh.AlgorithmSigner), []string{ssh.KeyAlgoRSA}); err != nil {
		t.Fatal(err)
	}
	bySHA1, err := host.Certify(&sha1CA, ssh.HostCert, "127.0.0.1")
	if err != nil {
		t.Fatal(err)
	}
	sha1Cert := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: []*gittest.SSHKey{bySHA1}})
	withCert := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: []*gittest.SSHKey{certified}})
	rows = append(rows,
		row{id: 41, what: "RSA host, ed25519 known", url: onlyRSA.URL("a.git"), secret: with(sshAccess(onlyRSA), "known_hosts", all[2].KnownHost(onlyRSA.Addr())), kind: fault.HostKeyUnknown, says: []string{"ssh-ed25519", "rsa", "ssh-keyscan"}},
		row{id: 41, what: "another key of the same type", url: s.URL("a.git"), secret: with(sshAccess(s), "known_hosts", host.KnownHost(s.Addr())), kind: fault.HostKeyMismatch, says: []string{"showed the host key", "line 1", "SHA256:"}},
		row{id: 41, what: "@cert-authority", url: withCert.URL("a.git"), secret: with(sshAccess(withCert), "known_hosts", "@cert-authority * "+ca.Public)},
		row{id: 41, what: "an authority that signs with SHA-1", url: sha1Cert.URL("a.git"), secret: with(sshAccess(sha1Cert), "known_hosts", "@cert-authority * "+all[0].Public), kind: fault.HostKeyUnknown, says: []string{"SHA-1"}},
		row{id: 41, what: "an RSA user key, SHA-2", url: "", secret: nil},
	)
	rsa, err := gittest.ClientKey(gittest.RSA)
	if err != nil {
		t.Fatal(err)
	}
	forRSA := gittest.ServeSSH(t, root, gittest.SSHOptions{Clients: []*gittest.SSHKey{rsa}})
	last := &rows[len(rows)-1]
	last.url, last.secret = forRSA.URL("a.git"), sshAccess(forRSA)
	return rows
}

// knownHostsSpellings: as OpenSSH reads them.
func knownHostsSpellings(t *testing.T) []row {
	root := gittest.Repos(t)
	var keys []*gittest.SSHKey
	for _, kind := range []string{gittest.Ed25519, gittest.ECDSA, gittest.RSA} {
		keys = append(keys, gittest.MakeSSHKey(t, kind))
	}
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: keys})
	key, addr := keys[0], s.Addr()
	_, port, _ := strings.Cut(addr, ":")
	spelt := func(what, known string, kind fault.Kind, says ...string) row {
		return row{id: 43, what: what, url: s.URL("a.git"), secret: with(sshAccess(s), "known_hosts", known), kind: kind, says: says}
	}
	joined := "127.0.0.1 " + keys[0].Public + " 127.0.0.1 " + keys[1].Public + " 127.0.0.1 " + keys[2].Public
	joinedOther := key.KnownHost("git.example.com:22") + " " + key.KnownHost(addr)
	return []row{
		spelt("[h]:P key", key.KnownHost(addr), ""),
		spelt("h key, port falls back", "127.0.0.1 "+key.Public, ""),
		spelt("h:P key", addr+" "+key.Public, fault.HostKeyUnknown, "no entry for ["+"127.0.0.1]:"+port, "line 1 spells it"),
		spelt("three entries joined on one line", joined, ""),
		spelt("joined, the first is another host", joinedOther, fault.HostKeyUnknown, "line 1 seems to hold several entries"),
		spelt("hashed", key.HashedKnownHost(addr), ""),
		spelt("wildcard", "127.0.*,!127.0.0.2 "+key.Public, ""),
		spelt("[*]:*", "[*]:* "+key.Public, ""),
		spelt("CRLF, BOM, comments", "\ufeff# hosts\r\n\r\n"+key.KnownHost(addr)+"\r\n", ""),
		spelt("another host only", key.KnownHost("git.example.com:22"), fault.HostKeyUnknown, "git.example.com", "ssh-keyscan -p "+port),
		spelt("a junk line is named", key.KnownHost(addr)+"\njunk\n", fault.Credentials, "known_hosts: line 2"),
		spelt("empty", "\n", fault.Credentials, "known_hosts: has no entry"),
	}
}

// rotation: old and new key of one type are both listed; a revoked one fails
// whatever else is listed.
func rotation(t *testing.T) []row {
	root := gittest.Repos(t)
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	neu, old := s.HostKeys[0].KnownHost(s.Addr()), gittest.MakeSSHKey(t, gittest.Ed25519)
	oldLine := old.KnownHost(s.Addr())
	retired := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: []*gittest.SSHKey{old}})
	known := func(what string, s *gittest.SSHD, known string, kind fault.Kind, says ...string) row {
		return row{id: 44, what: what, url: s.URL("a.git"), secret: with(sshAccess(s), "known_hosts", known), kind: kind, says: says}
	}
	return []row{
		known("old, then new", s, oldLine+"\n"+neu, ""),
		known("new, then old", s, neu+"\n"+oldLine, ""),
		known("old revoked, server has the new one", s, "@revoked * "+old.Public+"\n"+neu, ""),
		known("server has the revoked one", retired, "@revoked * "+old.Public+"\n"+old.KnownHost(retired.Addr()), fault.HostKeyRevoked, "revoked", "line 1", "Do not connect"),
		known("only the old one", s, oldLine, fault.HostKeyMismatch, "SHA256:"),
	}
}

// noIdentity: nothing of the machine is used unless asked for.
func noIdentity(t *testing.T) []row {
	s := gittest.ServeSSH(t, gittest.Repos(t), gittest.SSHOptions{})
	agent := serveAgent(t, s.Client)
	known := map[string]string{"known_hosts": s.KnownHosts()}
	var before int
	none := func(what string, secret map[string]string, env string, says ...string) row {
		return row{id: 49, what: what, url: s.URL("a.git"), secret: secret, kind: fault.Credentials, says: says, env: []string{"SSH_AUTH_SOCK=" + env}, alone: true,
			again: func() { before = s.Connections() },
			check: func(t *testing.T) {
				if s.Connections() != before {
					t.Error("a connection was made")
				}
			}}
	}
	asked := row{id: 49, what: "agent asked for", url: s.URL("a.git"), secret: known, env: []string{"SSH_AUTH_SOCK=" + agent}, alone: true}
	asked.ambient.SSHAgent = true
	askedFile := row{id: 49, what: "agent and known_hosts file asked for", url: s.URL("a.git"), env: []string{"SSH_AUTH_SOCK=" + agent}, alone: true}
	askedFile.ambient.SSHAgent, askedFile.ambient.KnownHostsFile = true, file(t, "known_hosts", s.KnownHosts(), 0o600)
	return []row{
		none("no secret", nil, "", "ssh needs identity and known_hosts"),
		none("no secret, a live agent", nil, agent, "ssh needs identity and known_hosts"),
		none("an empty secret", map[string]string{}, agent, "ssh needs identity and known_hosts"),
		none("known_hosts only, a live agent", known, agent, "lacks identity"),
		none("username and password only", basicSecret, agent, "lacks identity and known_hosts", "for https only"),
		none("identity only", map[string]string{"identity": s.Client.Private}, agent, "lacks known_hosts"),
		asked, askedFile,
	}
}

// sshRefusals: "not found" in the server's words, and a key that is denied.
func sshRefusals(t *testing.T) []row {
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	says := func(what, stderr string, kind fault.Kind, parts ...string) row {
		s := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Stderr: stderr, Status: 1})
		return row{id: 53, what: what, url: s.URL("acme/app.git"), secret: map[string]string{"identity": key.Private, "known_hosts": s.KnownHosts()}, kind: kind, says: parts}
	}
	denied := gittest.ServeSSH(t, gittest.Repos(t), gittest.SSHOptions{Banner: "ask the operators for access\n"})
	gone := gittest.ServeSSH(t, gittest.Repos(t), gittest.SSHOptions{})
	return []row{
		says("ssh: repository not found", "ERROR: Repository not found.\n", fault.NotFound, "Repository not found."),
		says("ssh: access denied", "conq: repository access denied.\n", fault.Forbidden, "access denied"),
		says("ssh: not found or no permission", "The project you were looking for could not be found or you don't have permission to view it.\n", fault.NotFound, "could not be found"),
		{id: 53, what: "ssh: a key that is not let in", url: denied.URL("a.git"), secret: with(sshAccess(denied), "identity", key.Private), kind: fault.Authentication, says: []string{"refused the login", "ask the operators for access"}},
		{id: 53, what: "ssh: no such repository, real sshd", url: gone.URL("gone.git"), secret: sshAccess(gone), kind: fault.NotFound, says: []string{"does not appear to be a git repository"}},
	}
}
