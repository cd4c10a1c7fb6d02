package lsremote

import (
	"bytes"
	"fmt"
	"io"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// The framing of git's wire protocol (gitprotocol-common, "pkt-line format"):
// four hex digits with the length of the packet, themselves included, then the
// payload. Lengths below four are special packets without one.
const (
	pktHeader = 4
	maxPkt    = 65520 // the longest packet, header included
)

// pktKind tells a line from the special packets.
type pktKind int

const (
	pktLine  pktKind = iota // a payload
	pktFlush                // 0000, ends a message
	pktDelim                // 0001, separates sections of a message (v2)
	pktEnd                  // 0002, ends a response of a stateless connection (v2)
)

// The buffer of a pktReader grows with what arrives: one ref fits into the
// first size, a long list is read in chunks of the last.
const (
	minBuffer = 4 << 10
	maxBuffer = 64 << 10
)

// pktReader reads packets through a buffer of its own, at most maxBuffer
// bytes, whatever the peer sends.
type pktReader struct {
	r          io.Reader
	buf        []byte
	start, end int   // buf[start:end] is read, but not yet handed out
	total      int64 // bytes read from r
	limit      int64 // how large total may become
	eof        bool  // r has ended
}

func newPktReader(r io.Reader, limit int64) *pktReader {
	return &pktReader{r: r, buf: make([]byte, minBuffer), limit: limit}
}

// next returns the next packet. The payload comes without one final LF and is
// valid until the next call. An ERR packet becomes an error: it may stand
// wherever a line may (gitprotocol-pack, "pkt-line Format"). An end of the
// stream is always an error, for a message ends with a flush packet; that
// error wraps io.ErrUnexpectedEOF. Errors of r are returned as they are.
func (p *pktReader) next() (pktKind, []byte, error) {
	if err := p.fill(pktHeader); err != nil {
		return 0, nil, err
	}
	n, ok := parseLength(p.buf[p.start:])
	switch {
	case !ok:
		return 0, nil, p.noLength()
	case n == 3 || n > maxPkt:
		return 0, nil, protocolError(nil, "a packet has the impossible length %d", n)
	case n < pktHeader:
		p.start += pktHeader
		return pktFlush + pktKind(n), nil, nil
	}
	if err := p.fill(n); err != nil {
		return 0, nil, err
	}
	payload := p.buf[p.start+pktHeader : p.start+n]
	p.start += n
	if last := len(payload) - 1; last >= 0 && payload[last] == '\n' {
		payload = payload[:last]
	}
	if text, found := bytes.CutPrefix(payload, []byte("ERR ")); found {
		return 0, nil, refused(string(text))
	}
	return pktLine, payload, nil
}

// fill makes at least n bytes available in buf[start:end].
func (p *pktReader) fill(n int) error {
	if p.end-p.start >= n {
		return nil
	}
	return p.more(n)
}

// more reads until at least n bytes are available in buf[start:end].
func (p *pktReader) more(n int) error {
	if p.start > 0 {
		p.end = copy(p.buf, p.buf[p.start:p.end])
		p.start = 0
	}
	if len(p.buf) < n {
		p.grow(n)
	}
	for empty := 0; p.end < n; {
		if p.eof {
			return p.cut()
		}
		got, err := p.r.Read(p.buf[p.end:])
		p.end += got
		p.total += int64(got)
		if p.total > p.limit {
			return tooLarge(p.limit)
		}
		switch {
		case err == io.EOF:
			p.eof = true
		case err != nil && p.end < n:
			return err
		case got == 0:
			// io.Reader allows it; for ever it would be a loop of ours.
			if empty++; empty > 100 {
				return io.ErrNoProgress
			}
		case p.end == len(p.buf) && len(p.buf) < maxBuffer:
			// The peer is faster than the buffer is long.
			p.grow(2 * len(p.buf))
		}
	}
	return nil
}

// grow makes buf at least n bytes long. It keeps what is in it.
func (p *pktReader) grow(n int) {
	size := len(p.buf)
	for size < n {
		size *= 2
	}
	bigger := make([]byte, size)
	p.end = copy(bigger, p.buf[p.start:p.end])
	p.start = 0
	p.buf = bigger
}

// noLength is for four bytes that are no length. At the very beginning they
// are those of a web page, a login banner or another protocol.
func (p *pktReader) noLength() error {
	e := protocolError(p.buf[p.start:p.end], "a packet begins with something that is no length")
	if p.total == int64(p.end-p.start) {
		e.Kind, e.Happened = fault.NotGit, "the answer does not speak git's protocol"
	}
	return e
}

// cut says where the stream broke off.
func (p *pktReader) cut() error {
	where := "between two packets"
	switch {
	case p.total == 0:
		where = "before its first byte"
	case p.end > p.start:
		where = "in the middle of a packet"
	}
	e := protocolError(nil, "the answer ended %s, without the flush packet that completes it", where)
	e.Err = io.ErrUnexpectedEOF
	return e
}

// line is next for a place where nothing but a line or a flush packet may
// stand. ok is false for the flush packet.
func (p *pktReader) line() (payload []byte, ok bool, err error) {
	kind, payload, err := p.next()
	switch {
	case err != nil:
		return nil, false, err
	case kind == pktFlush:
		return nil, false, nil
	case kind != pktLine:
		return nil, false, protocolError(nil, "a packet of type %04d where a line or a flush packet belongs", kind-pktFlush)
	}
	return payload, true, nil
}

// drain reads to the end of the stream, but about enough bytes at
// most: an HTTP connection can be used again only when its answer was read to
// the end.
func (p *pktReader) drain(enough int64) error {
	for got := int64(p.end - p.start); !p.eof && got <= enough; {
		n, err := p.r.Read(p.buf)
		got += int64(n)
		p.total += int64(n)
		switch {
		case err == io.EOF:
			p.eof = true
		case err != nil:
			return err
		case n == 0:
			return io.ErrNoProgress
		}
	}
	p.start, p.end = 0, 0
	return nil
}

// parseLength reads the four hex digits that begin a packet, in either case.
func parseLength(b []byte) (n int, ok bool) {
	for _, c := range b[:pktHeader] {
		d := hexValue[c]
		if d < 0 {
			return 0, false
		}
		n = n<<4 | int(d)
	}
	return n, true
}

// hexValue is the value of a hex digit, -1 for every other byte.
var hexValue = func() (t [256]int8) {
	for i := range t {
		t[i] = -1
	}
	for i := range 10 {
		t['0'+i] = int8(i)
	}
	for i := range 6 {
		t['a'+i], t['A'+i] = int8(10+i), int8(10+i)
	}
	return t
}()

// appendPkt appends a line with a final LF. The payload must be shorter than
// maxPkt allows, which the caller has checked.
func appendPkt(b []byte, payload string) []byte {
	return fmt.Appendf(b, "%04x%s\n", pktHeader+len(payload)+1, payload)
}

// The special packets, as they are sent.
const (
	flushPkt = "0000"
	delimPkt = "0001"
)
