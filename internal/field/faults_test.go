package field

import (
	"bytes"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// access is how a fault server is reached.
type access struct {
	URL    string
	Secret map[string]string
}

// transports serve an answer to ls-refs, as whatever steps make it, each in its
// own way.
var transports = []struct {
	name  string
	serve func(t *testing.T, steps ...gittest.Step) access
}{
	{"http", func(t *testing.T, steps ...gittest.Step) access { return serveSteps(t, nil, steps) }},
	{"https, HTTP/2", func(t *testing.T, steps ...gittest.Step) access {
		return serveSteps(t, &gittest.TLSOptions{HTTP2: true}, steps)
	}},
	{"git", func(t *testing.T, steps ...gittest.Step) access {
		s := gittest.ServeTCP(t, gittest.Conversation(slices.Concat([]gittest.Step{gittest.ReadPacket}, beforeRefs(), steps)...))
		return access{URL: "git://" + s.Addr() + "/a.git"}
	}},
	{"ssh", func(t *testing.T, steps ...gittest.Step) access {
		key, err := gittest.ClientKey(gittest.Ed25519)
		if err != nil {
			t.Fatal(err)
		}
		s := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Steps: append(beforeRefs(), steps...)})
		return access{s.URL("a.git"), map[string]string{"identity": key.Private, "known_hosts": s.KnownHosts()}}
	}},
}

// serveSteps answers the POST over http; there is no GET to fall back to.
func serveSteps(t *testing.T, tls *gittest.TLSOptions, steps []gittest.Step) access {
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{TLS: tls, Handler: gittest.Instead(gittest.IsGet, gittest.Status(http.StatusNotFound, ""))(gittest.HTTPSteps(gittest.ResultType, steps...))})
	if tls == nil {
		return access{URL: s.URL + "/a.git"}
	}
	return access{s.URL + "/a.git", map[string]string{"ca.crt": s.CA.PEM}}
}

// beforeRefs is what comes before the answer on a stream.
func beforeRefs() []gittest.Step {
	return []gittest.Step{gittest.Send(gittest.PktLines("version 2", "ls-refs=unborn", "object-format=sha1")), gittest.ReadToFlush}
}

// observe reads main through the stack.
func (a access) observe(t *testing.T, c lsremote.Config) (string, error) {
	t.Helper()
	r := row{url: a.URL, secret: a.Secret, config: c}
	s, err := newStack(t, c, r.entries(), gitauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	o, err := s.Observe(t.Context(), branchMain(a.URL), reading.Want{}, false)
	return o.Commit, err
}

const someID = "1234567890123456789012345678901234567890"

// answers are what a server may say in place of, or beside, the wanted ref. No
// kind is a success; where HTTP has another, it is in http.
var answers = []struct {
	name       string
	steps      []gittest.Step
	kind, http fault.Kind
}{
	{"a good answer", send(gittest.PktLines(mainA + " refs/heads/main")), "", ""},
	{"prefixes ignored", send(gittest.PktLines(someID+" refs/heads/mai", mainA+" refs/heads/main", someID+" refs/heads/main2", someID+" refs/tags/main")), "", ""},
	{"no line feeds", send(gittest.Pkt(mainA+" refs/heads/main"), []byte(gittest.FlushPkt)), "", ""},
	{"unknown attributes", send(gittest.PktLines(mainA + " refs/heads/main future:thing peeled-later:x")), "", ""},
	{"a name that is not UTF-8 beside it", send(gittest.PktLines(someID+" refs/heads/\xff\xfe", mainA+" refs/heads/main")), "", ""},
	{"silence", []gittest.Step{gittest.Send(gittest.Pkt(mainA + " refs/heads/main\n")), forEver}, fault.Timeout, fault.Timeout},
	{"a slow drip", []gittest.Step{gittest.Drip(bytes.Repeat(gittest.Pkt(mainA+" refs/heads/main\n"), 50), 5*time.Millisecond)}, fault.Timeout, fault.Timeout},
	{"cut between packets", send(gittest.Pkt(mainA + " refs/heads/main\n")), fault.Protocol, fault.NotFound},
	{"cut in a packet", send(gittest.Pkt(mainA + " refs/heads/main\n")[:30]), fault.Protocol, fault.NotFound},
	{"length 0003", send([]byte("0003"), gittest.PktLines(mainA+" refs/heads/main")), fault.Protocol, fault.NotFound},
	{"length zzzz", send([]byte("zzzz"), gittest.PktLines(mainA+" refs/heads/main")), fault.Protocol, fault.NotFound},
	{"length fff1, too long", send([]byte("fff1"), bytes.Repeat([]byte("x"), 1<<16)), fault.Protocol, fault.NotFound},
	{"length -001", send([]byte("-001"), gittest.PktLines(mainA+" refs/heads/main")), fault.Protocol, fault.NotFound},
	{"ERR", send(gittest.PktLines("ERR upload-pack: internal error")), fault.Protocol, fault.NotFound},
	{"ERR, not found", send(gittest.PktLines("ERR no such repository")), fault.NotFound, fault.NotFound},
	{"a web page", send([]byte("<!DOCTYPE html><html>Sign in</html>")), fault.Protocol, fault.NotFound},
	{"ids of two formats", send(gittest.PktLines(someID+" HEAD", mainA+mainA[:24]+" refs/heads/main")), fault.Protocol, fault.NotFound},
	{"an id that is none", send(gittest.PktLines("g" + mainA[1:] + " refs/heads/main")), fault.Protocol, fault.NotFound},
	{"the zero id", send(gittest.PktLines(strings.Repeat("0", 40) + " refs/heads/main")), fault.Protocol, fault.NotFound},
	{"NUL in a name", send(gittest.PktLines(mainA + " refs/heads/main\x00x")), fault.Protocol, fault.NotFound},
	{"LF in a name: no ref, passed over", send(gittest.PktLines(someID+" refs/heads/\nmain", mainA+" refs/heads/main")), "", ""},
	{"the ref twice, two ids", send(gittest.PktLines(mainA+" refs/heads/main", someID+" refs/heads/main")), fault.Protocol, fault.NotFound},
	{"a line of 65516 bytes", send(gittest.Pkt(mainA+" refs/heads/"+strings.Repeat("x", 65516-52)), gittest.PktLines(mainA+" refs/heads/main")), "", ""},
	{"an endless stream", []gittest.Step{gittest.Endless(gittest.Pkt(someID + " refs/heads/" + strings.Repeat("x", 100) + "\n"))}, fault.TooLarge, fault.TooLarge},
	{"an endless stream of empty packets", []gittest.Step{gittest.Endless([]byte("0004"))}, fault.Protocol, fault.NotFound},
}

func send(parts ...[]byte) []gittest.Step {
	return []gittest.Step{gittest.Send(bytes.Join(parts, nil))}
}

// forEver is Hang for every transport.
var forEver = gittest.Step(hangHTTP)

// TestFaultMatrix gives each answer over each transport: it ends in time, with
// what is right or with a typed error that says in which phase.
func TestFaultMatrix(t *testing.T) {
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprint(w, "answer")
	for _, transport := range transports {
		fmt.Fprint(w, "\t"+transport.name)
	}
	for _, answer := range answers {
		fmt.Fprint(w, "\n"+answer.name)
		for _, transport := range transports {
			t.Run(answer.name+"/"+transport.name, func(t *testing.T) {
				want := answer.kind
				if strings.HasPrefix(transport.name, "http") {
					want = answer.http
				}
				at := transport.serve(t, answer.steps...)
				c := lsremote.Config{MaxBytes: 1 << 20, Retry: lsremote.Retry{MaxAttempts: 1}}
				if want == fault.Timeout {
					c.Timeout = 200 * time.Millisecond
				}
				commit, err := at.observe(t, c)
				fmt.Fprint(w, "\t"+outcome(err))
				if want == "" && (err != nil || commit != mainA) || want != "" && !typed(err, want) {
					t.Errorf("got %q, %v, want kind %q", commit, err, want)
				}
			})
		}
	}
	_ = w.Flush()
	t.Log("\n" + table.String())
}

// typed tells whether err is complete: a kind, what happened, a phase, advice.
func typed(err error, kind fault.Kind) bool {
	var f *fault.Error
	return errors.As(err, &f) && f.Kind == kind && f.Phase != "" && f.Happened != "" && f.Advice != "" && f.Asked != ""
}

func outcome(err error) string {
	var f *fault.Error
	if !errors.As(err, &f) {
		return "read"
	}
	return fmt.Sprintf("%s (%s)", f.Kind, f.Phase)
}

// TestCutAtEachByte cuts an answer at each of its bytes over the streams; over
// http lsremote's own tests do, in each way in which http can hide it.
func TestCutAtEachByte(t *testing.T) {
	whole := gittest.PktLines(mainA+" refs/heads/main", someID+" refs/tags/v1 peeled:"+mainA)
	for _, transport := range transports[2:] {
		for n := range whole {
			for name, end := range map[string][]gittest.Step{"closed": nil, "reset": {gittest.Reset}} {
				at := transport.serve(t, append(send(whole[:n]), end...)...)
				commit, err := at.observe(t, lsremote.Config{Retry: lsremote.Retry{MaxAttempts: 1}})
				if kind := fault.KindOf(err); kind != fault.Protocol && kind != fault.Unavailable || !typed(err, kind) {
					t.Fatalf("%s, %s after %d of %d bytes: %q, %v", transport.name, name, n, len(whole), commit, err)
				}
			}
		}
	}
}

// TestHandshakeFaults: what each transport may meet before anything is asked.
func TestHandshakeFaults(t *testing.T) {
	key, err := gittest.ClientKey(gittest.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		steps []gittest.Step
		want  map[string]fault.Kind // by scheme
	}{
		"silence": {[]gittest.Step{gittest.Hang}, map[string]fault.Kind{"http": fault.Timeout, "https": fault.Timeout, "git": fault.Timeout, "ssh": fault.Timeout}},
		"reset":   {[]gittest.Step{gittest.Reset}, map[string]fault.Kind{"http": fault.Unavailable, "https": fault.Unavailable, "git": fault.Unavailable, "ssh": fault.Unavailable}},
		"closed":  {nil, map[string]fault.Kind{"http": fault.Unavailable, "https": fault.Unavailable, "git": fault.Unavailable, "ssh": fault.Unavailable}},
		"another protocol": {[]gittest.Step{gittest.Send([]byte("220 mail.example.com ESMTP\r\n"))},
			map[string]fault.Kind{"http": fault.NotGit, "https": fault.TLS, "git": fault.NotGit, "ssh": fault.NotGit}},
		"endless junk": {[]gittest.Step{gittest.Endless([]byte("junk junk junk junk\r\n"))},
			map[string]fault.Kind{"http": fault.NotGit, "https": fault.TLS, "git": fault.NotGit, "ssh": fault.NotGit}},
	} {
		for scheme, want := range c.want {
			s := gittest.ServeTCP(t, gittest.Conversation(c.steps...))
			at := access{URL: scheme + "://" + s.Addr() + "/a.git"}
			if scheme == "ssh" {
				at.Secret = map[string]string{"identity": key.Private, "known_hosts": key.KnownHost(s.Addr())}
			}
			config := lsremote.Config{Retry: lsremote.Retry{MaxAttempts: 1}}
			if want == fault.Timeout {
				config.Timeout = 200 * time.Millisecond
			}
			if _, err := at.observe(t, config); !typed(err, want) {
				t.Errorf("%s, %s: %v", name, scheme, err)
			}
		}
	}
}
