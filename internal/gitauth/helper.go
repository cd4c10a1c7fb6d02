package gitauth

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"strings"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// helper asks git's credential helpers for one remote, once, when the header is
// first wanted. It never tells them whether the answer was good: the user's
// store is not ours to change.
type helper struct {
	question string // in the format of gitcredentials(7)
	answer   shared[login]
}

// helperAuth returns the credentials of git's helpers for r. Nothing is asked
// for plain http to another machine: that would be sent for all to read.
func (k *Keychain) helperAuth(r giturl.Remote) *Auth {
	if r.Scheme == giturl.HTTP && !isLoopback(r.Host) {
		return k.anonymous(r, " (git's credential helper is not asked for plain http)")
	}
	question, ok := helperQuestion(r)
	if !ok {
		return k.anonymous(r, "")
	}
	id := opaqueID("helper", question)
	h, _ := k.ambient.helpers.LoadOrStore(id, &helper{question: question})
	a := &Auth{ID: id, Source: "git's credential helper"}
	if h, ok := h.(*helper); ok {
		a.hide(private{header: h})
	}
	return a
}

// helperQuestion describes r in the helpers' line format. It returns false for a
// remote that cannot be written in it: a line break or NUL in a part would let
// one host ask for another's password (CVE-2020-5260).
func helperQuestion(r giturl.Remote) (string, bool) {
	path, err := url.PathUnescape(strings.TrimPrefix(r.Path, "/"))
	if err != nil {
		return "", false
	}
	lines := []string{"protocol=" + string(r.Scheme), "host=" + r.HTTPURL("").Host, "path=" + path}
	if r.User != "" {
		lines = append(lines, "username="+r.User)
	}
	for _, line := range lines {
		if strings.ContainsAny(line, "\n\r\x00") {
			return "", false
		}
	}
	return strings.Join(lines, "\n") + "\n\n", true
}

func (h *helper) scheme() string {
	if l, _ := h.answer.peek(); l != (login{}) {
		return "Basic"
	}
	return ""
}

func (h *helper) header(ctx context.Context) (string, error) {
	l, err := h.answer.get(ctx, func(login) bool { return true }, h.ask)
	if err != nil || l == (login{}) {
		return "", err
	}
	return basic(l.user, l.secret), nil
}

func (h *helper) renew(context.Context, string) (bool, error) { return false, nil }

func (h *helper) secrets() []login {
	l, _ := h.answer.peek()
	return []login{l}
}

// ask runs `git credential fill`. An empty login means that no helper has one.
func (h *helper) ask(ctx context.Context) (login, error) {
	// Empty askpass programs and no terminal: a run must never wait for a person.
	cmd := exec.CommandContext(ctx, "git", "-c", "credential.interactive=false", "credential", "fill")
	cmd.Env = append(os.Environ(), "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=", "SSH_ASKPASS=", "GCM_INTERACTIVE=never", "LC_ALL=C")
	cmd.Stdin = strings.NewReader(h.question)
	// A helper that goes on after git was killed must not hold up the run.
	cmd.WaitDelay = time.Second
	out, err := cmd.Output()
	if ended := fault.FromContext(ctx, fault.PhaseCredentials); ended != nil {
		ended.Happened += ", waiting for git's credential helper"
		return login{}, ended
	}
	var exit *exec.ExitError
	switch {
	case errors.As(err, &exit) && exit.ExitCode() == exitNoCredentials:
		return login{}, nil
	case err != nil:
		// What a helper writes to its standard error is not shown: nobody says
		// that it holds no secret.
		return login{}, helperError(fmt.Sprintf("`git credential fill` failed: %v", err), err)
	}
	return parseHelperAnswer(out)
}

// exitNoCredentials is git's exit code when it would have to prompt.
const exitNoCredentials = 128

func helperError(happened string, err error) error {
	return &fault.Error{Kind: fault.Credentials, Phase: fault.PhaseCredentials, Happened: happened, Err: err,
		Advice: "Run `git credential fill` by hand, or give the credentials to the provider and leave ambient.git_credential_helper out."}
}

func parseHelperAnswer(out []byte) (login, error) {
	var l login
	lines := bufio.NewScanner(bytes.NewReader(out))
	for lines.Scan() {
		key, value, _ := strings.Cut(lines.Text(), "=")
		switch key {
		case "username":
			l.user = value
		case "password":
			l.secret = value
		}
	}
	if lines.Err() != nil {
		return login{}, helperError("git's credential helper answered with too long a line", nil)
	}
	for key, value := range map[string]string{keyUsername: l.user, keyPassword: l.secret} {
		if checkHeaderValue(key, value) != nil {
			return login{}, helperError("git's credential helper gave a "+key+" that cannot be sent", nil)
		}
	}
	return l, nil
}
