package lsremote

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"
)

// localEnv is the environment that git runs in on local repositories.
//
// A reading must be the same on every machine (I8), so git gets none of the
// GIT_ variables and no system or user configuration: transfer.hideRefs there,
// for one, would hide refs. The one exception is git's ownership check: the
// safe.directory values of the system and the user are asked for once, and
// handed on in a configuration file of our own. git takes them from such a
// file only, not from the command line (before 2.38).
type localEnv struct {
	lock chan struct{} // holds one element while env and dir are in use
	env  []string
	dir  string // holds the configuration file; "" for none
}

func newLocalEnv() *localEnv { return &localEnv{lock: make(chan struct{}, 1)} }

// get returns the environment. It must not be changed.
func (l *localEnv) get(ctx context.Context) ([]string, error) {
	select {
	case l.lock <- struct{}{}:
		defer func() { <-l.lock }()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	if l.env != nil {
		return l.env, nil
	}
	trusted, err := safeDirectories(ctx)
	if err != nil {
		return nil, err
	}
	config := os.DevNull
	if len(trusted) > 0 {
		if l.dir, err = os.MkdirTemp("", "gitpin-"); err != nil {
			return nil, err
		}
		config = filepath.Join(l.dir, "config")
		if err := os.WriteFile(config, safeConfig(trusted), 0o600); err != nil {
			return nil, err
		}
	}
	l.env = append(environ(nil), "LC_ALL=C", "GIT_CONFIG_NOSYSTEM=1", "GIT_CONFIG_GLOBAL="+config)
	return l.env, nil
}

// close removes the configuration file.
func (l *localEnv) close() error {
	l.lock <- struct{}{}
	defer func() { <-l.lock }()
	if l.dir == "" {
		return nil
	}
	l.env = nil
	return os.RemoveAll(l.dir)
}

// safeDirectories returns the values of safe.directory that the system and the
// user have set.
func safeDirectories(ctx context.Context) ([]string, error) {
	var out bytes.Buffer
	cmd := exec.CommandContext(ctx, "git", "config", "--null", "--get-all", "safe.directory")
	// A repository of no use: where we happen to run, there may be a real one,
	// and what it says about itself must not count.
	cmd.Env = append(environ([]string{"GIT_CONFIG_GLOBAL", "GIT_CONFIG_SYSTEM", "GIT_CONFIG_NOSYSTEM"}), "GIT_DIR="+os.DevNull)
	cmd.Stdout = &out
	cmd.WaitDelay = time.Second
	killWithGroup(cmd)
	err := cmd.Run()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if errors.As(err, new(*exec.ExitError)) {
		// There is none, or no file can be read; then git trusts the user's own
		// repositories only.
		return nil, nil
	}
	if err != nil || out.Len() == 0 {
		return nil, err
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\x00"), "\x00"), nil
}

// safeConfig writes a git configuration file. An empty value is kept: it
// resets those before it.
func safeConfig(trusted []string) []byte {
	b := []byte("[safe]\n")
	escape := strings.NewReplacer(`\`, `\\`, `"`, `\"`, "\n", `\n`)
	for _, directory := range trusted {
		b = fmt.Appendf(b, "\tdirectory = \"%s\"\n", escape.Replace(directory))
	}
	return b
}

// environ returns the environment without the variables that change what git
// does or which language it speaks, but with those named in keep.
func environ(keep []string) []string {
	var env []string
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		upper := strings.ToUpper(name)
		ours := strings.HasPrefix(upper, "GIT_") || strings.HasPrefix(upper, "LC_") || upper == "LANG" || upper == "LANGUAGE"
		for _, k := range keep {
			ours = ours && upper != k
		}
		if !ours {
			env = append(env, variable)
		}
	}
	return env
}
