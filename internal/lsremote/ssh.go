package lsremote

import (
	"context"
	"errors"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/sshpool"
)

// ssh reads over a session of the pool: git-upload-pack is run on the server,
// with version 2 asked for in the environment, which a server may refuse to
// set (gitprotocol-v2, "SSH and File Transport").
func (r *reading) ssh(ctx context.Context) (*Advertisement, error) {
	return r.ahead(ctx, r.sshSession)
}

// sshSession reads over one session.
func (r *reading) sshSession(ctx context.Context, w way) (*Advertisement, error) {
	r.log.Requests++
	s, err := r.pool.Session(ctx, r.remote.Address(), r.auth, map[string]string{"GIT_PROTOCOL": "version=2"},
		"git-upload-pack "+quoteForShell(r.remote.RepoArg()))
	if err != nil {
		return nil, err
	}
	defer func() { _ = s.Close() }()
	before := r.log.BytesIn
	a, err := r.converse(s.Stdout, s.Stdin, w)
	if err != nil && (isCut(err) || fault.KindOf(err) == fault.NotGit) && ctx.Err() == nil {
		return nil, sshEnded(s.Wait(), s.Stderr(), r.log.BytesIn == before, err)
	}
	return a, err
}

// sshEnded says why a session gave no advertisement. err is what the parser
// made of its output.
func sshEnded(exit error, stderr string, silent bool, err error) error {
	if f, ok := errors.AsType[*fault.Error](exit); ok {
		return f
	}
	var e *fault.Error
	code, _ := errors.AsType[*sshpool.ExitError](exit)
	switch {
	case code != nil && (code.Status == 126 || code.Status == 127):
		e = &fault.Error{Kind: fault.NotGit, Phase: fault.PhaseRefs, Server: stderr,
			Happened: "git-upload-pack cannot be run on the server: " + code.Error(),
			Advice:   "Check that git is installed there and on the PATH of the user in the URL."}
	case strings.TrimSpace(stderr) != "":
		e = refused(stderr)
	case silent && code != nil:
		e = hungUp(err)
		e.Transient = false
		e.Happened = "the server ended the session without a word: " + code.Error()
	case silent:
		e = hungUp(err)
		e.Happened = "the server ended the session without a word"
	default:
		return err
	}
	e.Err = err
	return e
}

// quoteForShell quotes an argument as git does it for the command line on the
// server: in single quotes; a quote and, for csh, an exclamation mark stand
// outside of them.
func quoteForShell(arg string) string {
	return "'" + strings.NewReplacer("'", `'\''`, "!", `'\!'`).Replace(arg) + "'"
}
