package field

import (
	"crypto/tls"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

func newCA(t *testing.T) *gittest.CA {
	t.Helper()
	ca, err := gittest.NewCA()
	if err != nil {
		t.Fatal(err)
	}
	return ca
}

func issue(t *testing.T, ca *gittest.CA, o gittest.CertOptions) gittest.Cert {
	t.Helper()
	cert, err := ca.Issue(o)
	if err != nil {
		t.Fatal(err)
	}
	return cert
}

// authorities: a private CA in the forms in which people give it.
func authorities(t *testing.T) []row {
	root, ca := gittest.Repos(t), newCA(t)
	leaf := issue(t, ca, gittest.CertOptions{})
	serve := func(o gittest.TLSOptions) *gittest.HTTP {
		return gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: user, Password: password, TLS: &o})
	}
	s := serve(gittest.TLSOptions{CA: ca, Pair: &leaf})
	trusting := func(what string, s *gittest.HTTP, kind fault.Kind, ca string, says ...string) row {
		return row{id: 37, what: what, url: s.URL + "/a.git", secret: with(basicSecret, "ca.crt", ca), kind: kind, says: says}
	}
	middle, err := ca.Intermediate()
	if err != nil {
		t.Fatal(err)
	}
	endOfChain := issue(t, middle, gittest.CertOptions{})
	endOfChain.Chain = endOfChain.Leaf
	crlf := strings.ReplaceAll(ca.PEM, "\n", "\r\n")
	old := serve(gittest.TLSOptions{CA: ca, Cert: gittest.CertOptions{NotBefore: time.Now().Add(-48 * time.Hour), NotAfter: time.Now().Add(-24 * time.Hour)}})
	other := serve(gittest.TLSOptions{CA: ca, Cert: gittest.CertOptions{Hosts: []string{"other.example.com"}}})
	noBleed := row{id: 37, what: "with the CA, then without, one host", url: s.URL + "/a.git", kind: fault.TLS, says: []string{"not trusted"}, alone: true}
	noBleed.ours = func(t *testing.T, _ *stack) (gitpoll.Observation, error) {
		both, err := newStack(t, noBleed.config, []gitauth.Entry{{URL: s.URL + "/a.git", Secret: with(basicSecret, "ca.crt", ca.PEM)}, {URL: s.URL, Secret: basicSecret}}, gitauth.Options{})
		if err != nil {
			return gitpoll.Observation{}, err
		}
		if _, err := both.Observe(t.Context(), branchMain(s.URL+"/a.git"), reading.Want{}, true); err != nil {
			t.Errorf("with the CA: %v", err)
		}
		return both.Observe(t.Context(), branchMain(s.URL+"/s.git"), reading.Want{}, true)
	}
	return []row{
		trusting("the right ca.crt and a password", s, "", ca.PEM),
		trusting("CRLF", s, "", crlf),
		trusting("a byte order mark", s, "", "\ufeff"+ca.PEM),
		trusting("the server's own leaf", s, "", leaf.Leaf),
		{id: 37, what: "caFile, the older name", url: s.URL + "/a.git", secret: with(basicSecret, "caFile", ca.PEM)},
		trusting("a chain, root trusted", serve(gittest.TLSOptions{CA: middle}), "", ca.PEM),
		trusting("HTTP/2", serve(gittest.TLSOptions{CA: ca, HTTP2: true}), "", ca.PEM),
		trusting("an intermediate trusted, the host sends its leaf only", serve(gittest.TLSOptions{CA: middle, Pair: &endOfChain}), "", middle.PEM),
		trusting("the root trusted, the host sends its leaf only", serve(gittest.TLSOptions{CA: middle, Pair: &endOfChain}), fault.TLS, ca.PEM, "not trusted", "certificates between"),
		trusting("TLS 1.2 at most", serve(gittest.TLSOptions{CA: ca, MaxVersion: tls.VersionTLS12}), "", ca.PEM),
		trusting("TLS 1.1 at most", serve(gittest.TLSOptions{CA: ca, MaxVersion: tls.VersionTLS11}), fault.TLS, ca.PEM, "no TLS 1.2 or later"),
		trusting("another CA", s, fault.TLS, newCA(t).PEM, "not trusted"),
		trusting("junk", s, fault.Credentials, "junk", "ca.crt: no certificate found"),
		trusting("one line", s, fault.Credentials, strings.ReplaceAll(strings.TrimSpace(ca.PEM), "\n", " "), "ca.crt"),
		trusting("base64 of a Kubernetes Secret", s, fault.Credentials, "LS0tLS1CRUdJTiBDRVJUSUZJQ0FURS0tLS0t", "base64decode"),
		trusting("empty: as absent", s, fault.TLS, "", "not trusted", "ca.crt"),
		trusting("expired", old, fault.TLS, ca.PEM, "expired"),
		trusting("another name", other, fault.TLS, ca.PEM, "another name"),
		noBleed,
	}
}

// clientCertificates: half a pair and a pair that does not match fail before
// any request.
func clientCertificates(t *testing.T) []row {
	root, ca := gittest.Repos(t), newCA(t)
	s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: user, Password: password, TLS: &gittest.TLSOptions{CA: ca, ClientCert: true}})
	only := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca, ClientCert: true, HTTP2: true}})
	middle, err := ca.Intermediate()
	if err != nil {
		t.Fatal(err)
	}
	client, chained, stranger := issue(t, ca, gittest.CertOptions{Client: true}), issue(t, middle, gittest.CertOptions{Client: true}), issue(t, newCA(t), gittest.CertOptions{Client: true})
	encrypted, err := client.EncryptedKey("passphrase")
	if err != nil {
		t.Fatal(err)
	}
	legacy, err := client.LegacyEncryptedKey("passphrase")
	if err != nil {
		t.Fatal(err)
	}
	showing := func(what string, s *gittest.HTTP, kind fault.Kind, secret map[string]string, cert, key string, says ...string) row {
		return row{id: 38, what: what, url: s.URL + "/a.git", secret: with(secret, "ca.crt", ca.PEM, "tls.crt", cert, "tls.key", key), kind: kind, says: says}
	}
	local := func(what string, kind fault.Kind, cert, key string, says ...string) row {
		own := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{CA: ca, ClientCert: true}})
		r := showing(what, own, kind, nil, cert, key, says...)
		r.check = func(t *testing.T) {
			if n := own.Connections(); n != 0 {
				t.Errorf("%d connections", n)
			}
		}
		return r
	}
	return []row{
		showing("both and Basic", s, "", basicSecret, client.Chain, client.Key),
		showing("both, nothing else, HTTP/2", only, "", nil, client.Chain, client.Key),
		showing("a chain in tls.crt", only, "", nil, chained.Chain, chained.Key),
		showing("CRLF", only, "", nil, strings.ReplaceAll(client.Chain, "\n", "\r\n"), strings.ReplaceAll(client.Key, "\n", "\r\n")),
		local("tls.crt only", fault.Input, client.Chain, "", "no tls.key"),
		local("tls.key only", fault.Input, "", client.Key, "no tls.crt"),
		local("a mismatched pair", fault.Credentials, client.Chain, stranger.Key, "do not belong together"),
		local("an encrypted key, PKCS#8", fault.Credentials, client.Chain, encrypted, "tls.key", "encrypted"),
		local("an encrypted key, old PEM", fault.Credentials, client.Chain, legacy, "tls.key", "encrypted"),
		showing("none", only, fault.TLS, nil, "", "", "tls.crt and tls.key"),
		showing("one of another CA", only, fault.TLS, nil, stranger.Chain, stranger.Key, "host trusts them"),
	}
}
