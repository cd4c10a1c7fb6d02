package gittest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"time"
)

// inetd returns a handler that starts a program for each connection, with the
// connection itself as its standard input and output, as inetd did. So the
// test process holds the port, and no program has to find a free one.
func inetd(env []string, stderr io.Writer, name string, args ...string) ConnHandler {
	return func(ctx context.Context, c net.Conn) {
		tcp, ok := c.(*net.TCPConn)
		if !ok {
			return
		}
		file, err := tcp.File()
		if err != nil {
			fmt.Fprintln(stderr, "handing over a connection:", err)
			return
		}
		cmd := exec.Command(name, args...)
		cmd.Env = env
		cmd.Stdin, cmd.Stdout, cmd.Stderr = file, file, stderr
		if err := runProcess(ctx, cmd, file, c); err != nil {
			fmt.Fprintf(stderr, "%s: %v\n", name, err)
		}
	}
}

// runProcess runs cmd to its end, and ends it and the processes that it
// started when ctx is done or this process dies. The files in handedOver
// belong to the program: ours are closed once it runs.
func runProcess(ctx context.Context, cmd *exec.Cmd, handedOver ...io.Closer) error {
	setProcessAttributes(cmd)
	// A descendant that outlives cmd must not keep us waiting for its
	// standard error.
	cmd.WaitDelay = time.Second
	done := make(chan error, 1)
	started := make(chan error, 1)
	go func() {
		// Linux sends the death signal when the *thread* that started the
		// process ends, so this one is kept as long as the process lives.
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		err := cmd.Start()
		started <- err
		if err == nil {
			done <- cmd.Wait()
		}
	}()
	err := <-started
	for _, c := range handedOver {
		_ = c.Close()
	}
	if err != nil {
		return err
	}
	select {
	case err = <-done:
	case <-ctx.Done():
		killProcess(cmd)
		err = <-done
	}
	var exit *exec.ExitError
	if errors.As(err, &exit) || errors.Is(err, exec.ErrWaitDelay) {
		return nil // it was killed, or has said why on its standard error
	}
	return err
}

// lookPath finds a program on PATH, or in the directories of system programs,
// which are not on the PATH of every user.
func lookPath(name string) (string, error) {
	if path, err := exec.LookPath(name); err == nil {
		return path, nil
	}
	for _, dir := range []string{"/usr/sbin", "/usr/local/sbin", "/sbin"} {
		path := dir + "/" + name
		if info, err := os.Stat(path); err == nil && info.Mode()&0o111 != 0 {
			return path, nil
		}
	}
	return "", fmt.Errorf("%s is not installed", name)
}
