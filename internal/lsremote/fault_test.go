package lsremote

import (
	"bytes"
	"context"
	"io"
	"net"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// short is the timeout of tests in which nothing but the timeout can end the
// reading.
const short = 150 * time.Millisecond

// silences are servers that stop at some point, by transport.
func silences(t *testing.T) map[string]struct {
	url   string
	phase fault.Phase
} {
	t.Helper()
	type place = struct {
		url   string
		phase fault.Phase
	}
	httpAt := func(h http.Handler) string {
		return gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git"
	}
	tcp := func(steps ...gittest.Step) string { return gittest.ServeTCP(t, gittest.Conversation(steps...)).Addr() }
	ref := pkts(idA + " HEAD symref-target:refs/heads/main")
	refused := func(h http.Handler) http.Handler {
		return gittest.Instead(gittest.IsPost, gittest.Status(400, ""))(h)
	}
	return map[string]place{
		"http, no answer":            {httpAt(gittest.Silence()), fault.PhaseAnswer},
		"http, no answer to the GET": {httpAt(refused(gittest.Silence())), fault.PhaseAnswer},
		"http, after the header":     {httpAt(gittest.HTTPSteps(resultType, gittest.Send(nil), hangHTTP)), fault.PhaseRefs},
		"http, after a ref":          {httpAt(gittest.HTTPSteps(resultType, gittest.Send(ref[:len(ref)-4]), hangHTTP)), fault.PhaseRefs},
		"http, inside a ref":         {httpAt(gittest.HTTPSteps(resultType, gittest.Send(ref[:20]), hangHTTP)), fault.PhaseRefs},
		"http, v0 after a ref":       {httpAt(refused(gittest.HTTPSteps(adType, gittest.Send(pkts(idA + " HEAD\x00x")[:51]), hangHTTP))), fault.PhaseRefs},
		"http, a drip":               {httpAt(gittest.HTTPSteps(resultType, gittest.Drip(bytes.Repeat(ref[:len(ref)-4], 1000), time.Millisecond))), fault.PhaseRefs},
		"https, no handshake":        {"https://" + tcp(gittest.Hang) + "/a.git", fault.PhaseTLS},
		"git, no answer":             {"git://" + tcp(gittest.Hang) + "/a.git", fault.PhaseAnswer},
		"git, after the version":     {"git://" + tcp(gittest.ReadPacket, gittest.Send(gittest.Pkt("version 2\n")), gittest.Hang) + "/a.git", fault.PhaseRefs},
		"git, after the command":     {"git://" + tcp(gittest.ReadPacket, gittest.Send(pkts("version 2", "ls-refs")), gittest.ReadToFlush, gittest.Send(ref[:30]), gittest.Hang) + "/a.git", fault.PhaseRefs},
		"git, v0 inside a ref":       {"git://" + tcp(gittest.ReadPacket, gittest.Send(ref[:30]), gittest.Hang) + "/a.git", fault.PhaseAnswer},
	}
}

func hangHTTP(ctx context.Context, _ io.ReadWriteCloser) error {
	<-ctx.Done()
	return ctx.Err()
}

// Field case 50: whatever falls silent wherever, the reading ends in time, and
// says in which phase.
func TestTimeoutInEachPhase(t *testing.T) {
	for name, c := range silences(t) {
		log := &entries{}
		client := newTestClient(t, Config{Timeout: short, Retry: Retry{MaxAttempts: 4}, Log: log.add})
		_, err := read(t, client, c.url, refs("HEAD"))
		if fault.KindOf(err) != fault.Timeout {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if e := wantFault(t, err, fault.Timeout); e.Phase != c.phase || e.HostWide != (c.phase != fault.PhaseRefs) {
			t.Errorf("%s: phase %q, host-wide %t, want %q", name, e.Phase, e.HostWide, c.phase)
		}
		if e := log.last(t); e.Outcome != fault.Timeout || e.Attempts != 1 {
			t.Errorf("%s: logged %+v", name, e)
		}
	}
}

// An interrupt ends the wait at once, and is no timeout.
func TestInterruptInEachPhase(t *testing.T) {
	for name, c := range silences(t) {
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(short, cancel)
		r := mustParse(t, c.url)
		_, err := newTestClient(t, Config{Timeout: guard}).Read(ctx, r, nil, refs("HEAD"))
		if e, ok := err.(*fault.Error); !ok || e.Kind != fault.Canceled || e.HostWide {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// A dial that nobody answers ends with the reading, and so does the goroutine
// that net/http leaves behind for it.
func TestTimeoutInDial(t *testing.T) {
	for _, url := range []string{"http://192.0.2.1/a.git", "https://192.0.2.1/a.git", "git://192.0.2.1/a.git"} {
		client := newTestClient(t, Config{Timeout: short})
		dialled := make(chan struct{}, 1)
		black := func(ctx context.Context, _, _ string) (net.Conn, error) {
			<-ctx.Done()
			dialled <- struct{}{}
			return nil, ctx.Err()
		}
		client.dial, client.transports.dial = black, black
		_, err := read(t, client, url, refs("HEAD"))
		if e := wantFault(t, err, fault.Timeout); e.Phase != fault.PhaseDial || !e.HostWide {
			t.Errorf("%s: %+v", url, *e)
		}
		<-dialled
	}
}

func TestDialErrors(t *testing.T) {
	gone := gittest.ServeTCP(t, gittest.Conversation())
	gone.Down()
	for _, scheme := range []string{"http", "https", "git"} {
		_, err := read(t, newTestClient(t, Config{Retry: Retry{MaxAttempts: 4}}), scheme+"://"+gone.Addr()+"/a.git", refs("HEAD"))
		e := wantFault(t, err, fault.Unavailable)
		if wantText(t, err, "no connection to "+gone.Addr()+": connect: connection refused"); e.Phase != fault.PhaseDial || !e.HostWide || e.Transient {
			t.Errorf("%s: %+v", scheme, *e)
		}
		_, err = read(t, newTestClient(t, Config{}), scheme+"://git.example.invalid/a.git", refs("HEAD"))
		e = wantFault(t, err, fault.Unavailable)
		if wantText(t, err, "cannot be resolved"); e.Phase != fault.PhaseDial || !e.HostWide {
			t.Errorf("%s: %+v", scheme, *e)
		}
	}
}

// Trap 12: the bound counts what comes out of the decompression, and holds for
// streams without an end; memory does not grow with what is not wanted.
func TestTooLarge(t *testing.T) {
	const limit = 8 << 20
	line := gittest.Pkt(idA + " refs/heads/" + strings.Repeat("x", 100) + "\n")
	httpAt := func(h http.Handler) string {
		return gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git"
	}
	v0 := join(gittest.Pkt(idA+" HEAD\x00x\n"), line)
	for name, url := range map[string]string{
		"http v2":   httpAt(gittest.HTTPSteps(resultType, gittest.Endless(line))),
		"http v0":   httpAt(gittest.Instead(gittest.IsPost, gittest.Status(400, ""))(gittest.HTTPSteps(adType, gittest.Send(v0), gittest.Endless(line)))),
		"gzip bomb": httpAt(gittest.GzipBomb(resultType, line, 4*limit)),
		"git v2":    "git://" + gittest.ServeTCP(t, gittest.Conversation(gittest.ReadPacket, gittest.Send(pkts("version 2", "ls-refs")), gittest.ReadToFlush, gittest.Endless(line))).Addr() + "/a.git",
		"git v0":    "git://" + gittest.ServeTCP(t, gittest.Conversation(gittest.ReadPacket, gittest.Send(v0), gittest.Endless(line))).Addr() + "/a.git",
	} {
		client := newTestClient(t, Config{MaxBytes: limit, Retry: Retry{MaxAttempts: 4}})
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		log := &entries{}
		client.config.Log = log.add
		_, err := read(t, client, url, refs("refs/heads/main"))
		runtime.ReadMemStats(&after)
		if fault.KindOf(err) != fault.TooLarge {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantText(t, wantFault(t, err, fault.TooLarge), "8388608 bytes", "max_advertisement_bytes")
		if e := log.last(t); e.RefsSeen < limit/len(line)/2 || e.Attempts != 1 {
			t.Errorf("%s: logged %+v", name, e)
		}
		if grown := after.TotalAlloc - before.TotalAlloc; !strings.HasPrefix(name, "git") && grown > 4<<20 {
			t.Errorf("%s: %d bytes allocated", name, grown)
		}
	}
}

// A header without an end is bounded by net/http.
func TestHugeHeader(t *testing.T) {
	s := gittest.ServeTCP(t, gittest.Conversation(awaitRequest, gittest.Send([]byte("HTTP/1.1 200 OK\r\n")), gittest.Endless([]byte("X-A: "+strings.Repeat("a", 1000)+"\r\n"))))
	_, err := read(t, newTestClient(t, Config{}), "http://"+s.Addr()+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.TooLarge), "header of the answer is too large")
}

// awaitRequest reads the beginning of an http request.
func awaitRequest(_ context.Context, c io.ReadWriteCloser) error {
	_, err := c.Read(make([]byte, 1))
	return err
}

// A complete answer is taken even if the server never ends the body.
func TestHTTPBodyWithoutEnd(t *testing.T) {
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.HTTPSteps(resultType, gittest.Send(pkts(idA+" HEAD")), hangHTTP)})
	only(t, mustRead(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD")), Ref{Name: "HEAD", ID: idA})
}

// Trap 10: cut at each byte, in each way in which HTTP can show or hide it, an
// answer is an error and never a short list.
// stalled answers the beginning of an answer whose body never ends.
func stalled(code int, contentType, location string) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", contentType)
		w.Header().Set("Location", location)
		w.WriteHeader(code)
		_, _ = io.WriteString(w, "because")
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
}

// The body of a refusal that never ends does not hide what the status says, nor
// does it say that the host is dead; and that of a redirect is not waited for.
func TestHTTPStalledRefusals(t *testing.T) {
	root := gittest.Repos(t)
	for name, c := range map[string]struct {
		answer http.Handler
		kind   fault.Kind
		text   string
	}{
		"401":      {stalled(401, "text/plain", ""), fault.Authentication, "because"},
		"403":      {stalled(403, "text/plain", ""), fault.Forbidden, "because"},
		"404":      {stalled(404, "text/plain", ""), fault.NotFound, "because"},
		"500":      {stalled(500, "text/plain", ""), fault.Unavailable, "because"},
		"a page":   {stalled(200, "text/html", ""), fault.NotGit, "web page"},
		"redirect": {stalled(302, "text/html", "/a.git/info/refs"), "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: gittest.Instead(func(r *http.Request) bool { return strings.HasPrefix(r.URL.Path, "/moved") }, c.answer)})
			a, err := read(t, newTestClient(t, Config{Timeout: 30 * time.Second}), s.URL+"/moved", refs("refs/heads/main"))
			if c.kind == "" {
				if err != nil {
					t.Fatal(err)
				}
				only(t, a, wantMain)
				return
			}
			if fault.KindOf(err) != c.kind {
				t.Fatalf("got %v", err)
			}
			wantText(t, err, c.text)
		})
	}
}

func TestHTTPTruncated(t *testing.T) {
	v2 := pkts(idA+" HEAD symref-target:refs/heads/main", idB+" refs/tags/v1 peeled:"+idA)
	v0 := join(pkts("# service=git-upload-pack"), pkts(idA+" HEAD"+someCaps, idB+" refs/tags/v1", idA+" refs/tags/v1^{}"))
	capsAd := pkts("version 2", "ls-refs")
	for name, c := range map[string]struct {
		whole []byte
		serve func(cut gittest.Middleware) http.Handler
	}{
		"v2": {v2, func(cut gittest.Middleware) http.Handler {
			return gittest.Instead(gittest.IsGet, gittest.Status(404, ""))(cut(gittest.Answer(resultType, v2)))
		}},
		"v0": {v0, func(cut gittest.Middleware) http.Handler {
			return gittest.Instead(gittest.IsPost, gittest.Status(404, ""))(cut(gittest.Answer(adType, v0)))
		}},
		"capabilities": {capsAd, func(cut gittest.Middleware) http.Handler {
			return gittest.Instead(gittest.IsPost, gittest.Status(404, ""))(cut(gittest.Answer(adType, capsAd)))
		}},
	} {
		for _, kind := range []gittest.TruncateKind{gittest.ShortBody, gittest.BrokenBody, gittest.CleanEnd} {
			for n := range c.whole {
				s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: c.serve(gittest.Truncate(kind, n))})
				a, err := read(t, newTestClient(t, Config{}), s.URL+"/a.git", Everything())
				if err == nil {
					t.Fatalf("%s, kind %d, %d of %d bytes: got %+v", name, kind, n, len(c.whole), a)
				}
				wantFault(t, err, fault.KindOf(err))
				s.Down()
			}
		}
	}
}

// gzip: taken when it is right, refused when it is broken or cut.
func TestHTTPGzip(t *testing.T) {
	whole := gzipped(t, pkts(idA+" HEAD"))
	serve := func(body []byte, encoding string) (*Advertisement, error) {
		s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Instead(gittest.IsGet, gittest.Status(404, ""))(
			http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Encoding", encoding)
				gittest.Answer(resultType, body).ServeHTTP(w, nil)
			}))})
		return read(t, newTestClient(t, Config{}), s.URL+"/a.git", refs("HEAD"))
	}
	for _, encoding := range []string{"gzip", "x-gzip", "GZIP"} {
		a, err := serve(whole, encoding)
		if err != nil {
			t.Fatal(err)
		}
		only(t, a, Ref{Name: "HEAD", ID: idA})
	}
	for n := range whole {
		if a, err := serve(whole[:n], "gzip"); err == nil {
			t.Errorf("%d of %d bytes: got %+v", n, len(whole), a)
		}
		damaged := append([]byte{}, whole...)
		damaged[n] ^= 0xff
		if a, err := serve(damaged, "gzip"); err == nil && a.Refs[0].ID != idA {
			t.Errorf("byte %d damaged: got %+v", n, a)
		}
	}
	damaged := append([]byte{}, whole...)
	damaged[len(whole)-5] ^= 1 // the checksum
	_, err := serve(damaged, "gzip")
	wantText(t, wantFault(t, err, fault.NotFound), "the compression of the answer is broken")
	if _, err := serve(whole, "br"); fault.KindOf(err) != fault.NotFound {
		t.Errorf("an unknown encoding: %v", err)
	}
}
