package main

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// access is what every way is given to get at the servers.
type access struct {
	CAFile         string // PEM
	User           string // of ssh
	Identity       string // private key
	IdentityFile   string
	KnownHostsFile string
	HTTPS, SSH     []string // the addresses to which CA and key belong
}

// newAccess writes the files that git and ssh want into dir. Every address in
// https and sshd leads to the one server of its kind.
func newAccess(dir string, ca *gittest.CA, sshd *gittest.SSHD, https, ssh []string) (access, error) {
	a := access{
		CAFile: filepath.Join(dir, "ca.pem"), User: sshd.User, Identity: sshd.Client.Private,
		IdentityFile: filepath.Join(dir, "id"), KnownHostsFile: filepath.Join(dir, "known_hosts"),
		HTTPS: https, SSH: ssh,
	}
	var known strings.Builder
	for _, addr := range ssh {
		for _, key := range sshd.HostKeys {
			known.WriteString(key.KnownHost(addr) + "\n")
		}
	}
	for path, text := range map[string]string{a.CAFile: ca.PEM, a.IdentityFile: a.Identity, a.KnownHostsFile: known.String()} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			return access{}, err
		}
	}
	return a, nil
}

// credentials are what a user would write into the provider block.
func (a access) credentials() ([]gitauth.Entry, error) {
	ca, err := os.ReadFile(a.CAFile)
	if err != nil {
		return nil, err
	}
	known, err := os.ReadFile(a.KnownHostsFile)
	if err != nil {
		return nil, err
	}
	var entries []gitauth.Entry
	for _, addr := range a.HTTPS {
		entries = append(entries, gitauth.Entry{URL: "https://" + addr, Secret: map[string]string{"ca.crt": string(ca)}})
	}
	for _, addr := range a.SSH {
		entries = append(entries, gitauth.Entry{URL: "ssh://" + a.User + "@" + addr,
			Secret: map[string]string{"identity": a.Identity, "known_hosts": string(known)}})
	}
	return entries, nil
}

// tlsConfig trusts the CA of the https server.
func (a access) tlsConfig() (*tls.Config, error) {
	ca, err := os.ReadFile(a.CAFile)
	if err != nil {
		return nil, err
	}
	roots := x509.NewCertPool()
	roots.AppendCertsFromPEM(ca)
	return &tls.Config{RootCAs: roots, MinVersion: tls.VersionTLS12}, nil
}

// gitEnv is the same for git.
func (a access) gitEnv() []string {
	return []string{
		"GIT_SSL_CAINFO=" + a.CAFile,
		fmt.Sprintf("GIT_SSH_COMMAND=ssh -F /dev/null -i '%s' -o UserKnownHostsFile='%s'"+
			" -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes"+
			" -o IdentitiesOnly=yes -o IdentityAgent=none -o BatchMode=yes", a.IdentityFile, a.KnownHostsFile),
	}
}
