package lsremote

import (
	"crypto/tls"
	"net/http"
	"sync"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
)

// maxHeader bounds the header of an answer, in bytes.
const maxHeader = 128 << 10

// readBuffer is what each connection of HTTP/1.1 reads at a time, in bytes.
const readBuffer = 16 << 10

// transports keeps one http.Transport for each set of credentials, so that no
// connection, TLS session or trusted authority is ever shared between two of
// them. Each keeps its connections to all hosts.
type transports struct {
	dial    dialFunc
	perHost int

	mu  sync.Mutex
	all map[string]*http.Transport // by gitauth.Auth.ID
}

// of returns the transport for a.
func (t *transports) of(a *gitauth.Auth) *http.Transport {
	t.mu.Lock()
	defer t.mu.Unlock()
	if known, ok := t.all[a.ID]; ok {
		return known
	}
	made := t.newTransport(a.TLS)
	t.all[a.ID] = made
	return made
}

// anonymous has no credentials and trusts what the system trusts.
var anonymous = &gitauth.Auth{Source: "no credentials"}

func (t *transports) newTransport(material *gitauth.TLS) *http.Transport {
	config := &tls.Config{
		MinVersion: tls.VersionTLS12,
		NextProtos: []string{"h2", "http/1.1"},
		// The second connection to a host saves the key exchange.
		ClientSessionCache: tls.NewLRUClientSessionCache(0),
	}
	if material != nil {
		config.RootCAs, config.Certificates = material.Roots, material.Certificates
	}
	c := &connector{dial: t.dial, tls: config}
	return &http.Transport{
		DialContext:    c.plain,
		DialTLSContext: c.secure,
		Proxy:          forwardProxy,
		// A dial function of one's own turns HTTP/2 off otherwise.
		ForceAttemptHTTP2: true,
		// Go keeps two, and would open the others anew for each reading.
		MaxIdleConnsPerHost: t.perHost,
		IdleConnTimeout:     90 * time.Second,
		// The bound on an answer must count what comes out of the
		// decompression, so that is done by us.
		DisableCompression:     true,
		MaxResponseHeaderBytes: maxHeader,
		// Go's 4 KiB are less than a chunk that a server sends.
		ReadBufferSize: readBuffer,
		// A connection whose peer is gone without a word must not hold up one
		// reading after the other.
		HTTP2: &http.HTTP2Config{SendPingTimeout: 15 * time.Second, PingTimeout: 15 * time.Second},
	}
}

// close drops all connections that are kept.
func (t *transports) close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, each := range t.all {
		each.CloseIdleConnections()
	}
}
