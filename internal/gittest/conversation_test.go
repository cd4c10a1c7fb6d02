package gittest

import (
	"bytes"
	"context"
	"errors"
	"strings"
	"syscall"
	"testing"
)

func TestConversationAsGitSeesIt(t *testing.T) {
	capabilities := PktLines("version 2", "ls-refs=unborn", "fetch", "object-format=sha1")
	line := mainOfA + " refs/heads/main"
	for _, tt := range []struct {
		name  string
		steps []Step
		want  string // of git's complaint; "" if it gets its ref
	}{
		{"version 2", []Step{ReadPacket, Send(capabilities), ReadToFlush, Send(PktLines(line)), ReadToFlush}, ""},
		{"version 0", []Step{ReadPacket, Send(PktLines(line + "\x00agent=gittest"))}, ""},
		{"cut in a line", []Step{ReadPacket, Send(capabilities), ReadToFlush, Send(Pkt(line)[:30])}, "flush"},
		{"cut between lines", []Step{ReadPacket, Send(capabilities), ReadToFlush, Send(Pkt(line))}, "flush"},
		{"ERR", []Step{ReadPacket, Send(Pkt("ERR no such thing"))}, "remote error: no such thing"},
		{"reset", []Step{ReadPacket, Reset}, "reset by peer"},
		{"endless", []Step{ReadPacket, Send(capabilities), ReadToFlush, Endless([]byte("0006xx"))}, "invalid ls-refs response"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ServeTCP(t, Conversation(tt.steps...))
			out, err := lsRemote(t, nil, "git://"+s.Addr()+"/a.git")
			if tt.want == "" {
				wantMain(t, out, err)
				return
			}
			wantError(t, err, tt.want)
		})
	}
}

func TestConversationSteps(t *testing.T) {
	for _, tt := range []struct {
		name   string
		steps  []Step
		silent int64
		want   string
		err    error
	}{
		{"drip", []Step{Drip([]byte("abc"), 0)}, never, "abc", nil},
		{"hang", []Step{Send([]byte("a")), Hang}, 1, "a", context.DeadlineExceeded},
		{"reset", []Step{Reset}, never, "", syscall.ECONNRESET},
		{"a failed step is the last", []Step{Reset, Send([]byte("a"))}, never, "", syscall.ECONNRESET},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := ServeTCP(t, Conversation(tt.steps...))
			got, err := readAll(t, s.Addr(), tt.silent)
			if got != tt.want || !errors.Is(err, tt.err) {
				t.Errorf("got %q, %v; want %q, %v", got, err, tt.want, tt.err)
			}
		})
	}
}

// TestDownEndsConversations would hang, were a handler left.
func TestDownEndsConversations(t *testing.T) {
	s := ServeTCP(t, Conversation(Hang))
	_, err := readAll(t, s.Addr(), 0)
	if !errors.Is(err, context.DeadlineExceeded) {
		t.Fatal(err)
	}
	s.Down()
	if s.Open() != 0 || s.Connections() != 1 {
		t.Errorf("%d of %d connections are open", s.Open(), s.Connections())
	}
}

func TestPkt(t *testing.T) {
	if got := string(PktLines("a", "")); got != "0006a\n0005\n0000" {
		t.Errorf("packets %q", got)
	}
	for input, want := range map[string]string{
		"0000":      "/0000/",
		"0001":      "/0001/",
		"0004":      "//",
		"0005x":     "x//",
		"0006x":     "//a pkt-line is cut off: unexpected EOF",
		"00":        "//unexpected EOF",
		"zzzz":      "//pkt-line length: strconv.ParseUint: parsing \"zzzz\": invalid syntax",
		"ffffshort": "//a pkt-line is cut off: unexpected EOF",
	} {
		text, special, err := readPkt(bytes.NewReader([]byte(input)))
		got := text + "/" + special + "/"
		if err != nil {
			got += err.Error()
		}
		if got != want && !strings.HasSuffix(got, want) {
			t.Errorf("%q: %q, want %q", input, got, want)
		}
	}
}
