//go:build unix

package provider

import (
	"bytes"
	"net/http"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// running is a command of the CLI that has not ended yet.
type running struct {
	cmd            *exec.Cmd
	stdout, stderr bytes.Buffer
}

// start starts the CLI in a process group of its own.
func (w *workspace) start(args ...string) *running {
	w.t.Helper()
	r := &running{cmd: exec.CommandContext(w.t.Context(), w.cli, args...)}
	r.cmd.Dir, r.cmd.Env = w.dir, w.env
	r.cmd.Stdout, r.cmd.Stderr = &r.stdout, &r.stderr
	r.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := r.cmd.Start(); err != nil {
		w.t.Fatal(err)
	}
	return r
}

// end sends a signal to the CLI and its provider, and waits for the end.
// The guard is far below the timeout of the readings here.
func (r *running) end(t *testing.T, signal syscall.Signal) result {
	t.Helper()
	if err := syscall.Kill(-r.cmd.Process.Pid, signal); err != nil {
		t.Fatal(err)
	}
	guard := time.AfterFunc(2*time.Minute, func() { _ = syscall.Kill(-r.cmd.Process.Pid, syscall.SIGKILL) })
	_ = r.cmd.Wait() // the exit code tells
	if !guard.Stop() {
		t.Fatalf("the command did not end:\n%s%s", r.stdout.String(), r.stderr.String())
	}
	return result{r.cmd.ProcessState.ExitCode(), r.stdout.String(), r.stderr.String()}
}

// mute returns a server that can fall silent: it takes requests then, says so,
// and answers none.
func mute(t *testing.T, root string) (url string, silence func(bool), asked <-chan struct{}) {
	t.Helper()
	requests := make(chan struct{}, 100)
	quiet := make(chan bool, 1)
	quiet <- false
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			now := <-quiet
			quiet <- now
			if !now {
				next.ServeHTTP(rw, r)
				return
			}
			requests <- struct{}{}
			gittest.Silence().ServeHTTP(rw, r)
		})
	}})
	return server.URL + "/a.git", func(on bool) { <-quiet; quiet <- on }, requests
}

// Field case 50: an interrupt ends a reading at once, with a timeout of an hour.
// Terraform does not pass it on while it plans as a part of apply; a terminal
// sends it to the provider as well.
func TestInterruptEndsAReadingOfApply(t *testing.T) {
	url, silence, asked := mute(t, gittest.Repos(t))
	const slow = "provider \"gitpin\" {\n  timeout = \"1h\"\n}\n"
	w := newWorkspace(t)
	w.write(slow, selfPin(url, "foo", ""))
	silence(true)
	r := w.start("apply", "-auto-approve", "-no-color")
	<-asked
	ended := r.end(t, syscall.SIGINT)
	if ended.code == 0 {
		t.Errorf("the command succeeded:\n%s", ended.all())
	}
	wantText(t, ended.all(), "the run was interrupted")
}

// A CLI or provider that is killed in the middle of an apply leaves the old pin,
// and the next apply works.
func TestKillLeavesTheOldPin(t *testing.T) {
	root := gittest.Repos(t)
	url, silence, asked := mute(t, root)
	w := newWorkspace(t)
	w.write(selfPin(url, "main", ""))
	w.apply()
	w.write(selfPin(url, "foo", ""))
	for range 2 {
		silence(true)
		r := w.start("apply", "-auto-approve", "-no-color")
		<-asked
		r.end(t, syscall.SIGKILL)
		silence(false)
		want(t, "commit", w.state(thePin)["commit"], commitMain)
	}
	w.apply()
	want(t, "commit", w.state(thePin)["commit"], gittest.Git(t, filepath.Join(root, "a.git"), "rev-parse", "refs/heads/foo"))
}
