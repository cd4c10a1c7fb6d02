package gittest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestHTTPFaultsAsGitSeesThem starts a server for each fault and lets git say
// what is wrong with it.
func TestHTTPFaultsAsGitSeesThem(t *testing.T) {
	root := Repos(t)
	open := ServeHTTP(t, root, HTTPOptions{})
	advertisement := func(body ...byte) http.Handler { return Answer(AdvertisementType, body) }
	for _, tt := range []struct {
		name string
		use  Middleware
		want string // of git's complaint; "" if git gets its ref
	}{
		{"503 for ever", always(Status(503, "come back later")), "error: 503"},
		{"an empty script", Script(nil, nil), ""},
		{"403 with a reason", always(Status(403, "quota exceeded\n")), "remote: quota exceeded"},
		{"429", Script(Status(429, "", "Retry-After", "1")), "error: 429"},
		{"redirect to the other server", Instead(IsGet, RedirectBase(302, open.URL)), ""},
		{"redirect loop", always(RedirectLoop(302)), "redirect"},
		{"login redirect", always(Redirect(302, "/login?token=marked")), "redirect"},
		{"redirect to a file", always(Redirect(302, "file:///etc/passwd")), "not supported or disabled"},
		{"login page", always(HTML("<html>\ndeadbeef\trefs/heads/master\n</html>")), "is this a git repository"},
		{"ERR packet", always(advertisement(Pkt("ERR go away")...)), "go away"},
		{"wrong length", always(advertisement([]byte("00zz")...)), "bad line length"},
		{"not a git server", always(http.NotFoundHandler()), "not found"},
		{"reset", always(ResetConnection()), "Recv failure: Connection reset by peer"},
		{"short body", Truncate(ShortBody, 10), "transfer closed"},
		{"broken chunks", Truncate(BrokenBody, 10), "outstanding read data remaining"},
		{"clean end", Truncate(CleanEnd, 10), "hung up unexpectedly"},
		{"nothing cut", Truncate(ShortBody, 1<<20), ""},
		{"prefixes ignored", IgnorePrefixes, ""},
		{"another protocol on POST", Instead(IsPost, Status(400, "multi_ack is needed")), "error: 400"},
		{"tampered", Tamper(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte("0000"), []byte("0003")) }), "protocol error"},
		{"dumb", always(Dumb(root)), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ServeHTTP(t, root, HTTPOptions{Middleware: tt.use})
			out, err := lsRemote(t, nil, s.URL+"/a.git")
			if tt.want == "" {
				wantMain(t, out, err)
				return
			}
			wantError(t, err, tt.want)
		})
	}
}

// always lets h answer everything.
func always(h http.Handler) Middleware {
	return func(http.Handler) http.Handler { return h }
}

func TestHTTPScript(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{Middleware: Script(Status(503, "later", "Retry-After", "7"), nil, Status(404, ""))})
	for i, want := range []int{503, 200, 404, 200} {
		answer, _ := get(context.Background(), t, s.URL+"/a.git/info/refs?service=git-upload-pack")
		if answer.StatusCode != want {
			t.Errorf("request %d: status %d, want %d", i+1, answer.StatusCode, want)
		}
		if after := answer.Header.Get("Retry-After"); (after == "7") != (i == 0) {
			t.Errorf("request %d: Retry-After %q", i+1, after)
		}
	}
}

func TestHTTPMissingDotGit(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{User: "me", Password: "secret", Middleware: MissingDotGit})
	out, err := lsRemote(t, nil, strings.Replace(s.URL, "://", "://me:secret@", 1)+"/a")
	wantMain(t, out, err)
	if first := s.Requests()[0]; first.URI != "/a/info/refs?service=git-upload-pack" {
		t.Errorf("first request %q", first.URI)
	}
}

func TestHTTPIgnoredPrefixes(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{Middleware: IgnorePrefixes})
	body := post(t, s.URL+"/a.git/git-upload-pack", "version=2", "command=ls-refs\n", "0001", "ref-prefix refs/pull/\n", "0000")
	if !strings.Contains(body, "refs/heads/main") || !strings.HasSuffix(body, FlushPkt) {
		t.Errorf("answer %q", body)
	}
}

func TestHTTPV0OnPost(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{Middleware: V0OnPost})
	body := post(t, s.URL+"/a.git/git-upload-pack", "version=2", "command=ls-refs\n", "0000")
	if !strings.HasPrefix(body, "001e# service=git-upload-pack\n0000") || !strings.Contains(body, " HEAD\x00") {
		t.Errorf("answer %q", body)
	}
}

func TestHTTPStallsAndStreams(t *testing.T) {
	for _, tt := range []struct {
		name    string
		handler http.Handler
		body    string // what comes before the silence
		end     error
	}{
		{"silence", Silence(), "", context.DeadlineExceeded},
		{"first packet, then silence", HTTPSteps(ResultType, Send(Pkt("hello")), Hang), "0009hello", context.DeadlineExceeded},
		{"drip, then the end", HTTPSteps(ResultType, Drip([]byte("ab"), time.Millisecond)), "ab", nil},
		{"slowly", Slowly(time.Hour, Answer(ResultType, nil)), "", context.DeadlineExceeded},
		{"endless", HTTPSteps(ResultType, Endless([]byte("x"))), strings.Repeat("x", enough), nil},
		{"reset", ResetConnection(), "", syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			s := ServeHTTP(t, "", HTTPOptions{Handler: tt.handler})
			ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
			defer cancel()
			answer, err := get(ctx, t, s.URL)
			if !errors.Is(err, tt.end) {
				t.Errorf("error %v, want %v", err, tt.end)
			}
			if body := answer.Header.Get("body"); body != tt.body {
				t.Errorf("body of %d bytes, want %d", len(body), len(tt.body))
			}
		})
	}
}

func TestHTTPGzipBomb(t *testing.T) {
	const size = 8 << 20
	s := ServeHTTP(t, "", HTTPOptions{Handler: GzipBomb(ResultType, PktLines("version 2"), size)})
	p := Proxy(t, s.Addr(), ProxyOptions{})
	answer, err := get(context.Background(), t, "http://"+p.Addr())
	if err != nil {
		t.Fatal(err)
	}
	if got := len(answer.Header.Get("body")); got < size || p.BytesDown() > size/100 {
		t.Errorf("%d bytes became %d, want at least %d", p.BytesDown(), got, size)
	}
}

// enough is how much of an answer is read at most.
const enough = 16 << 20

// get asks for url once, on a connection of its own, and puts the body into
// the header "body" of the answer.
func get(ctx context.Context, t *testing.T, url string) (*http.Response, error) {
	t.Helper()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, url, http.NoBody)
	if err != nil {
		t.Fatal(err)
	}
	return do(t, request)
}

func do(t *testing.T, request *http.Request) (*http.Response, error) {
	t.Helper()
	transport := &http.Transport{}
	defer transport.CloseIdleConnections()
	answer, err := transport.RoundTrip(request)
	if err != nil {
		return &http.Response{}, err
	}
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(io.LimitReader(answer.Body, enough))
	answer.Header.Set("body", string(body))
	return answer, err
}

// post sends packets, of which those that are four digits are special ones,
// and returns the body of the answer.
func post(t *testing.T, url, protocol string, packets ...string) string {
	t.Helper()
	var body bytes.Buffer
	for _, packet := range packets {
		if len(packet) == 4 {
			body.WriteString(packet)
		} else {
			body.Write(Pkt(packet))
		}
	}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodPost, url, &body)
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-git-upload-pack-request")
	request.Header.Set("Git-Protocol", protocol)
	answer, err := do(t, request)
	if err != nil {
		t.Fatal(err)
	}
	return answer.Header.Get("body")
}
