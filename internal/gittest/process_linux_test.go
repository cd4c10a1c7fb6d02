package gittest

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestDownKillsProcesses also takes a program that would never end by itself.
func TestDownKillsProcesses(t *testing.T) {
	s := ServeTCP(t, stubborn())
	pid := stubbornPID(t, s.Addr())
	s.Down()
	if alive(pid) {
		t.Errorf("process %d outlived its server", pid)
	}
}

// TestProcessesEndWithTheTest starts this test in another process, which dies
// without any clean-up, as a test binary does on a panic.
func TestProcessesEndWithTheTest(t *testing.T) {
	if os.Getenv("GITTEST_DIE") != "" {
		s, err := StartTCP(stubborn(), TCPOptions{})
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintln(os.Stdout, "stubborn", stubbornPID(t, s.Addr()))
		_ = syscall.Kill(os.Getpid(), syscall.SIGKILL)
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestProcessesEndWithTheTest$")
	cmd.Env = append(os.Environ(), "GITTEST_DIE=1")
	cmd.WaitDelay = time.Second // a survivor would hold our pipes
	out, err := cmd.Output()
	var exit *exec.ExitError
	if !errors.As(err, &exit) {
		t.Fatalf("the other process ended with %v, want a kill", err)
	}
	_, text, _ := strings.Cut(string(out), "stubborn ")
	pid, err := strconv.Atoi(strings.TrimSpace(text))
	if err != nil {
		t.Fatalf("the other process printed %q", out)
	}
	for deadline := time.Now().Add(30 * time.Second); alive(pid); {
		if time.Now().After(deadline) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
			t.Fatalf("process %d outlived the test that started it", pid)
		}
		pause(context.Background(), 10*time.Millisecond)
	}
}

// stubborn starts a program that says its process id and then does not look at
// its connection any more.
func stubborn() ConnHandler {
	return inetd(Env(), os.Stderr, "sh", "-c", "echo $$; exec sleep 1000")
}

func stubbornPID(t *testing.T, addr string) int {
	t.Helper()
	var d net.Dialer
	c, err := d.DialContext(context.Background(), "tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	line, err := bufio.NewReader(c).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(line))
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

// alive reports whether a process runs; one that has ended and that nobody has
// waited for does not.
func alive(pid int) bool {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return false
	}
	// The state follows the name, which is in parentheses.
	_, state, _ := strings.Cut(string(stat), ") ")
	return !strings.HasPrefix(state, "Z") && !strings.HasPrefix(state, "X")
}
