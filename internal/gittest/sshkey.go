package gittest

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/pem"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"golang.org/x/crypto/ssh"
	"golang.org/x/crypto/ssh/knownhosts"
)

// The kinds of keys that NewSSHKey makes.
const (
	Ed25519 = "ed25519"
	ECDSA   = "ecdsa" // P-256
	RSA     = "rsa"   // 2048 bits
)

// SSHKey is a key pair for a host or a user.
type SSHKey struct {
	Private string // PEM in OpenSSH's own format
	Public  string // one line as in authorized_keys, without a comment
	Signer  ssh.Signer

	private crypto.Signer
}

// NewSSHKey makes a key. kind is Ed25519, ECDSA or RSA.
func NewSSHKey(kind string) (*SSHKey, error) {
	var private crypto.Signer
	var err error
	switch kind {
	case Ed25519:
		_, private, err = ed25519.GenerateKey(rand.Reader)
	case ECDSA:
		private, err = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	case RSA:
		private, err = rsa.GenerateKey(rand.Reader, 2048)
	default:
		err = errors.New("want ed25519, ecdsa or rsa")
	}
	if err != nil {
		return nil, fmt.Errorf("making an ssh key of kind %q: %w", kind, err)
	}
	block, err := ssh.MarshalPrivateKey(private, "")
	if err != nil {
		return nil, fmt.Errorf("writing an ssh key: %w", err)
	}
	signer, err := ssh.NewSignerFromSigner(private)
	if err != nil {
		return nil, fmt.Errorf("using an ssh key: %w", err)
	}
	return &SSHKey{
		Private: string(pem.EncodeToMemory(block)),
		Public:  strings.TrimSpace(string(ssh.MarshalAuthorizedKey(signer.PublicKey()))),
		Signer:  signer,
		private: private,
	}, nil
}

// MakeSSHKey is NewSSHKey for tests.
func MakeSSHKey(t testing.TB, kind string) *SSHKey {
	t.Helper()
	key, err := NewSSHKey(kind)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

// Encrypted returns the private key in OpenSSH's format under a passphrase.
func (k *SSHKey) Encrypted(passphrase string) (string, error) {
	block, err := ssh.MarshalPrivateKeyWithPassphrase(k.private, "", []byte(passphrase))
	if err != nil {
		return "", fmt.Errorf("encrypting an ssh key: %w", err)
	}
	return string(pem.EncodeToMemory(block)), nil
}

// Legacy returns the private key of kind RSA or ECDSA in the PEM format that
// OpenSSH wrote before 7.8, encrypted as it was then if passphrase is not "".
func (k *SSHKey) Legacy(passphrase string) (string, error) {
	text, err := legacyPEM(k.private, passphrase)
	if err != nil {
		return "", fmt.Errorf("writing an ssh key: %w", err)
	}
	return text, nil
}

// Certify returns a key that presents a certificate, signed by ca, for k.
// certType is ssh.UserCert or ssh.HostCert; the certificate never expires.
func (k *SSHKey) Certify(ca *SSHKey, certType uint32, principals ...string) (*SSHKey, error) {
	cert := &ssh.Certificate{
		Key:             k.Signer.PublicKey(),
		CertType:        certType,
		ValidPrincipals: principals,
		ValidBefore:     ssh.CertTimeInfinity,
	}
	if err := cert.SignCert(rand.Reader, ca.Signer); err != nil {
		return nil, fmt.Errorf("signing an ssh certificate: %w", err)
	}
	signer, err := ssh.NewCertSigner(cert, k.Signer)
	if err != nil {
		return nil, fmt.Errorf("using an ssh certificate: %w", err)
	}
	return &SSHKey{
		Private: k.Private,
		Public:  strings.TrimSpace(string(ssh.MarshalAuthorizedKey(cert))),
		Signer:  signer,
		private: k.private,
	}, nil
}

// KnownHost returns a known_hosts line for the key at addr ("host:port").
func (k *SSHKey) KnownHost(addr string) string {
	return knownhosts.Line([]string{addr}, k.Signer.PublicKey())
}

// HashedKnownHost is KnownHost with the host's name hashed.
func (k *SSHKey) HashedKnownHost(addr string) string {
	return knownhosts.HashHostname(knownhosts.Normalize(addr)) + " " + k.Public
}

// knownHosts returns a known_hosts file with all of keys.
func knownHosts(keys []*SSHKey, addr string) string {
	var text strings.Builder
	for _, key := range keys {
		text.WriteString(key.KnownHost(addr) + "\n")
	}
	return text.String()
}

// ClientKey returns the client key of that kind that the whole process shares:
// making an RSA key for each server would take longer than all else.
func ClientKey(kind string) (*SSHKey, error) {
	key, ok := clientKeys[kind]
	if !ok {
		return NewSSHKey(kind) // which says what kinds there are
	}
	return key()
}

var clientKeys = map[string]func() (*SSHKey, error){
	Ed25519: sync.OnceValues(func() (*SSHKey, error) { return NewSSHKey(Ed25519) }),
	ECDSA:   sync.OnceValues(func() (*SSHKey, error) { return NewSSHKey(ECDSA) }),
	RSA:     sync.OnceValues(func() (*SSHKey, error) { return NewSSHKey(RSA) }),
}
