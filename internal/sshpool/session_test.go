package sshpool

import (
	"context"
	"errors"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestSessionRunsTheCommand(t *testing.T) {
	got := make(chan execution, 1)
	s := newServer(t, func(s *server) {
		s.exec = func(e *execution) int {
			got <- *e
			_, _ = io.Copy(e, e)
			_, _ = io.WriteString(e.Stderr(), "remote: bye\n")
			return 0
		}
	})
	p := newPool(t, Options{})
	session, err := p.Session(t.Context(), s.addr(), s.auth(), map[string]string{"GIT_PROTOCOL": "version=2", "LANG": "C"}, "git-upload-pack 'acme/app.git'")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	e := <-got
	if e.command != "git-upload-pack 'acme/app.git'" || e.env["GIT_PROTOCOL"] != "version=2" || e.env["LANG"] != "C" {
		t.Errorf("the server got command %q with %v", e.command, e.env)
	}
	for _, part := range []string{"hello ", "world"} {
		if n, err := io.WriteString(session.Stdin, part); n != len(part) || err != nil {
			t.Fatalf("wrote %d, %v", n, err)
		}
	}
	if err := session.Stdin.Close(); err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(session.Stdout)
	if string(out) != "hello world" || err != nil {
		t.Errorf("read %q, %v", out, err)
	}
	if got := session.Stderr(); got != "remote: bye\n" {
		t.Errorf("error output %q", got)
	}
	if err := session.Wait(); err != nil {
		t.Error(err)
	}
}

func TestSessionEnds(t *testing.T) {
	signal := struct {
		Signal     string
		CoreDumped bool
		Message    string
		Language   string
	}{Signal: "KILL"}
	for name, test := range map[string]struct {
		exec   func(*execution) int
		out    string
		status int
		text   string
	}{
		"a failed command": {func(e *execution) int {
			_, _ = io.WriteString(e, "partial")
			return 128
		}, "partial", 128, "the command ended with status 128"},
		"a signal": {func(e *execution) int {
			_, _ = e.SendRequest("exit-signal", false, ssh.Marshal(signal))
			return -1
		}, "", -1, "the command was ended by signal KILL"},
		"closed without output": {func(*execution) int { return -1 }, "", -1, "the server closed the session without an exit status"},
	} {
		t.Run(name, func(t *testing.T) {
			s := newServer(t, func(s *server) { s.exec = test.exec })
			out, err := run(t.Context(), newPool(t, Options{}), s.addr(), s.auth(), "x", "")
			if err == nil {
				t.Fatalf("no error; output %q", out)
			}
			var exit *ExitError
			if !errors.As(err, &exit) || exit.Status != test.status || exit.Error() != test.text {
				t.Errorf("got %#v (%v), want status %d, %q", err, err, test.status, test.text)
			}
		})
	}
}

func TestSessionLostConnectionIsNotTheEnd(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.exec = func(e *execution) int {
			_, _ = io.WriteString(e, "half of it")
			// The client must have it, or nothing was answered.
			_, _ = io.ReadFull(e, make([]byte, 1))
			_ = e.conn.Close()
			return 0
		}
	})
	session, err := newPool(t, Options{}).Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	buf := make([]byte, 10)
	if _, err := io.ReadFull(session.Stdout, buf); err != nil || string(buf) != "half of it" {
		t.Fatalf("read %q, %v", buf, err)
	}
	if _, err := session.Stdin.Write([]byte{0}); err != nil {
		t.Fatal(err)
	}
	_, err = io.ReadAll(session.Stdout)
	f := wantFault(t, err, fault.Unavailable, fault.PhaseRefs, "was lost")
	if !f.Transient {
		t.Error("a lost connection is worth another try")
	}
	wantFault(t, session.Wait(), fault.Unavailable, fault.PhaseRefs)
	if _, err := session.Stdin.Write([]byte{0}); err == nil {
		t.Error("a write to a lost connection succeeded")
	}
}

func TestSessionStderrIsBounded(t *testing.T) {
	line := strings.Repeat("x", 99) + "\n"
	s := newServer(t, func(s *server) {
		s.exec = func(e *execution) int {
			for range 100_000 { // 10 MB: more than the channel's window
				if _, err := io.WriteString(e.Stderr(), line); err != nil {
					return 1
				}
			}
			_, _ = io.WriteString(e, "done")
			return 0
		}
	})
	session, err := newPool(t, Options{}).Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	out, err := io.ReadAll(session.Stdout)
	if string(out) != "done" || err != nil {
		t.Fatalf("read %q, %v", out, err)
	}
	if got := session.Stderr(); len(got) != 4096 || !strings.HasPrefix(got, line) {
		t.Errorf("kept %d bytes of the error output, want 4096", len(got))
	}
}

// A reader that asks for few bytes at a time must not make the client send a
// window adjustment for each: of 100,000 refs that would be 8 MB.
func TestSessionTinyReadsCostNoUpload(t *testing.T) {
	const size = 7 << 20
	s := newServer(t, func(s *server) {
		s.exec = func(e *execution) int {
			block := make([]byte, 8<<10)
			for sent := 0; sent < size; sent += len(block) {
				if _, err := e.Write(block); err != nil {
					return 1
				}
			}
			return 0
		}
	})
	session, err := newPool(t, Options{}).Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	read, buf := 0, make([]byte, 4)
	for {
		n, err := session.Stdout.Read(buf)
		read += n
		if err == io.EOF {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	c := s.connections()[0]
	c.mu.Lock()
	defer c.mu.Unlock()
	t.Logf("%d bytes down, %d up", read, c.bytesFromClient)
	if read != size || c.bytesFromClient > 64<<10 {
		t.Errorf("read %d of %d bytes; sent %d, want at most 64 KiB", read, size, c.bytesFromClient)
	}
}

// A session without an exit status makes the client ask whether the connection
// lives. A server may ignore that.
func TestSessionEndsThoughKeepalivesAreIgnored(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.ignore = true
		s.exec = func(e *execution) int { _, _ = io.WriteString(e, "all of it"); return -1 }
	})
	p := newPool(t, Options{})
	p.patience = 10 * time.Millisecond
	session, err := p.Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if out, err := io.ReadAll(session.Stdout); string(out) != "all of it" || err != nil {
		t.Errorf("read %q, %v", out, err)
	}
}

// After the command has ended a write fails in a way that says: read on.
func TestSessionWriteAfterTheEnd(t *testing.T) {
	s := newServer(t, func(s *server) { s.exec = func(*execution) int { return 3 } })
	session, err := newPool(t, Options{}).Session(t.Context(), s.addr(), s.auth(), nil, "x")
	if err != nil {
		t.Fatal(err)
	}
	defer session.Close()
	if _, err := io.ReadAll(session.Stdout); err != nil {
		t.Fatal(err)
	}
	if _, err := session.Stdin.Write([]byte("more")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("write: %v", err)
	}
	if err := session.Stdin.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
}

// Closing a session early, with megabytes under way, keeps the connection.
func TestSessionClosedEarlyKeepsTheConnection(t *testing.T) {
	s := newServer(t, func(s *server) {
		s.exec = func(e *execution) int {
			if e.command == "cat" {
				_, _ = io.Copy(e, e)
				return 0
			}
			for block := make([]byte, 32<<10); ; {
				if _, err := e.Write(block); err != nil {
					return -1
				}
			}
		}
	})
	p := newPool(t, Options{})
	for range 3 {
		ctx, cancel := context.WithCancel(t.Context())
		session, err := p.Session(ctx, s.addr(), s.auth(), nil, "endless")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(session.Stdout, make([]byte, 100)); err != nil {
			t.Fatal(err)
		}
		if err := session.Close(); err != nil {
			t.Fatal(err)
		}
		cancel()
		s.mustRun(p, "still here")
	}
	if n := len(s.connections()); n != 1 {
		t.Errorf("%d connections, want 1", n)
	}
}
