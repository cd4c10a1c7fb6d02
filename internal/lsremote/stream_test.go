package lsremote

import (
	"context"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

func TestGitDaemon(t *testing.T) {
	root := gittest.Repos(t)
	for _, v0 := range []bool{false, true} {
		s := gittest.ServeGit(t, root, gittest.DaemonOptions{V0Only: v0})
		log := &entries{}
		c := newTestClient(t, Config{Log: log.add})
		a := mustRead(t, c, s.URL("a.git"), refs("refs/tags/v1.2.0", "HEAD"))
		want := []Ref{{Name: "HEAD", ID: mainA, Target: "refs/heads/main"}, {Name: "refs/tags/v1.2.0", ID: tag120, Peeled: c3}}
		if !slices.Equal(a.Refs, want) || (a.Protocol == 2) == v0 {
			t.Errorf("v0 %t: got %+v", v0, a)
		}
		if e := log.last(t); e.Requests != 1 || e.BytesIn == 0 || e.BytesOut == 0 || e.RefsKept != 2 || e.Host != s.Addr() || e.Path != "/a.git" {
			t.Errorf("v0 %t: logged %+v", v0, e)
		}
		only(t, mustRead(t, c, s.URL("x.git"), refs("refs/heads/main")), Ref{Name: "refs/heads/main", ID: mainX})
		if a := mustRead(t, c, s.URL("e.git"), Everything()); !a.Empty || !v0 && a.UnbornHead != "refs/heads/main" {
			t.Errorf("v0 %t: got %+v", v0, a)
		}
		_, err := read(t, c, s.URL("gone.git"), refs("HEAD"))
		wantText(t, wantFault(t, err, fault.NotFound), "refused the request", "no such repository: /gone.git")
	}
}

// The request line is as gitprotocol-pack has it: the host with a port that is
// not the default, and version 2 after a second NUL.
func TestGitDaemonRequest(t *testing.T) {
	got := make(chan string, 1)
	s := gittest.ServeTCP(t, func(_ context.Context, c net.Conn) {
		line := make([]byte, 4)
		_, _ = io.ReadFull(c, line)
		n, _ := strconv.ParseUint(string(line), 16, 16)
		rest := make([]byte, n-4)
		_, _ = io.ReadFull(c, rest)
		got <- string(line) + string(rest)
		_, _ = c.Write(pkts(idA + " HEAD\x00x"))
	})
	mustRead(t, newTestClient(t, Config{}), "git://"+s.Addr()+"/~me/a%20b.git", refs("HEAD"))
	want := "git-upload-pack ~me/a b.git\x00host=" + s.Addr() + "\x00\x00version=2\x00"
	if line := <-got; line != fmt.Sprintf("%04x%s", len(want)+4, want) {
		t.Errorf("sent %q", line)
	}
}

// What a server may do in place of an answer, over any two-way stream.
func TestGitDaemonFaults(t *testing.T) {
	for name, c := range map[string]struct {
		steps []gittest.Step
		kind  fault.Kind
		text  string
	}{
		"closes":             {[]gittest.Step{gittest.ReadPacket}, fault.Unavailable, "closed the connection without a word"},
		"resets":             {[]gittest.Step{gittest.ReadPacket, gittest.Reset}, fault.Unavailable, ""},
		"resets later":       {[]gittest.Step{gittest.ReadPacket, gittest.Send(gittest.Pkt("version 2\n")), gittest.Reset}, fault.Unavailable, "the connection broke"},
		"no git":             {[]gittest.Step{gittest.Send([]byte("SSH-2.0-x\r\n"))}, fault.NotGit, `"SSH-2.0-x"`},
		"ends in version 2":  {[]gittest.Step{gittest.ReadPacket, gittest.Send(gittest.Pkt("version 2\n"))}, fault.Protocol, "ended between two packets"},
		"ends before refs":   {[]gittest.Step{gittest.ReadPacket, gittest.Send(pkts("version 2", "ls-refs")), gittest.ReadToFlush}, fault.Protocol, "ended between two packets"},
		"dies":               {[]gittest.Step{gittest.ReadPacket, gittest.Send(pkts("version 2", "ls-refs")), gittest.ReadToFlush, gittest.Send(pkts("ERR upload-pack: internal \x1b[1merror"))}, fault.Protocol, `"upload-pack: internal [1merror"`},
		"an empty v0 answer": {[]gittest.Step{gittest.ReadPacket, gittest.Send([]byte("0000"))}, "", ""},
	} {
		s := gittest.ServeTCP(t, gittest.Conversation(c.steps...))
		_, err := read(t, newTestClient(t, Config{}), "git://"+s.Addr()+"/a.git", refs("HEAD"))
		if fault.KindOf(err) != c.kind || !strings.Contains(fmt.Sprint(err), c.text) && c.text != "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// sshSecret is the secret that logs in to a server.
func sshSecret(t *testing.T, key *gittest.SSHKey, knownHosts string) map[string]string {
	t.Helper()
	return map[string]string{"identity": key.Private, "known_hosts": knownHosts}
}

func TestSSH(t *testing.T) {
	root := gittest.Repos(t)
	for _, v0 := range []bool{false, true} {
		s := gittest.ServeSSH(t, root, gittest.SSHOptions{V0Only: v0})
		log := &entries{}
		c := newTestClient(t, Config{Log: log.add})
		readSSH := func(url string, q Query) (*Advertisement, error) {
			r := mustParse(t, url)
			a := authFor(t, r, "ssh://"+s.Addr(), sshSecret(t, s.Client, s.KnownHosts()))
			return c.Read(t.Context(), r, a, q)
		}
		for _, url := range []string{s.URL("a.git"), s.SCP("a.git")} {
			a, err := readSSH(url, refs("refs/tags/v1.2.0", "HEAD"))
			if err != nil {
				t.Fatal(err)
			}
			want := []Ref{{Name: "HEAD", ID: mainA, Target: "refs/heads/main"}, {Name: "refs/tags/v1.2.0", ID: tag120, Peeled: c3}}
			if !slices.Equal(a.Refs, want) || (a.Protocol == 2) == v0 {
				t.Errorf("v0 %t: got %+v", v0, a)
			}
			if e := log.last(t); e.Requests != 1 || e.BytesIn == 0 || e.RefsKept != 2 || e.Host != s.Addr() {
				t.Errorf("v0 %t: logged %+v", v0, e)
			}
		}
		a, err := readSSH(s.URL("x.git"), refs("refs/heads/main"))
		if err != nil {
			t.Fatal(err)
		}
		only(t, a, Ref{Name: "refs/heads/main", ID: mainX})
		_, err = readSSH(s.URL("gone.git"), refs("HEAD"))
		wantText(t, wantFault(t, err, fault.NotFound), "does not appear to be a git repository")
		if n := s.Connections(); n != 1 {
			t.Errorf("v0 %t: %d connections for four sessions", v0, n)
		}
	}
}

// Field case 53, over ssh: hosts answer in their own words, on stderr or in
// place of packets.
func TestSSHRefusals(t *testing.T) {
	for name, c := range map[string]struct {
		o    gittest.FakeSSHOptions
		kind fault.Kind
		text string
	}{
		"not found":      {gittest.FakeSSHOptions{Stderr: "ERROR: Repository not found.\n", Status: 1}, fault.NotFound, "Repository not found."},
		"denied":         {gittest.FakeSSHOptions{Stderr: "conq: repository access denied.\n", Status: 1}, fault.Forbidden, "access denied"},
		"rate":           {gittest.FakeSSHOptions{Stderr: "Rate limit exceeded", Status: 1}, fault.RateLimited, "Rate limit"},
		"a reason":       {gittest.FakeSSHOptions{Stderr: "maintenance \x1b[31muntil noon", Status: 1}, fault.Protocol, "maintenance [31muntil noon"},
		"no git":         {gittest.FakeSSHOptions{Stderr: "bash: git-upload-pack: command not found", Status: 127}, fault.NotGit, "cannot be run on the server"},
		"silent":         {gittest.FakeSSHOptions{Status: 3}, fault.Unavailable, "without a word: the command ended with status 3"},
		"silent, well":   {gittest.FakeSSHOptions{}, fault.Unavailable, "without a word"},
		"a shell":        {gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send([]byte("This account is not available.\n"))}}, fault.NotGit, "This account is not available."},
		"ERR":            {gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send(pkts("ERR The project you were looking for could not be found"))}}, fault.NotFound, "could not be found"},
		"dies in the ad": {gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send(gittest.Pkt("version 2\n"))}, Status: 128}, fault.Protocol, "ended between two packets"},
		"breaks off":     {gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send(gittest.Pkt("version 2\n")), gittest.Reset}}, fault.Unavailable, ""},
	} {
		s := gittest.ServeFakeSSH(t, c.o)
		r := mustParse(t, s.URL("a.git"))
		key := gittest.MakeSSHKey(t, gittest.Ed25519)
		auth := authFor(t, r, "ssh://"+s.Addr(), sshSecret(t, key, s.KnownHosts()))
		_, err := newTestClient(t, Config{}).Read(t.Context(), r, auth, refs("HEAD"))
		if fault.KindOf(err) != c.kind {
			t.Errorf("%s: %v", name, err)
			continue
		}
		wantText(t, wantFault(t, err, c.kind), c.text)
	}
}

func TestSSHTimeout(t *testing.T) {
	for stage, phase := range map[gittest.SSHStage]fault.Phase{
		gittest.BeforeVersion: fault.PhaseSSH, gittest.AtAuth: fault.PhaseAuth, gittest.AtExec: fault.PhaseAnswer,
	} {
		s := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Stop: stage})
		r := mustParse(t, s.URL("a.git"))
		key := gittest.MakeSSHKey(t, gittest.Ed25519)
		auth := authFor(t, r, "ssh://"+s.Addr(), sshSecret(t, key, s.KnownHosts()))
		_, err := newTestClient(t, Config{Timeout: 2 * short}).Read(t.Context(), r, auth, refs("HEAD"))
		if e := wantFault(t, err, fault.Timeout); e.Phase != phase || e.HostWide != (stage != gittest.AtExec) {
			t.Errorf("stage %d: %+v", stage, *e)
		}
	}
}

// Field cases 20 and 22: what the server's shell gets.
func TestSSHCommand(t *testing.T) {
	for path, want := range map[string]string{
		"g/r.git":      "git-upload-pack '/g/r.git'",
		"~u/r.git":     "git-upload-pack '~u/r.git'",
		"it's!.git":    `git-upload-pack '/it'\''s'\!'.git'`,
		"a%20b%24.git": "git-upload-pack '/a b$.git'",
	} {
		s := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send(pkts(idA + " HEAD\x00x"))}})
		r := mustParse(t, s.URL(path))
		key := gittest.MakeSSHKey(t, gittest.Ed25519)
		auth := authFor(t, r, "ssh://"+s.Addr(), sshSecret(t, key, s.KnownHosts()))
		if _, err := newTestClient(t, Config{}).Read(t.Context(), r, auth, refs("HEAD")); err != nil {
			t.Fatal(err)
		}
		if got := s.Commands()[0]; got.Line != want || got.Protocol != "version=2" {
			t.Errorf("%s: the server got %+v", path, got)
		}
	}
}

// Over ssh and git the request goes out before the server has said anything,
// and what chokes on it is asked again, once, in the protocol's own order.
func TestStreamsAreAskedAhead(t *testing.T) {
	root := gittest.Repos(t)
	daemons := map[bool]*gittest.Daemon{false: gittest.ServeGit(t, root, gittest.DaemonOptions{}), true: gittest.ServeGit(t, root, gittest.DaemonOptions{V0Only: true})}
	for name, c := range map[string]struct {
		repo     string
		v0       bool
		q        Query
		requests []int // of each reading
	}{
		"one round trip":            {"a.git", false, refs("refs/heads/main"), []int{1, 1}},
		"SHA-256 is learnt":         {"x.git", false, refs("refs/heads/main"), []int{2, 1}},
		"an unborn HEAD":            {"u.git", false, refs("HEAD"), []int{1, 1}},
		"an unborn HEAD, SHA-256":   {"xe.git", false, Everything(), []int{2, 1}},
		"version 0":                 {"a.git", true, Everything(), []int{1, 1}},
		"too many names to send so": {"a.git", false, Query{Refs: manyBranches(1000)}, []int{1, 1}},
	} {
		log := &entries{}
		client := newTestClient(t, Config{Log: log.add})
		for i, want := range c.requests {
			a := mustRead(t, client, daemons[c.v0].URL(c.repo), c.q)
			if e := log.last(t); e.Requests != want {
				t.Errorf("%s: reading %d: logged %+v", name, i, e)
			}
			if strings.Contains(name, "unborn") && a.UnbornHead != "refs/heads/main" {
				t.Errorf("%s: got %+v", name, a)
			}
		}
	}
}

func manyBranches(n int) []string {
	names := make([]string, n)
	for i := range names {
		names[i] = fmt.Sprintf("refs/heads/branch-%d", i)
	}
	return names
}

// A server that loses its answer over a request that it did not expect.
func TestStreamsChoking(t *testing.T) {
	var connections atomic.Int64
	s := gittest.ServeTCP(t, func(ctx context.Context, c net.Conn) {
		answer := pkts(idA+" HEAD\x00x", idA+" refs/heads/main")
		steps := []gittest.Step{gittest.ReadPacket, gittest.Send(answer)}
		if connections.Add(1) == 1 {
			steps = []gittest.Step{gittest.ReadPacket, gittest.Send(answer[:60]), gittest.Reset}
		}
		gittest.Conversation(steps...)(ctx, c)
	})
	log := &entries{}
	c := newTestClient(t, Config{Log: log.add})
	for _, want := range []int{2, 1} {
		mustRead(t, c, "git://"+s.Addr()+"/a.git", prefix("refs/heads/"))
		if e := log.last(t); e.Requests != want || e.Attempts != 1 {
			t.Errorf("logged %+v", e)
		}
	}
}

// A server that speaks only after it was asked gets an answer out of us.
func TestStreamsRequestComesFirst(t *testing.T) {
	answer := join(pkts("version 2", "ls-refs", "object-format=sha1"), pkts(idA+" HEAD"))
	daemon := gittest.ServeTCP(t, gittest.Conversation(gittest.ReadPacket, gittest.ReadToFlush, gittest.Send(answer)))
	sshd := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.ReadToFlush, gittest.Send(answer)}})
	for _, url := range []string{"git://" + daemon.Addr() + "/a.git", sshd.URL("a.git")} {
		r := mustParse(t, url)
		auth := authFor(t, r, "ssh://"+sshd.Addr(), sshSecret(t, gittest.MakeSSHKey(t, gittest.Ed25519), sshd.KnownHosts()))
		a, err := newTestClient(t, Config{}).Read(t.Context(), r, auth, refs("HEAD"))
		if err != nil {
			t.Fatalf("%s: %v", url, err)
		}
		only(t, a, Ref{Name: "HEAD", ID: idA})
	}
}
