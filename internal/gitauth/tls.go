package gitauth

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"io"
	"strings"
)

// TLS is what a secret says about the TLS connection to a host.
type TLS struct {
	// Roots are the authorities to trust, nil for the system's. With ca.crt (or
	// caFile) they are the system's and that one: so do Flux and go-git. A
	// server's own certificate is accepted in the place of an authority.
	Roots *x509.CertPool
	// Certificates holds the client certificate with its key, or nothing.
	Certificates []tls.Certificate
}

// String says which parts there are.
func (t TLS) String() string {
	return fmt.Sprintf("gitauth.TLS{roots: %t, certificates: %d}", t.Roots != nil, len(t.Certificates))
}

// Format prints String under every verb, none of which may print a private key.
func (t TLS) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, t.String()) }

// MarshalText makes JSON, and a log in it, show String.
func (t TLS) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// parseTLS turns PEM texts into TLS material: a client certificate (with its
// chain) and its key, both or neither, and authorities from the secret key
// caKey. It returns nil when all are empty. Errors are problems.
func parseTLS(cert, key, caKey, ca string) (*TLS, error) {
	if cert == "" && key == "" && ca == "" {
		return nil, nil
	}
	var t TLS
	if ca != "" {
		roots, err := parseRoots(caKey, ca)
		if err != nil {
			return nil, err
		}
		t.Roots = roots
	}
	if cert != "" || key != "" {
		pair, err := parsePair(cert, key)
		if err != nil {
			return nil, err
		}
		t.Certificates = []tls.Certificate{pair}
	}
	return &t, nil
}

// parseRoots adds every certificate in text to the system's. One that cannot be
// read is an error: x509's AppendCertsFromPEM would skip it, and the run would
// fail later as "unknown authority".
func parseRoots(key, text string) (*x509.CertPool, error) {
	certs, err := parseCertificates(key, text)
	if err != nil {
		return nil, err
	}
	roots, err := x509.SystemCertPool()
	if err != nil {
		// No store on this system: the secret's authorities are then all there is.
		roots = x509.NewCertPool()
	}
	for _, cert := range certs {
		roots.AddCert(cert)
	}
	return roots, nil
}

func parseCertificates(key, text string) ([]*x509.Certificate, error) {
	text = normalize(text)
	var certs []*x509.Certificate
	for _, block := range pemBlocks(text) {
		if block.Type != "CERTIFICATE" {
			continue
		}
		cert, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			return nil, &problem{key: key, what: fmt.Sprintf("certificate %d cannot be read", len(certs)+1),
				advice: "Give PEM certificates as the authority issued them."}
		}
		certs = append(certs, cert)
	}
	if begun := strings.Count(text, "-----BEGIN CERTIFICATE-----"); len(certs) > 0 && len(certs) < begun {
		return nil, &problem{key: key, what: fmt.Sprintf("only %d of %d certificates can be read", len(certs), begun),
			advice: "Give PEM certificates as the authority issued them; one of these is cut off or damaged."}
	}
	if len(certs) == 0 {
		what, advice := pemDamage(text)
		if what == "" {
			what, advice = "it is not a PEM certificate", "Give the text that begins with -----BEGIN CERTIFICATE-----."
		}
		return nil, &problem{key: key, what: "no certificate found: " + what, advice: advice}
	}
	return certs, nil
}

// parsePair reads a client certificate and the key that belongs to it.
func parsePair(cert, key string) (tls.Certificate, error) {
	if _, err := parseCertificates(keyTLSCert, cert); err != nil {
		return tls.Certificate{}, err
	}
	key = normalize(key)
	if err := checkTLSKey(key); err != nil {
		return tls.Certificate{}, err
	}
	pair, err := tls.X509KeyPair([]byte(normalize(cert)), []byte(key))
	if err == nil {
		return pair, nil
	}
	if strings.Contains(err.Error(), "does not match") {
		return tls.Certificate{}, &problem{what: "tls.crt and tls.key do not belong together",
			advice: "Give the key that the first certificate in tls.crt was issued for."}
	}
	return tls.Certificate{}, &problem{key: keyTLSKey, what: "the private key cannot be read",
		advice: "Give an unencrypted PEM key (PKCS#8, PKCS#1 or SEC 1)."}
}

// checkTLSKey finds what keeps a normalized PEM key from being read.
func checkTLSKey(key string) error {
	for _, block := range pemBlocks(key) {
		switch {
		case block.Type == "ENCRYPTED PRIVATE KEY", block.Headers["DEK-Info"] != "":
			return &problem{key: keyTLSKey, what: "the private key is encrypted",
				advice: "Flux cannot use an encrypted one either: give it decrypted, for example by `openssl pkey -in client.key`."}
		case strings.HasSuffix(block.Type, "PRIVATE KEY"):
			return nil
		}
	}
	what, advice := pemDamage(key)
	if what == "" {
		what, advice = "it is not a PEM key", "Give the text that begins with -----BEGIN PRIVATE KEY----- or similar."
	}
	return &problem{key: keyTLSKey, what: "no private key found: " + what, advice: advice}
}
