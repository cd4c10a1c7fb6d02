package gittest

import (
	"context"
	"io"
	"net"
	"sync/atomic"
	"time"
)

// CutKind says how a connection ends that is cut.
type CutKind int

// The ways in which a connection can be cut.
const (
	CutClose CutKind = iota + 1 // an orderly end
	CutReset                    // a TCP reset
	CutStall                    // stays open, and nothing more comes
)

// relay carries bytes between a client and a server until both are done.
type relay struct {
	delay    time.Duration // one way
	cut      CutKind       // 0 for none
	cutAfter int64         // how many bytes reach the client before the cut
	up, down *atomic.Int64 // bytes to the server and to the client
}

// run ends when both directions have ended, or ctx has. It closes server; its
// caller closes client. fromClient is what client sends, which may have been
// read in part already.
func (r relay) run(ctx context.Context, fromClient io.Reader, client, server net.Conn) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	// A read does not look at ctx, but a closed connection ends it.
	closeBoth := func() { _ = server.Close(); _ = client.Close() }
	defer context.AfterFunc(ctx, closeBoth)()
	defer func() { _ = server.Close() }()

	up := make(chan struct{})
	go func() {
		defer close(up)
		r.carry(ctx, server, fromClient, r.up, -1)
		closeWrite(server)
	}()
	limit := int64(-1)
	if r.cut != 0 {
		limit = r.cutAfter
	}
	cut := r.carry(ctx, client, server, r.down, limit)
	switch {
	case cut && r.cut == CutStall:
		// Only the client can end this.
	case cut && r.cut == CutReset:
		reset(client)
		cancel()
	default:
		closeWrite(client)
	}
	<-up
}

// chunk is what was read at one time, and when it arrives on the other side.
type chunk struct {
	data []byte
	due  time.Time
}

// carry copies src to dst with the delay, and counts. It ends at the end of
// src, or with true when src has more than limit bytes; -1 is no limit.
func (r relay) carry(ctx context.Context, dst io.Writer, src io.Reader, count *atomic.Int64, limit int64) bool {
	// What is under way: enough that the delay does not become a bandwidth.
	chunks := make(chan chunk, 256)
	stop := make(chan struct{})
	go func() {
		defer close(chunks)
		for {
			buf := make([]byte, 32<<10)
			n, err := src.Read(buf)
			if n > 0 {
				select {
				case chunks <- chunk{buf[:n], time.Now().Add(r.delay)}:
				case <-stop:
					return
				}
			}
			if err != nil {
				return
			}
		}
	}()
	defer close(stop)
	var total int64
	for c := range chunks {
		cut := limit >= 0 && total+int64(len(c.data)) > limit
		if cut {
			c.data = c.data[:limit-total]
		}
		if !pause(ctx, time.Until(c.due)) {
			return false
		}
		total += int64(len(c.data))
		count.Add(int64(len(c.data))) // before the peer can act on them
		if _, err := dst.Write(c.data); cut || err != nil {
			return cut
		}
	}
	return false
}

// pause waits for d, and reports whether ctx let it.
func pause(ctx context.Context, d time.Duration) bool {
	if d <= 0 {
		return ctx.Err() == nil
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
