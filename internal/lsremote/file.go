package lsremote

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// file reads a local repository by running git upload-pack on it, as git does
// (gitprotocol-v2, "SSH and File Transport"). So git's own rules hold for
// reftable, worktrees, hidden refs and ownership.
func (r *reading) file(ctx context.Context) (*Advertisement, error) {
	path := filepath.FromSlash(r.remote.RepoArg())
	r.phase.set(fault.PhaseAnswer)
	env, err := r.localEnv.get(ctx)
	if err != nil {
		return nil, noGit(ctx, err)
	}
	p, err := startUploadPack(ctx, env, path)
	if err != nil {
		return nil, noGit(ctx, err)
	}
	r.log.Requests++
	a, err := r.converse(p.stdout, p.stdin, way{order: getFirst})
	p.end(err == nil)
	if err != nil && ctx.Err() == nil && isCut(err) {
		return nil, localRefusal(path, string(p.stderr.text), err)
	}
	return a, err
}

// uploadPack is a running git upload-pack.
type uploadPack struct {
	cmd    *exec.Cmd
	stdin  io.WriteCloser
	stdout io.ReadCloser
	stderr head
	stop   func() bool
}

// startUploadPack starts git upload-pack in a process group of its own, which
// is killed when ctx ends.
func startUploadPack(ctx context.Context, env []string, path string) (*uploadPack, error) {
	p := &uploadPack{cmd: exec.CommandContext(ctx, "git", "upload-pack", "--", path)}
	p.cmd.Env = slices.Concat(env, []string{"GIT_PROTOCOL=version=2"})
	p.cmd.Stderr = &p.stderr
	// A grandchild that outlives the group holds stderr open: Wait must not
	// wait for it.
	p.cmd.WaitDelay = time.Second
	killWithGroup(p.cmd)
	var err error
	if p.stdin, err = p.cmd.StdinPipe(); err != nil {
		return nil, err
	}
	if p.stdout, err = p.cmd.StdoutPipe(); err != nil {
		return nil, err
	}
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	p.stop = context.AfterFunc(ctx, p.hangUp)
	return p, nil
}

// hangUp closes our ends of the pipes, which ends every read and write of
// ours, and, by end of input or a broken pipe, the process.
func (p *uploadPack) hangUp() {
	_ = p.stdin.Close()
	_ = p.stdout.Close()
}

// end waits until the process is gone. answered says that it has nothing more
// to say. How it ended does not matter: an answer is complete or not by its own
// flush packet.
func (p *uploadPack) end(answered bool) {
	p.stop()
	p.hangUp()
	if answered {
		_ = p.cmd.Cancel()
	}
	_ = p.cmd.Wait()
}

// head keeps the first bytes that are written to it and drops the rest.
type head struct{ text []byte }

// maxStderr bounds what is kept of a process's error output, in bytes.
const maxStderr = 4 << 10

func (h *head) Write(b []byte) (int, error) {
	h.text = append(h.text, b[:min(len(b), maxStderr-len(h.text))]...)
	return len(b), nil
}

// noGit says why git cannot be run, unless ctx has ended.
func noGit(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err
	}
	e := &fault.Error{Kind: fault.Unavailable, Phase: fault.PhaseAnswer, HostWide: true, Err: err,
		Happened: "git cannot be run here: " + cause(err), Advice: "Check the git installation of this machine."}
	if errors.Is(err, exec.ErrNotFound) || errors.Is(err, exec.ErrDot) {
		e.Happened = "reading a local repository needs git, which is not on the PATH"
		e.Advice = "Install git, or use the https or ssh URL of the repository."
	}
	return e
}

// localRefusal says why git upload-pack gave no advertisement of path. text is
// what it said on standard error, in English.
func localRefusal(path, text string, err error) *fault.Error {
	e := &fault.Error{Phase: fault.PhaseRefs, Server: text, Err: err}
	_, missing := os.Stat(path)
	switch {
	case strings.Contains(text, "dubious ownership"), strings.Contains(text, "unsafe repository"):
		e.Kind, e.Happened = fault.Forbidden, "git does not trust the repository, for another user owns it"
		e.Advice = "If you trust it, run: git config --global --add safe.directory " + path
	case errors.Is(missing, fs.ErrNotExist):
		e.Kind, e.Happened = fault.NotFound, "there is no directory "+path
		e.Advice = "Check the path."
	case errors.Is(missing, fs.ErrPermission), strings.Contains(text, "Permission denied"):
		e.Kind, e.Happened = fault.Forbidden, "the repository cannot be read by this user"
		e.Advice = "Check the permissions of " + path + "."
	case strings.Contains(text, "not appear to be a git repository"), strings.Contains(text, "not a git repository"), strings.Contains(text, "invalid gitfile"):
		e.Kind, e.Happened = fault.NotGit, path+" is not a git repository"
		e.Advice = "Give the directory of a bare repository, or of a working tree with a .git in it."
	default:
		e.Kind, e.Happened = fault.Protocol, "git upload-pack ended without an answer"
		e.Advice = "Its own words, if any, say why."
	}
	return e
}
