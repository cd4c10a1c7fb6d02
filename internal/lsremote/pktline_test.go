package lsremote

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestPktReader(t *testing.T) {
	longest := strings.Repeat("x", maxPkt-pktHeader)
	in := "0006a\n" + "0005b" + "0004" + "0005\n" + "0007c\n\n" + "0000" + "0001" + "0002" + "FFF0" + longest + "fff0" + longest + "0000"
	type packet struct {
		kind pktKind
		text string
	}
	want := []packet{
		{pktLine, "a"}, {pktLine, "b"}, {pktLine, ""}, {pktLine, ""}, {pktLine, "c\n"},
		{pktFlush, ""}, {pktDelim, ""}, {pktEnd, ""}, {pktLine, longest}, {pktLine, longest}, {pktFlush, ""},
	}
	for name, r := range map[string]io.Reader{
		"at once":       strings.NewReader(in),
		"byte by byte":  slowly([]byte(in)),
		"data with EOF": iotest.DataErrReader(strings.NewReader(in)),
	} {
		p := newPktReader(r, 1<<20)
		for i, w := range want {
			kind, payload, err := p.next()
			if err != nil || kind != w.kind || string(payload) != w.text {
				t.Fatalf("%s: packet %d: got %d %.20q, %v", name, i, kind, payload, err)
			}
		}
		if _, _, err := p.next(); !isCut(err) {
			t.Errorf("%s: after the end: %v", name, err)
		}
		if len(p.buf) > maxBuffer {
			t.Errorf("%s: the buffer has grown to %d bytes", name, len(p.buf))
		}
	}
}

func TestPktReaderErrors(t *testing.T) {
	for name, c := range map[string]struct {
		in   string
		kind fault.Kind
		cut  bool
	}{
		"nothing":             {"", fault.Protocol, true},
		"half a header":       {"00", fault.Protocol, true},
		"half a packet":       {"000aab", fault.Protocol, true},
		"between two packets": {"0005a", fault.Protocol, true},
		"length three":        {"0003", fault.Protocol, false},
		"length 65521":        {"fff1", fault.Protocol, false},
		"length 65535":        {"ffff", fault.Protocol, false},
		"no hex":              {"0005a00g0", fault.Protocol, false},
		"a sign":              {"0005a+005", fault.Protocol, false},
		"a web page":          {"<html>", fault.NotGit, false},
		"an error packet":     {"0011ERR not here\n", fault.Protocol, false},
		"a refusal":           {"0022ERR access denied to this one\n", fault.Forbidden, false},
	} {
		p := packets([]byte(c.in))
		var err error
		for err == nil {
			_, _, err = p.next()
		}
		if fault.KindOf(err) != c.kind || isCut(err) != c.cut {
			t.Errorf("%s: %v (cut: %t)", name, err, isCut(err))
		}
	}
}

func TestPktReaderERR(t *testing.T) {
	_, _, err := packets(fmt.Appendf(nil, "%04xERR %s\n", 4+4+5+1, "gone!")).next()
	if e, ok := errors.AsType[*fault.Error](err); !ok || e.Server != "gone!" {
		t.Errorf("got %#v", err)
	}
}

// The errors of the stream itself are for the transport to judge.
func TestPktReaderPassesErrorsOn(t *testing.T) {
	broken := errors.New("broken")
	p := newPktReader(io.MultiReader(strings.NewReader("0005a00"), iotest.ErrReader(broken)), 1<<20)
	if _, payload, err := p.next(); string(payload) != "a" || err != nil {
		t.Fatalf("got %q, %v", payload, err)
	}
	if _, _, err := p.next(); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

// idle never returns anything, nor an end.
type idle struct{}

func (idle) Read([]byte) (int, error) { return 0, nil }

func TestPktReaderEndsOnAnIdleReader(t *testing.T) {
	if _, _, err := newPktReader(idle{}, 1<<20).next(); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("next: %v", err)
	}
	if err := newPktReader(idle{}, 1<<20).drain(1 << 20); !errors.Is(err, io.ErrNoProgress) {
		t.Errorf("drain: %v", err)
	}
}

func TestPktReaderLimit(t *testing.T) {
	line := "0032" + strings.Repeat("x", 46)
	in := strings.Repeat(line, 1000) + "0000"
	count := func(limit int64) (n int, err error) {
		p := newPktReader(strings.NewReader(in), limit)
		for {
			kind, _, err := p.next()
			if err != nil || kind == pktFlush {
				return n, err
			}
			n++
		}
	}
	if n, err := count(int64(len(in))); n != 1000 || err != nil {
		t.Errorf("within the limit: %d lines, %v", n, err)
	}
	if n, err := count(int64(len(in)) - 1); fault.KindOf(err) != fault.TooLarge {
		t.Errorf("beyond the limit: %d lines, %v", n, err)
	}
}

func TestPktReaderDrain(t *testing.T) {
	const rest = 100 << 10
	for _, c := range []struct {
		max int64
		eof bool
	}{{rest, true}, {rest / 4, false}} {
		p := packets(append([]byte("0000"), make([]byte, rest)...))
		if _, _, err := p.next(); err != nil {
			t.Fatal(err)
		}
		if err := p.drain(c.max); err != nil || p.eof != c.eof {
			t.Errorf("drain(%d): end seen: %t, %v", c.max, p.eof, err)
		}
	}
}

func FuzzPktReader(f *testing.F) {
	f.Add([]byte("0006a\n00040000000100020003"))
	f.Add([]byte("0009ERR x0000"))
	f.Add([]byte("fff0x"))
	f.Fuzz(func(t *testing.T, in []byte) {
		const limit = 1 << 20
		whole, bytewise := newPktReader(bytes.NewReader(in), limit), newPktReader(slowly(in), limit)
		var rebuilt []byte
		for {
			kind, payload, err := whole.next()
			kind2, payload2, err2 := bytewise.next()
			if kind != kind2 || !bytes.Equal(payload, payload2) || (err == nil) != (err2 == nil) {
				t.Fatalf("the size of the reads matters: %d %q %v, %d %q %v", kind, payload, err, kind2, payload2, err2)
			}
			if err != nil {
				break
			}
			if len(payload) > maxPkt-pktHeader {
				t.Fatalf("a payload of %d bytes", len(payload))
			}
			rebuilt = append(rebuilt, payload...)
		}
		if len(whole.buf) > maxBuffer || len(rebuilt) > len(in) {
			t.Fatalf("a buffer of %d bytes, %d bytes of payload from %d", len(whole.buf), len(rebuilt), len(in))
		}
	})
}
