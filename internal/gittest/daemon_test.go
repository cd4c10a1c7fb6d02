package gittest

import (
	"context"
	"net"
	"strings"
	"testing"
)

func TestGitDaemonIsReadByGit(t *testing.T) {
	for name, o := range map[string]DaemonOptions{"v2": {}, "v0": {V0Only: true}, "IPv6": {IPv6: true}} {
		t.Run(name, func(t *testing.T) {
			s := ServeGit(t, Repos(t), o)
			out, err := RunGit(t.TempDir(), []string{"GIT_TRACE_PACKET=1", "GIT_TRACE=0"}, "ls-remote", s.URL("a.git"), "refs/heads/main")
			wantMain(t, out, err)
			if s.Connections() != 1 {
				t.Errorf("%d connections, want 1", s.Connections())
			}
			if got, want := firstPacket(t, s.Addr()), !o.V0Only; strings.HasPrefix(got, "version 2") != want {
				t.Errorf("the server begins with %q", got)
			}
			_, err = lsRemote(t, nil, s.URL("nope.git"))
			wantError(t, err, "no such repository")
			// What a process has logged is only sure to be there once it has ended.
			s.Down()
			if s.behind != nil {
				s.behind.Down()
			}
			if !strings.Contains(s.Log(), "Request upload-pack for '/a.git'") {
				t.Errorf("log %q", s.Log())
			}
		})
	}
}

// firstPacket asks for a.git in version 2 and returns the first packet of the
// answer.
func firstPacket(t *testing.T, addr string) string {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Close() }()
	if _, err := c.Write(Pkt("git-upload-pack /a.git\x00host=h\x00\x00version=2\x00")); err != nil {
		t.Fatal(err)
	}
	text, _, err := readPkt(c)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func TestGitDaemonDownAndUp(t *testing.T) {
	s := ServeGit(t, Repos(t), DaemonOptions{})
	s.Down()
	_, err := lsRemote(t, nil, s.URL("a.git"))
	wantError(t, err, "Connection refused")
	if err := s.Up(); err != nil {
		t.Fatal(err)
	}
	out, err := lsRemote(t, nil, s.URL("a.git"))
	wantMain(t, out, err)
}
