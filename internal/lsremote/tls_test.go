package lsremote

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// newCA makes an authority.
func newCA(t *testing.T) *gittest.CA {
	t.Helper()
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

// Field case 37: the right authority, or none, or another; and no bleeding
// from one set of credentials to another.
func TestTLSAuthorities(t *testing.T) {
	root := gittest.Repos(t)
	for _, http2 := range []bool{false, true} {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{HTTP2: http2}})
		c := newTestClient(t, Config{})
		r := mustParse(t, s.URL+"/a.git")
		readWith := func(secret map[string]string) error {
			_, err := c.Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("HEAD"))
			return err
		}
		for range 2 {
			if err := readWith(map[string]string{"ca.crt": s.CA.PEM}); err != nil {
				t.Fatal(err)
			}
			for name, secret := range map[string]map[string]string{"none": nil, "another": {"ca.crt": newCA(t).PEM}} {
				e := wantFault(t, readWith(secret), fault.TLS)
				if wantText(t, e, "authority that is not trusted", "ca.crt"); !e.HostWide || e.Transient || e.Phase != fault.PhaseTLS {
					t.Errorf("%s: got %+v", name, *e)
				}
			}
		}
		want := "HTTP/1.1"
		if http2 {
			want = "HTTP/2.0"
		}
		if got := s.Requests()[0].Proto; got != want || s.Connections() < 2 {
			t.Errorf("spoke %s on %d connections", got, s.Connections())
		}
	}
}

// Two credentials on one host have connections of their own, or HTTP/2 would
// let one speak on the other's; the same credentials share them.
func TestTLSConnectionsPerCredentials(t *testing.T) {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{TLS: &gittest.TLSOptions{HTTP2: true}})
	c := newTestClient(t, Config{})
	r := mustParse(t, s.URL+"/a.git")
	for i, want := range []int{1, 1, 2, 2} {
		secret := map[string]string{"ca.crt": s.CA.PEM, "username": "me", "password": fmt.Sprint("password", i/2)}
		if _, err := c.Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("HEAD")); err != nil {
			t.Fatal(err)
		}
		if got := s.Connections(); got != want {
			t.Errorf("reading %d: %d connections, want %d", i, got, want)
		}
	}
}

func TestTLSBadCertificates(t *testing.T) {
	root := t.TempDir()
	ca := newCA(t)
	for name, c := range map[string]struct {
		cert  gittest.CertOptions
		parts []string
	}{
		"expired":    {gittest.CertOptions{NotBefore: time.Now().Add(-2 * time.Hour), NotAfter: time.Now().Add(-time.Hour)}, []string{"is not valid", "expired", "clock"}},
		"wrong host": {gittest.CertOptions{Hosts: []string{"other.example.com"}}, []string{"is for another name"}},
	} {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca, Cert: c.cert}})
		r := mustParse(t, s.URL+"/a.git")
		_, err := newTestClient(t, Config{}).Read(t.Context(), r, authFor(t, r, s.URL, map[string]string{"ca.crt": ca.PEM}), refs("HEAD"))
		e := wantFault(t, err, fault.TLS)
		if wantText(t, err, c.parts...); !e.HostWide {
			t.Errorf("%s: got %+v", name, *e)
		}
	}
}

// Field case 38.
func TestTLSClientCertificate(t *testing.T) {
	root := gittest.Repos(t)
	ca := newCA(t)
	for _, http2 := range []bool{false, true} {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca, ClientCert: true, HTTP2: http2}})
		good, err := ca.Issue(gittest.CertOptions{Client: true})
		if err != nil {
			t.Fatal(err)
		}
		bad, err := newCA(t).Issue(gittest.CertOptions{Client: true})
		if err != nil {
			t.Fatal(err)
		}
		r := mustParse(t, s.URL+"/a.git")
		c := newTestClient(t, Config{})
		for name, secret := range map[string]map[string]string{
			"good": {"ca.crt": ca.PEM, "tls.crt": good.Chain, "tls.key": good.Key},
			"bad":  {"ca.crt": ca.PEM, "tls.crt": bad.Chain, "tls.key": bad.Key},
			"none": {"ca.crt": ca.PEM},
		} {
			_, err := c.Read(t.Context(), r, authFor(t, r, s.URL, secret), refs("HEAD"))
			if name == "good" {
				if err != nil {
					t.Errorf("%s: %v", name, err)
				}
				continue
			}
			wantText(t, wantFault(t, err, fault.TLS), "refused the TLS connection", "tls.crt and tls.key")
		}
	}
}

// A handshake that breaks off may succeed the next time; one that finds nothing
// in common will not.
func TestTLSHandshakeFails(t *testing.T) {
	dropped := gittest.ServeTCP(t, gittest.Conversation(awaitRequest, gittest.Reset))
	_, err := read(t, newTestClient(t, Config{}), "https://"+dropped.Addr()+"/a.git", refs("HEAD"))
	if e := wantFault(t, err, fault.Unavailable); e.Phase != fault.PhaseTLS || !e.Transient || !e.HostWide {
		t.Errorf("got %+v", *e)
	}
	// A ServerHello of TLS 1.0.
	old := gittest.ServeTCP(t, gittest.Conversation(awaitRequest, gittest.Send([]byte("\x16\x03\x01\x00\x2a\x02\x00\x00\x26\x03\x01"+
		strings.Repeat("r", 32)+"\x00\xc0\x13\x00")), gittest.Hang))
	_, err = read(t, newTestClient(t, Config{}), "https://"+old.Addr()+"/a.git", refs("HEAD"))
	if e := wantFault(t, err, fault.TLS); e.Transient || !e.HostWide {
		t.Errorf("got %+v", *e)
	}
	wantText(t, err, "the TLS handshake with "+old.Addr()+" failed")
	// Or an alert.
	refuses := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: &gittest.TLSOptions{MaxVersion: tls.VersionTLS11}})
	_, err = read(t, newTestClient(t, Config{}), refuses.URL+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.TLS), "protocol version not supported", "no TLS 1.2 or later")
}

// What is wrong with a certificate decides what to do about it.
func TestTLSInvalidCertificates(t *testing.T) {
	for reason, want := range map[x509.InvalidReason]string{x509.Expired: "clock of this machine", x509.IncompatibleUsage: "issued anew, for a server"} {
		err := tlsError(t.Context(), "git.example.com:443", x509.CertificateInvalidError{Reason: reason})
		wantText(t, err, "is not valid", want)
	}
}

// The wrong scheme for the port, both ways.
func TestTLSWrongScheme(t *testing.T) {
	plain := gittest.ServeHTTP(t, t.TempDir(), gittest.HTTPOptions{})
	_, err := read(t, newTestClient(t, Config{}), "https://"+plain.Addr()+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.TLS), "does not speak TLS")

	ssh := gittest.ServeTCP(t, gittest.Conversation(gittest.Send([]byte("SSH-2.0-x\r\n")), gittest.Hang))
	_, err = read(t, newTestClient(t, Config{}), "http://"+ssh.Addr()+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.NotGit), "does not speak HTTP")
}

// Plain http on a port for https: what Go's server says, nginx's page, a TLS
// alert, and servers that just hang up.
func TestPlainHTTPToTLS(t *testing.T) {
	const hint = "does the URL want https://?"
	page := gittest.Status(400, "<html><title>400 The plain HTTP request was sent to HTTPS port</title>", "Content-Type", "text/html")
	for name, c := range map[string]struct {
		addr string
		kind fault.Kind
	}{
		"Go":    {gittest.ServeHTTP(t, t.TempDir(), gittest.HTTPOptions{TLS: &gittest.TLSOptions{}}).Addr(), fault.NotGit},
		"nginx": {gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: page}).Addr(), fault.NotGit},
		"alert": {gittest.ServeTCP(t, gittest.Conversation(awaitRequest, gittest.Send([]byte("\x15\x03\x01\x00\x02\x02\x46")))).Addr(), fault.NotGit},
		"reset": {gittest.ServeTCP(t, gittest.Conversation(awaitRequest, gittest.Reset)).Addr(), fault.Unavailable},
	} {
		_, err := read(t, newTestClient(t, Config{}), "http://"+c.addr+"/a.git", refs("HEAD"))
		if fault.KindOf(err) != c.kind || !strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, s := range map[string]*gittest.HTTP{
		"another 400": gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(400, "no such service")}),
		"https":       gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: page, TLS: &gittest.TLSOptions{CA: systemCA}}),
	} {
		_, err := read(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD"))
		if wantFault(t, err, fault.NotGit); strings.Contains(err.Error(), hint) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
