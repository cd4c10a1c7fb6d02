package main

import (
	"bytes"
	"context"
	"fmt"
	"os/exec"
	"strconv"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// gitCLI starts "git ls-remote" for each reading, as a script does.
type gitCLI struct{ access access }

func (gitCLI) forget() error { return nil }

func (g gitCLI) read(ctx context.Context, url, ref string) (string, error) {
	args := []string{"ls-remote", url}
	if ref != "" {
		args = append(args, ref, ref+"^{}")
	}
	cmd := exec.CommandContext(ctx, "git", args...)
	cmd.Env = append(gittest.Env(), g.access.gitEnv()...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("%w: %s", err, stderr.Bytes())
	}
	n, commit := 0, ""
	for line := range strings.Lines(string(out)) {
		id, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		name, peeled := strings.CutSuffix(name, "^{}")
		if !peeled {
			n++
		}
		if name == ref && (peeled || commit == "") {
			commit = id
		}
	}
	if ref == "" {
		return strconv.Itoa(n), nil
	}
	return commit, nil
}
