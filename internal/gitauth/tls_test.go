package gitauth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"fmt"
	"log/slog"
	"math/big"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// testCA is a certificate authority.
type testCA struct {
	cert *x509.Certificate
	key  *ecdsa.PrivateKey
	pem  string
}

func pemOf(kind string, der []byte) string {
	return string(pem.EncodeToMemory(&pem.Block{Type: kind, Bytes: der}))
}

func newECKey(t testing.TB) *ecdsa.PrivateKey {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	return key
}

func newTestCA(t testing.TB) testCA {
	t.Helper()
	key := newECKey(t)
	der := signCert(t, &x509.Certificate{Subject: pkix.Name{CommonName: "test CA"}, IsCA: true, BasicConstraintsValid: true,
		KeyUsage: x509.KeyUsageCertSign}, nil, key, key)
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	return testCA{cert, key, pemOf("CERTIFICATE", der)}
}

func signCert(t testing.TB, c, parent *x509.Certificate, key, by *ecdsa.PrivateKey) []byte {
	t.Helper()
	serial, _ := rand.Int(rand.Reader, big.NewInt(1<<62))
	c.SerialNumber, c.NotBefore, c.NotAfter = serial, time.Now().Add(-time.Hour), time.Now().Add(time.Hour)
	if parent == nil {
		parent = c
	}
	der, err := x509.CreateCertificate(rand.Reader, c, parent, &key.PublicKey, by)
	if err != nil {
		t.Fatal(err)
	}
	return der
}

// issue returns a certificate for 127.0.0.1 with its key, both in PEM.
func (ca testCA) issue(t testing.TB) (cert, key string) {
	t.Helper()
	private := newECKey(t)
	der := signCert(t, &x509.Certificate{Subject: pkix.Name{CommonName: "leaf"}, IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)},
		ExtKeyUsage: []x509.ExtKeyUsage{x509.ExtKeyUsageServerAuth, x509.ExtKeyUsageClientAuth}}, ca.cert, private, ca.key)
	pkcs8, err := x509.MarshalPKCS8PrivateKey(private)
	if err != nil {
		t.Fatal(err)
	}
	return pemOf("CERTIFICATE", der), pemOf("PRIVATE KEY", pkcs8)
}

// serveTLS answers with the client certificate's name. It wants one when mutual.
func serveTLS(t testing.TB, ca testCA, mutual bool) (url, leaf string) {
	t.Helper()
	cert, key := ca.issue(t)
	pair, err := tls.X509KeyPair([]byte(cert), []byte(key))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.TLS.PeerCertificates) > 0 {
			fmt.Fprint(w, r.TLS.PeerCertificates[0].Subject.CommonName)
		}
	}))
	server.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
	if mutual {
		server.TLS.ClientCAs = x509.NewCertPool()
		server.TLS.ClientCAs.AddCert(ca.cert)
		server.TLS.ClientAuth = tls.RequireAndVerifyClientCert
	}
	server.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0) // refused handshakes are what is tested
	server.StartTLS()
	t.Cleanup(server.Close)
	return server.URL + "/r.git", cert
}

// get makes one request with the TLS material of a.
func get(t testing.TB, url string, a *Auth) error {
	t.Helper()
	config := &tls.Config{}
	if a.TLS != nil {
		config.RootCAs, config.Certificates = a.TLS.Roots, a.TLS.Certificates
	}
	client := http.Client{Transport: &http.Transport{TLSClientConfig: config, DisableKeepAlives: true}}
	resp, err := client.Get(url)
	if err == nil {
		err = resp.Body.Close()
	}
	return err
}

func TestTLSRoots(t *testing.T) {
	ca, other := newTestCA(t), newTestCA(t)
	url, leaf := serveTLS(t, ca, false)
	crlf := strings.ReplaceAll(ca.pem, "\n", "\r\n")
	for name, tc := range map[string]struct {
		secret map[string]string
		good   bool
	}{
		"the authority":          {map[string]string{"ca.crt": ca.pem}, true},
		"under its older name":   {map[string]string{"caFile": ca.pem}, true},
		"with CRLF":              {map[string]string{"ca.crt": crlf}, true},
		"with a byte order mark": {map[string]string{"ca.crt": "\ufeff" + ca.pem}, true},
		"without final newline":  {map[string]string{"ca.crt": strings.TrimSpace(ca.pem)}, true},
		"with comments":          {map[string]string{"ca.crt": "# our CA\n" + ca.pem + "\nthe end\n"}, true},
		"second of two":          {map[string]string{"ca.crt": other.pem + ca.pem}, true},
		"the server's own":       {map[string]string{"ca.crt": leaf}, true},
		"with a password":        {map[string]string{"ca.crt": ca.pem, "username": "me", "password": "p"}, true},
		"another authority":      {map[string]string{"ca.crt": other.pem}, false},
		"empty":                  {map[string]string{"ca.crt": ""}, false},
		"none":                   {map[string]string{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			err := get(t, url, mustAuth(t, url, tc.secret))
			if (err == nil) != tc.good {
				t.Errorf("request: %v, want good %t", err, tc.good)
			}
		})
	}
}

func TestTLSSystemRootsStay(t *testing.T) {
	system, err := x509.SystemCertPool()
	if err != nil {
		t.Fatal(err)
	}
	ca := newTestCA(t)
	system.AddCert(ca.cert)
	a := mustAuth(t, "https://git.example.com/r", map[string]string{"ca.crt": ca.pem})
	if !a.TLS.Roots.Equal(system) {
		t.Error("ca.crt does not add to the system's authorities, as it does for Flux")
	}
}

func TestTLSClientCertificate(t *testing.T) {
	ca := newTestCA(t)
	url, _ := serveTLS(t, ca, true)
	cert, key := ca.issue(t)
	for name, secret := range map[string]map[string]string{
		"the pair":   {"ca.crt": ca.pem, "tls.crt": cert, "tls.key": key},
		"with chain": {"ca.crt": ca.pem, "tls.crt": cert + ca.pem, "tls.key": key},
		"with CRLF":  {"ca.crt": ca.pem, "tls.crt": strings.ReplaceAll(cert, "\n", "\r\n"), "tls.key": strings.ReplaceAll(key, "\n", "\r\n")},
		"with basic": {"ca.crt": ca.pem, "tls.crt": cert, "tls.key": key, "username": "me", "password": "p"},
		"and bearer": {"ca.crt": ca.pem, "tls.crt": cert, "tls.key": key, "bearerToken": "t"},
	} {
		if err := get(t, url, mustAuth(t, url, secret)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := get(t, url, mustAuth(t, url, map[string]string{"ca.crt": ca.pem})); err == nil {
		t.Error("the server accepts a client without a certificate: the test shows nothing")
	}
}

func TestTLSRefused(t *testing.T) {
	ca := newTestCA(t)
	cert, key := ca.issue(t)
	_, otherKey := ca.issue(t)
	encrypted := keygen(t, "rsa pkcs8 secret", "-t", "rsa", "-b", "2048", "-m", "PKCS8", "-N", "secret").private
	legacy := "-----BEGIN RSA PRIVATE KEY-----\nProc-Type: 4,ENCRYPTED\nDEK-Info: AES-128-CBC,00112233445566778899AABBCCDDEEFF\n\nAAAA\n-----END RSA PRIVATE KEY-----\n"
	indented := "  " + strings.ReplaceAll(ca.pem, "\n", "\n  ")
	oneLine := strings.ReplaceAll(ca.pem, "\n", " ")
	cut := ca.pem[:len(ca.pem)/2]
	for name, tc := range map[string]struct {
		secret map[string]string
		want   []string
	}{
		"junk":                 {map[string]string{"ca.crt": "hunter22"}, []string{"ca.crt: no certificate found"}},
		"a path":               {map[string]string{"ca.crt": "/etc/ssl/hunter22.pem\n"}, []string{"ca.crt: no certificate found: it looks like the path", `file("…")`}},
		"a path, tls.crt":      {map[string]string{"tls.crt": "./hunter22.crt", "tls.key": key}, []string{"tls.crt: no certificate found: it looks like the path"}},
		"a path, tls.key":      {map[string]string{"tls.crt": cert, "tls.key": "~/hunter22.key"}, []string{"tls.key: no private key found: it looks like the path"}},
		"junk, older name":     {map[string]string{"caFile": "hunter22"}, []string{"caFile: no certificate found"}},
		"a key":                {map[string]string{"ca.crt": key}, []string{"ca.crt: no certificate found"}},
		"indented":             {map[string]string{"ca.crt": indented}, []string{"ca.crt: no certificate found: lines are indented", "<<-EOT"}},
		"on one line":          {map[string]string{"ca.crt": oneLine}, []string{"line breaks are missing"}},
		"escaped":              {map[string]string{"ca.crt": strings.ReplaceAll(ca.pem, "\n", `\n`)}, []string{`written as \n`}},
		"base64":               {map[string]string{"ca.crt": base64Of(ca.pem)}, []string{"base64-encoded", "base64decode"}},
		"cut":                  {map[string]string{"ca.crt": cut}, []string{"the end is missing"}},
		"second one cut":       {map[string]string{"ca.crt": ca.pem + cut}, []string{"only 1 of 2 certificates"}},
		"not DER":              {map[string]string{"ca.crt": pemOf("CERTIFICATE", []byte("hunter22"))}, []string{"ca.crt: certificate 1 cannot be read"}},
		"mismatch":             {map[string]string{"tls.crt": cert, "tls.key": otherKey}, []string{"tls.crt and tls.key do not belong together"}},
		"encrypted key":        {map[string]string{"tls.crt": cert, "tls.key": encrypted}, []string{"tls.key: the private key is encrypted"}},
		"encrypted key, PEM":   {map[string]string{"tls.crt": cert, "tls.key": legacy}, []string{"tls.key: the private key is encrypted"}},
		"junk key":             {map[string]string{"tls.crt": cert, "tls.key": "hunter22"}, []string{"tls.key: no private key found"}},
		"certificate as key":   {map[string]string{"tls.crt": cert, "tls.key": cert}, []string{"tls.key: no private key found"}},
		"key is not DER":       {map[string]string{"tls.crt": cert, "tls.key": pemOf("PRIVATE KEY", []byte("hunter22"))}, []string{"tls.key: the private key cannot be read"}},
		"junk certificate":     {map[string]string{"tls.crt": "hunter22", "tls.key": key}, []string{"tls.crt: no certificate found"}},
		"key and cert swapped": {map[string]string{"tls.crt": key, "tls.key": cert}, []string{"tls.crt: no certificate found"}},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := authFor(t, "https://git.example.com/r", tc.secret)
			wantFault(t, err, fault.Credentials, append(tc.want, "credentials[0]")...)
			if strings.Contains(err.Error(), "hunter22") {
				t.Errorf("error shows the value: %v", err)
			}
		})
	}
}
