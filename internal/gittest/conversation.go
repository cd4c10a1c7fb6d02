package gittest

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"time"
)

// Step is one thing that a fault server does on a TCP connection or on the
// channel of an ssh session. It has to end soon after ctx has, or the
// connection is closed. An error ends the conversation.
type Step func(ctx context.Context, c io.ReadWriteCloser) error

// Conversation returns a handler that takes the steps one after the other and
// then closes the connection. For example, a server of git:// that speaks
// version 2 and stops in the middle of a ref:
//
//	Conversation(ReadPacket, Send(PktLines("version 2", "ls-refs")), ReadToFlush,
//		Send([]byte("003f4944cb3a7cbdea7e")), Hang)
func Conversation(steps ...Step) ConnHandler {
	return func(ctx context.Context, c net.Conn) {
		if takeSteps(ctx, c, steps) == nil {
			finish(c)
		}
	}
}

func takeSteps(ctx context.Context, c io.ReadWriteCloser, steps []Step) error {
	for _, step := range steps {
		if err := step(ctx, c); err != nil {
			return err
		}
	}
	return nil
}

// finish ends the sending side and waits for the peer, because a connection
// that is closed with unread bytes is reset, and what was sent may be lost.
func finish(c net.Conn) {
	closeWrite(c)
	_, _ = io.Copy(io.Discard, c)
}

// Send sends data.
func Send(data []byte) Step {
	return func(_ context.Context, c io.ReadWriteCloser) error {
		_, err := c.Write(data)
		return err
	}
}

// Drip sends data byte by byte, with a pause before each.
func Drip(data []byte, every time.Duration) Step {
	return func(ctx context.Context, c io.ReadWriteCloser) error {
		for i := range data {
			if !pause(ctx, every) {
				return ctx.Err()
			}
			if _, err := c.Write(data[i : i+1]); err != nil {
				return err
			}
		}
		return nil
	}
}

// Endless sends data again and again, as fast as the peer takes it.
func Endless(data []byte) Step {
	// One write for each line would be slow.
	block := bytes.Repeat(data, max(1, 32<<10/max(1, len(data))))
	return func(_ context.Context, c io.ReadWriteCloser) error {
		for {
			if _, err := c.Write(block); err != nil {
				return err
			}
		}
	}
}

// Hang reads what comes, says nothing, and ends with the peer or the server.
func Hang(ctx context.Context, c io.ReadWriteCloser) error {
	_, err := io.Copy(io.Discard, c)
	if _, ok := c.(net.Conn); !ok {
		// The client of an ssh session may end its input and still wait.
		<-ctx.Done()
	}
	return err
}

// Reset ends the TCP connection, of an ssh session too, with a reset. It is no
// step for an answer over HTTP; see ResetConnection.
func Reset(_ context.Context, c io.ReadWriteCloser) error {
	switch c := c.(type) {
	case net.Conn:
		reset(c)
	case interface{ reset() }:
		c.reset()
	default:
		return errors.New("only a TCP connection can be reset")
	}
	return io.EOF
}

// ReadPacket reads one pkt-line, such as the request of git://.
func ReadPacket(_ context.Context, c io.ReadWriteCloser) error {
	_, _, err := readPkt(c)
	return err
}

// ReadToFlush reads up to and with a flush packet, as a v2 command ends.
func ReadToFlush(_ context.Context, c io.ReadWriteCloser) error {
	for {
		_, special, err := readPkt(c)
		if err != nil || special == FlushPkt {
			return err
		}
	}
}
