// Command testsum runs go test and judges the run by more than its exit code:
// a test that was skipped, or that no longer runs at all, is a failure unless
// it was agreed to.
//
//	testsum -label NAME -min FILE -skips FILE -- GO-TEST-ARGUMENTS
//
// FILE of -min has lines "LABEL COUNT": fewer tests than that and the run has
// failed. FILE of -skips has lines "LABEL REGEXP", matched against
// "package.TestName": any other skipped test fails the run. In both, "#" starts
// a comment.
//
// It prints what go test prints, the whole output of failed tests and the
// reason of each skip, and closes with "LABEL: N passed, N failed, N skipped".
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"time"
)

func main() {
	label := flag.String("label", "tests", "name of this run in the -min and -skips files")
	minimum := flag.String("min", "", "file with the least number of tests per label")
	skips := flag.String("skips", "", "file with the tests that may be skipped per label")
	flag.Parse()

	rules, err := readRules(*label, *minimum, *skips)
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(2)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	err = run(ctx, os.Stdout, rules, flag.Args())
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "testsum:", err)
		os.Exit(1)
	}
}

// readRules reads both files; a file name may be "", which asks for nothing.
func readRules(label, minimum, skips string) (rules, error) {
	r := rules{label: label}
	for _, f := range []struct {
		name string
		read func(io.Reader) error
	}{{minimum, r.readMinimum}, {skips, r.readSkips}} {
		if f.name == "" {
			continue
		}
		file, err := os.Open(f.name)
		if err != nil {
			return rules{}, err
		}
		err = f.read(file)
		if err := errors.Join(err, file.Close()); err != nil {
			return rules{}, fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return r, nil
}

// run executes "go test -json args", follows it and returns the verdict: nil,
// or what is wrong with the run.
func run(ctx context.Context, w io.Writer, r rules, args []string) error {
	cmd := exec.CommandContext(ctx, "go", append([]string{"test", "-json"}, args...)...)
	// An interrupt reaches go test first, so that it can end its test binaries.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	cmd.Stderr = os.Stderr
	out, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if err := cmd.Start(); err != nil {
		return err
	}
	t := newTally(w)
	readErr := t.read(out)
	waitErr := cmd.Wait()
	t.close(r.label)
	return errors.Join(readErr, r.judge(t, waitErr))
}
