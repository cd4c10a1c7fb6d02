package main

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"regexp"
	"strconv"
	"strings"
)

// rules are what a run must pass beside go test's own verdict.
type rules struct {
	label   string
	minimum int
	skips   []*regexp.Regexp
}

// readMinimum takes the line "LABEL COUNT" of this label. A label without a
// line is an error: the count is the guard against a run that lost its tests.
func (r *rules) readMinimum(f io.Reader) error {
	found := false
	err := fields(f, func(label, value string) error {
		if label != r.label {
			return nil
		}
		n, err := strconv.Atoi(value)
		if err != nil || n < 1 {
			return fmt.Errorf("%s: %q is not a number of tests", label, value)
		}
		r.minimum, found = n, true
		return nil
	})
	if err == nil && !found {
		err = fmt.Errorf("no line for %q", r.label)
	}
	return err
}

// readSkips takes the lines "LABEL REGEXP" of this label.
func (r *rules) readSkips(f io.Reader) error {
	return fields(f, func(label, value string) error {
		if label != r.label {
			return nil
		}
		re, err := regexp.Compile(value)
		if err != nil {
			return err
		}
		r.skips = append(r.skips, re)
		return nil
	})
}

// fields calls add for each "LABEL VALUE" line.
func fields(f io.Reader, add func(label, value string) error) error {
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line, _, _ := strings.Cut(lines.Text(), "#")
		words := strings.Fields(line)
		if len(words) == 0 {
			continue
		}
		if len(words) != 2 {
			return fmt.Errorf("%q: want a label and one value", lines.Text())
		}
		if err := add(words[0], words[1]); err != nil {
			return err
		}
	}
	return lines.Err()
}

// judge returns everything that is wrong with a finished run. goTest is the
// error of the go test process, nil when it exited with 0.
func (r rules) judge(t *tally, goTest error) error {
	var errs []error
	if goTest != nil {
		errs = append(errs, fmt.Errorf("go test: %w", goTest))
	}
	if t.failed > 0 {
		errs = append(errs, fmt.Errorf("%d tests failed", t.failed))
	}
	if ran := t.passed + t.failed; ran < r.minimum {
		errs = append(errs, fmt.Errorf("%d tests ran, at least %d should have: a test was lost, or lower the number on purpose", ran, r.minimum))
	}
	for _, name := range t.skipped {
		if !r.maySkip(name) {
			errs = append(errs, fmt.Errorf("%s was skipped, and it is not on the list of tests that may be", name))
		}
	}
	return errors.Join(errs...)
}

func (r rules) maySkip(name string) bool {
	for _, re := range r.skips {
		if re.MatchString(name) {
			return true
		}
	}
	return false
}
