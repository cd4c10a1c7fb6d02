package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"sort"
	"strings"
)

// event is one line of go test -json; see "go doc test2json" and, for the
// build-* actions, "go help buildjson".
type event struct {
	Action     string
	Package    string
	ImportPath string
	Test       string
	Output     string
}

// tally follows the events of one run. Tests and subtests count alike.
type tally struct {
	w       io.Writer
	passed  int
	failed  int
	skipped []string          // "package.Test", in the order of the events
	output  map[string]string // of tests that have not ended yet
}

func newTally(w io.Writer) *tally {
	return &tally{w: w, output: map[string]string{}}
}

// read consumes the events until EOF. A line that is no event, such as a
// message of the go command itself, is passed on.
func (t *tally) read(r io.Reader) error {
	lines := bufio.NewReader(r)
	for {
		line, err := lines.ReadString('\n')
		if line != "" {
			var e event
			if json.Unmarshal([]byte(line), &e) == nil && e.Action != "" {
				t.add(e)
			} else {
				t.print(line)
			}
		}
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
	}
}

func (t *tally) add(e event) {
	if e.Test == "" {
		t.addPackage(e)
		return
	}
	name := e.Package + "." + e.Test
	switch e.Action {
	case "output":
		t.output[name] += e.Output
	case "pass":
		t.passed++
		delete(t.output, name)
	case "fail":
		t.failed++
		t.flush(name)
	case "skip":
		t.skipped = append(t.skipped, name)
		t.flush(name)
	}
}

func (t *tally) addPackage(e event) {
	switch e.Action {
	case "output":
		// go test shows this line only for a single package, and there it
		// would look like a verdict on the whole run.
		if e.Output != "PASS\n" {
			t.print(e.Output)
		}
	case "build-output":
		t.print(e.Output)
	case "fail":
		// A crash or a time-out leaves tests without an end: what they wrote
		// is the only trace of them.
		for _, name := range t.open(e.Package) {
			t.failed++
			t.flush(name)
		}
	}
}

// open lists the tests of a package that have begun and not ended, sorted.
func (t *tally) open(pkg string) []string {
	var names []string
	for name := range t.output {
		if strings.HasPrefix(name, pkg+".Test") || strings.HasPrefix(name, pkg+".Fuzz") || strings.HasPrefix(name, pkg+".Example") {
			names = append(names, name)
		}
	}
	sort.Strings(names)
	return names
}

// flush prints what a test wrote, without test2json's own progress lines.
func (t *tally) flush(name string) {
	for line := range strings.Lines(t.output[name]) {
		if !strings.HasPrefix(line, "=== ") {
			t.print(line)
		}
	}
	delete(t.output, name)
}

// close prints the closing line.
func (t *tally) close(label string) {
	t.print(fmt.Sprintf("%s: %d passed, %d failed, %d skipped\n", label, t.passed, t.failed, len(t.skipped)))
}

// print ignores write errors: they would be those of the terminal that could
// not be told either.
func (t *tally) print(text string) { _, _ = io.WriteString(t.w, text) }
