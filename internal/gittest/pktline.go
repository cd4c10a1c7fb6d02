package gittest

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
)

// The special packets of the pkt-line format (gitprotocol-common(5)).
const (
	FlushPkt       = "0000"
	DelimPkt       = "0001"
	ResponseEndPkt = "0002"
)

// Pkt returns text as one pkt-line. Nothing is added: end text with a line
// feed where git would.
func Pkt(text string) []byte {
	return fmt.Appendf(nil, "%04x%s", len(text)+4, text)
}

// PktLines returns each of lines with a line feed as a pkt-line, and a flush
// packet.
func PktLines(lines ...string) []byte {
	var b bytes.Buffer
	for _, line := range lines {
		b.Write(Pkt(line + "\n"))
	}
	b.WriteString(FlushPkt)
	return b.Bytes()
}

// readPkt reads one pkt-line and returns what it holds, or, in special, which
// of the packets it is that hold nothing, such as FlushPkt.
func readPkt(r io.Reader) (text, special string, err error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return "", "", err
	}
	n, err := strconv.ParseUint(string(head[:]), 16, 16)
	if err != nil {
		return "", "", fmt.Errorf("pkt-line length: %w", err)
	}
	if n < 4 {
		return "", string(head[:]), nil
	}
	body := make([]byte, n-4)
	if _, err := io.ReadFull(r, body); err != nil {
		return "", "", fmt.Errorf("a pkt-line is cut off: %w", err)
	}
	return string(body), "", nil
}
