package gittest

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"math/big"
	"net"
	"time"
)

// CA is a certificate authority that lives in memory.
type CA struct {
	PEM string // its certificate

	cert   *x509.Certificate
	key    *ecdsa.PrivateKey
	parent *CA // nil for a root
}

// Cert is a certificate with its key, as PEM.
type Cert struct {
	Leaf  string // the certificate alone
	Chain string // the certificate and then the intermediate ones, if any
	Key   string // PKCS#8
}

// CertOptions says what Issue puts into a certificate. The zero value is a
// server certificate for loopback and localhost, good for a day on both sides
// of now.
type CertOptions struct {
	Name      string   // common name; default "gittest"
	Hosts     []string // DNS names and IP addresses; default 127.0.0.1, ::1, localhost
	Client    bool     // a client certificate, without hosts
	NotBefore time.Time
	NotAfter  time.Time
}

// NewCA makes a root.
func NewCA() (*CA, error) {
	return newCA("gittest root", nil)
}

// Intermediate makes a CA whose certificate ca has signed.
func (ca *CA) Intermediate() (*CA, error) {
	return newCA("gittest intermediate", ca)
}

func newCA(name string, parent *CA) (*CA, error) {
	template := &x509.Certificate{
		Subject:               pkix.Name{CommonName: name},
		IsCA:                  true,
		BasicConstraintsValid: true,
		KeyUsage:              x509.KeyUsageCertSign,
	}
	cert, key, err := sign(template, parent)
	if err != nil {
		return nil, fmt.Errorf("making the CA %q: %w", name, err)
	}
	return &CA{PEM: certPEM(cert.Raw), cert: cert, key: key, parent: parent}, nil
}

// Issue makes a certificate with a key of its own.
func (ca *CA) Issue(o CertOptions) (Cert, error) {
	template := &x509.Certificate{
		Subject:     pkix.Name{CommonName: o.Name},
		KeyUsage:    x509.KeyUsageDigitalSignature,
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth},
		NotBefore:   o.NotBefore,
		NotAfter:    o.NotAfter,
	}
	if o.Name == "" {
		template.Subject.CommonName = "gittest"
	}
	if o.Client {
		template.ExtKeyUsage = []x509.ExtKeyUsage{x509.ExtKeyUsageClientAuth}
	} else {
		hosts := o.Hosts
		if hosts == nil {
			hosts = []string{"127.0.0.1", "::1", "localhost"}
		}
		for _, host := range hosts {
			if ip := net.ParseIP(host); ip != nil {
				template.IPAddresses = append(template.IPAddresses, ip)
			} else {
				template.DNSNames = append(template.DNSNames, host)
			}
		}
	}
	cert, key, err := sign(template, ca)
	if err != nil {
		return Cert{}, fmt.Errorf("issuing a certificate: %w", err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		return Cert{}, fmt.Errorf("issuing a certificate: %w", err)
	}
	leaf := certPEM(cert.Raw)
	chain := leaf
	for c := ca; c.parent != nil; c = c.parent {
		chain += c.PEM
	}
	return Cert{
		Leaf:  leaf,
		Chain: chain,
		Key:   string(pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: der})),
	}, nil
}

// TLS returns the certificate with its chain as crypto/tls wants it.
func (c Cert) TLS() (tls.Certificate, error) {
	return tls.X509KeyPair([]byte(c.Chain), []byte(c.Key))
}

// sign fills in what every certificate has and signs it by parent, or by
// itself where parent is nil.
func sign(template *x509.Certificate, parent *CA) (*x509.Certificate, *ecdsa.PrivateKey, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, nil, err
	}
	if template.SerialNumber, err = rand.Int(rand.Reader, new(big.Int).Lsh(big.NewInt(1), 120)); err != nil {
		return nil, nil, err
	}
	if template.NotBefore.IsZero() {
		template.NotBefore = time.Now().Add(-24 * time.Hour)
	}
	if template.NotAfter.IsZero() {
		template.NotAfter = time.Now().Add(24 * time.Hour)
	}
	issuer, issuerKey := template, key
	if parent != nil {
		issuer, issuerKey = parent.cert, parent.key
	}
	der, err := x509.CreateCertificate(rand.Reader, template, issuer, &key.PublicKey, issuerKey)
	if err != nil {
		return nil, nil, err
	}
	cert, err := x509.ParseCertificate(der)
	return cert, key, err
}

func certPEM(der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}
