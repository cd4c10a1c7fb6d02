//go:build unix

package provider

import (
	"bytes"
	"fmt"
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

// end sends a signal and waits for the end. all also sends it to the provider.
// The guard is far below the timeout of the readings here.
func (r *running) end(t *testing.T, signal syscall.Signal, all bool) result {
	t.Helper()
	to := r.cmd.Process.Pid
	if all {
		to = -to
	}
	if err := syscall.Kill(to, signal); err != nil {
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

// Field case 50: an interrupt ends a reading at once, with a timeout of an hour,
// whatever the provider is at. Each case has a server of its own: what a process
// that has ended still had under way must not set off the next signal.
func TestInterruptEndsEveryReading(t *testing.T) {
	const slow = "provider \"gitpin\" {\n  timeout = \"1h\"\n}\n"
	const stopped, ours = "Interrupt received", "the run was interrupted"
	pin := func(branch string) func(string) string {
		return func(url string) string { return selfPin(url, branch, "") }
	}
	for name, c := range map[string]struct {
		config func(url string) string
		args   []string
		all    bool
		says   string
	}{
		"data source": {func(url string) string {
			return fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = %q\n  branch = \"main\"\n}\n", url)
		}, []string{"plan"}, false, stopped},
		"wait": {func(url string) string {
			return fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = %q\n  branch = \"new\"\n  wait = { timeout = \"2h\" }\n}\n", url)
		}, []string{"plan"}, false, stopped},
		"snapshot": {func(url string) string {
			return fmt.Sprintf("data \"gitpin_snapshot\" \"d\" {\n  targets = { a = { url = %q, branch = \"main\" } }\n}\n", url)
		}, []string{"plan"}, false, stopped},
		"refresh":     {pin("main"), []string{"plan"}, false, stopped},
		"new reading": {pin("foo"), []string{"plan", "-refresh=false"}, false, stopped},
		// Terraform does not pass it on while it plans as a part of apply. A
		// terminal sends it to the provider as well.
		"as a part of apply": {pin("foo"), []string{"apply", "-auto-approve", "-refresh=false"}, true, ours},
	} {
		t.Run(name, func(t *testing.T) {
			url, silence, asked := mute(t, gittest.Repos(t))
			w := newWorkspace(t)
			w.write(slow, selfPin(url, "main", ""))
			w.apply()
			silence(true)
			w.write(slow, c.config(url))
			r := w.start(append(c.args, "-no-color")...)
			<-asked
			ended := r.end(t, syscall.SIGINT, c.all)
			if ended.code == 0 {
				t.Errorf("the command succeeded:\n%s", ended.all())
			}
			wantText(t, ended.all(), c.says)
			silence(false)
			w.write(slow, selfPin(url, "main", ""))
			w.plan(0)
		})
	}
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
		r.end(t, syscall.SIGKILL, true)
		silence(false)
		want(t, "commit", w.state(thePin)["commit"], commitMain)
	}
	w.apply()
	want(t, "commit", w.state(thePin)["commit"], gittest.Git(t, filepath.Join(root, "a.git"), "rev-parse", "refs/heads/foo"))
}
