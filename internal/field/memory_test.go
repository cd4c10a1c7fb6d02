package field

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// readerVariable makes this test program read one remote and exit: how much
// memory that needs at most is seen only in a process of its own.
const readerVariable = "GITPIN_FIELD_READER"

// alone is what such a process is asked.
type alone struct {
	Access   access
	MaxBytes int64
}

// readAlone reads, and prints the outcome and the greatest size of the process.
func readAlone(asked string) {
	var a alone
	if err := json.Unmarshal([]byte(asked), &a); err != nil {
		panic(err)
	}
	remote, err := giturl.Parse(a.Access.URL)
	if err != nil {
		panic(err)
	}
	var entries []gitauth.Entry
	if a.Access.Secret != nil {
		entries = append(entries, gitauth.Entry{URL: remote.Origin(), Secret: a.Access.Secret})
	}
	client, err := lsremote.New(lsremote.Config{MaxBytes: a.MaxBytes, Timeout: patience, Retry: lsremote.Retry{MaxAttempts: 1}})
	if err != nil {
		panic(err)
	}
	keychain, err := gitauth.NewKeychain(entries, gitauth.Options{})
	if err != nil {
		panic(err)
	}
	auth, err := keychain.For(remote)
	if err != nil {
		panic(err)
	}
	_, err = client.Read(context.Background(), remote, auth, lsremote.Query{Refs: []string{"refs/heads/main"}})
	status, _ := os.ReadFile("/proc/self/status")
	fmt.Fprintf(os.Stdout, "outcome=%s peak=%s\n", fault.KindOf(err), regexp.MustCompile(`VmHWM:\s*(\d+)`).FindSubmatch(status)[1])
}

// TestPeakMemory: whatever a server sends, a reading stays within a few times
// what one of a small repository needs. The figures are the greatest resident
// size of a whole process that makes the one reading.
func TestPeakMemory(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the size of a process is read in the way of Linux only")
		return
	}
	const limit = 64 << 20
	line := gittest.Pkt(someID + " refs/heads/" + strings.Repeat("x", 100) + "\n")
	long := gittest.Pkt(someID + " refs/heads/" + strings.Repeat("x", 65000) + "\n")
	endless := func(line []byte) func(t *testing.T) access {
		return func(t *testing.T) access { return transports[0].serve(t, gittest.Endless(line)) }
	}
	over := func(n int) func(t *testing.T) access {
		return func(t *testing.T) access { return transports[n].serve(t, gittest.Endless(line)) }
	}
	at := func(h http.Handler) func(t *testing.T) access {
		return func(t *testing.T) access {
			return access{URL: gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git"}
		}
	}
	base := 0
	for _, c := range []struct {
		name  string
		serve func(t *testing.T) access
		want  fault.Kind
		max   int64
		extra int // what it may need beyond the base, in MB
	}{
		{"one ref of a small repository", func(t *testing.T) access {
			return access{URL: gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{}).URL + "/a.git"}
		}, "", limit, 0},
		{"endless refs over http, 256 MiB", endless(line), fault.TooLarge, 256 << 20, 16},
		{"endless refs over git", over(2), fault.TooLarge, limit, 16},
		{"endless refs over ssh", over(3), fault.TooLarge, limit, 40}, // x/crypto gives a session 2 MB to fill
		{"endless lines of 65,000 bytes", endless(long), fault.TooLarge, limit, 16},
		{"gzip bomb, 300 KB for 100 MB", at(gittest.GzipBomb(gittest.ResultType, line, 100<<20)), fault.TooLarge, limit, 16},
		{"gzip bomb in an error's body", at(bombed(403)), fault.Forbidden, limit, 16},
		{"endless header", func(t *testing.T) access {
			s := gittest.ServeTCP(t, gittest.Conversation(gittest.Send([]byte("HTTP/1.1 200 OK\r\n")), gittest.Endless([]byte("X-A: "+strings.Repeat("a", 1000)+"\r\n"))))
			return access{URL: "http://" + s.Addr() + "/a.git"}
		}, fault.TooLarge, limit, 16},
		{"32 MB on ssh's error output", talker, fault.Protocol, limit, 40}, // x/crypto gives a session 2 MB to fill
	} {
		t.Run(c.name, func(t *testing.T) {
			kind, peak := readInChild(t, alone{Access: c.serve(t), MaxBytes: c.max})
			if base == 0 {
				base = peak
			}
			t.Logf("%s: %q, at most %d kB (%+d kB)", c.name, kind, peak, peak-base)
			if kind != c.want || peak-base > c.extra<<10 {
				t.Errorf("want %q and at most %d MB more", c.want, c.extra)
			}
		})
	}
}

// bombed answers with a status and a body that unpacks to 100 MB.
func bombed(status int) http.Handler {
	bomb := gittest.GzipBomb("text/plain", bytes.Repeat([]byte("no "), 1000), 100<<20)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		bomb.ServeHTTP(withStatus{w, status}, r)
	})
}

type withStatus struct {
	http.ResponseWriter
	status int
}

func (w withStatus) Write(p []byte) (int, error) {
	w.WriteHeader(w.status)
	return w.ResponseWriter.Write(p)
}

// talker is an ssh server that says 32 MB on standard error.
func talker(t *testing.T) access {
	key, err := gittest.ClientKey(gittest.Ed25519)
	if err != nil {
		t.Fatal(err)
	}
	s := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Stderr: strings.Repeat("talk ", 32<<20/5), Status: 1})
	return access{s.URL("a.git"), map[string]string{"identity": key.Private, "known_hosts": s.KnownHosts()}}
}

// readInChild lets a process of its own read.
func readInChild(t *testing.T, a alone) (fault.Kind, int) {
	t.Helper()
	asked, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, os.Args[0])
	cmd.Env = append(os.Environ(), readerVariable+"="+string(asked))
	out, err := cmd.Output()
	found := regexp.MustCompile(`outcome=(\S*) peak=(\d+)`).FindSubmatch(out)
	if err != nil || found == nil {
		t.Fatalf("%v: %s", err, out)
	}
	peak, err := strconv.Atoi(string(found[2]))
	if err != nil {
		t.Fatal(err)
	}
	return fault.Kind(found[1]), peak
}
