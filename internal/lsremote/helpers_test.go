package lsremote

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// systemCA is an authority that the system trusts in these tests.
var systemCA *gittest.CA

// TestMain takes what would change the results out of the environment, and
// fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	gittest.CleanEnvironment()
	log.SetOutput(io.Discard) // net/http complains there about servers that speak out of turn
	var err error
	if systemCA, err = gittest.TrustedCA(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	gittest.RunWithTrustedCA(m)
}

// Ids as they appear in made-up answers.
var (
	idA    = strings.Repeat("a", 40)
	idB    = strings.Repeat("b", 40)
	idC    = strings.Repeat("c", 40)
	idZero = strings.Repeat("0", 40)
	long   = strings.Repeat("d", 64)
)

// guard is far above what any test needs, and below the limit of go test.
const guard = 60 * time.Second

// log collects log entries.
type entries struct {
	mu  sync.Mutex
	all []LogEntry
}

func (l *entries) add(_ context.Context, e LogEntry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.all = append(l.all, e)
}

// last returns the only entry since the last call, and fails if there is not
// exactly one.
func (l *entries) last(t *testing.T) LogEntry {
	t.Helper()
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.all) != 1 {
		t.Fatalf("%d log entries for one reading: %+v", len(l.all), l.all)
	}
	e := l.all[0]
	l.all = nil
	return e
}

// newTestClient returns a client that is closed with the test. Without other
// settings it makes one attempt only.
func newTestClient(t testing.TB, c Config) *Client {
	t.Helper()
	if c.Retry.MaxAttempts == 0 {
		c.Retry.MaxAttempts = 1
	}
	if c.Timeout == 0 {
		c.Timeout = guard
	}
	client, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Errorf("closing the client: %v", err)
		}
	})
	return client
}

func mustParse(t testing.TB, url string) giturl.Remote {
	t.Helper()
	r, err := giturl.Parse(url)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// authFor returns what a keychain with one entry gives for the remote. A nil
// secret is no entry.
func authFor(t testing.TB, r giturl.Remote, prefix string, secret map[string]string) *gitauth.Auth {
	t.Helper()
	var list []gitauth.Entry
	if secret != nil {
		list = append(list, gitauth.Entry{URL: prefix, Secret: secret, AllowHTTP: true})
	}
	chain, err := gitauth.NewKeychain(list, gitauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	a, err := chain.For(r)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// read reads without credentials.
func read(t testing.TB, c *Client, url string, q Query) (*Advertisement, error) {
	t.Helper()
	r := mustParse(t, url)
	return c.Read(t.Context(), r, authFor(t, r, "", nil), q)
}

// mustRead is read for what must succeed.
func mustRead(t testing.TB, c *Client, url string, q Query) *Advertisement {
	t.Helper()
	a, err := read(t, c, url, q)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// wantFault fails unless err is a complete *fault.Error of the kind, and
// returns it.
func wantFault(t testing.TB, err error, kind fault.Kind) *fault.Error {
	t.Helper()
	e, ok := err.(*fault.Error)
	if !ok {
		t.Fatalf("got %T %v, want a *fault.Error of kind %s", err, err, kind)
	}
	if e.Kind != kind {
		t.Fatalf("kind %q, want %q: %v", e.Kind, kind, e)
	}
	if e.Asked == "" || e.Happened == "" || e.Kind != fault.Canceled && e.Advice == "" {
		t.Fatalf("an incomplete error: %#v", e)
	}
	return e
}

// wantText fails unless the error says each of parts.
func wantText(t testing.TB, err error, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("the error does not say %q: %v", part, err)
		}
	}
}

func refs(names ...string) Query   { return Query{Refs: names} }
func prefix(names ...string) Query { return Query{Prefixes: names} }
func pkts(lines ...string) []byte  { return gittest.PktLines(lines...) }
func join(parts ...[]byte) []byte  { return bytes.Join(parts, nil) }
func packets(b []byte) *pktReader  { return newPktReader(bytes.NewReader(b), 1<<20) }
func slowly(b []byte) io.Reader    { return &oneByte{b} }

// oneByte returns its bytes one at a time.
type oneByte struct{ b []byte }

func (o *oneByte) Read(b []byte) (int, error) {
	if len(o.b) == 0 {
		return 0, io.EOF
	}
	n := copy(b, o.b[:1])
	o.b = o.b[n:]
	return n, nil
}

func gzipped(t *testing.T, b []byte) []byte {
	t.Helper()
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if _, err := z.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}
