package main

import (
	"errors"
	"strings"
	"testing"
)

const stream = `{"Action":"start","Package":"x/a"}
{"Action":"run","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"=== RUN   TestGood\n"}
{"Action":"output","Package":"x/a","Test":"TestGood","Output":"quiet\n"}
{"Action":"pass","Package":"x/a","Test":"TestGood"}
{"Action":"output","Package":"x/a","Test":"TestBad/row","Output":"=== RUN   TestBad/row\n"}
{"Action":"output","Package":"x/a","Test":"TestBad/row","Output":"    bad_test.go:1: got 1\n"}
{"Action":"fail","Package":"x/a","Test":"TestBad/row"}
{"Action":"output","Package":"x/a","Test":"TestOff","Output":"    off_test.go:1: no sshd\n"}
{"Action":"skip","Package":"x/a","Test":"TestOff"}
{"Action":"output","Package":"x/a","Output":"FAIL\tx/a\t0.1s\n"}
{"Action":"fail","Package":"x/a"}
{"Action":"output","Package":"x/ab","Test":"TestOther","Output":"still running\n"}
{"Action":"output","Package":"x/b","Test":"TestHang","Output":"=== RUN   TestHang\n"}
{"Action":"output","Package":"x/b","Test":"TestHang","Output":"panic: test timed out\n"}
{"Action":"fail","Package":"x/b"}
{"ImportPath":"x/c","Action":"build-output","Output":"c.go:3: undefined: y\n"}
{"Action":"output","Package":"x/d","Output":"PASS\n"}
{"Action":"output","Package":"x/d","Output":"ok  \tx/d\t0.1s\n"}
go: warning: not an event
`

func TestTally(t *testing.T) {
	var out strings.Builder
	tally := newTally(&out)
	if err := tally.read(strings.NewReader(stream)); err != nil {
		t.Fatal(err)
	}
	tally.close("all")
	want := `    bad_test.go:1: got 1
    off_test.go:1: no sshd
FAIL	x/a	0.1s
panic: test timed out
c.go:3: undefined: y
ok  	x/d	0.1s
go: warning: not an event
all: 1 passed, 2 failed, 1 skipped
`
	if out.String() != want {
		t.Errorf("printed:\n%s\nwant:\n%s", out.String(), want)
	}
}

func TestJudge(t *testing.T) {
	clean := tally{passed: 3}
	skipped := tally{passed: 3, skipped: []string{"x/a.TestOff"}}
	for name, c := range map[string]struct {
		minimum, skips string
		tally          tally
		goTest         error
		want           string // part of the error, "" for none
	}{
		"good":                  {"all 3", "", clean, nil, ""},
		"too few":               {"all 4", "", clean, nil, "3 tests ran, at least 4"},
		"failed":                {"all 3", "", tally{passed: 2, failed: 1}, nil, "1 tests failed"},
		"go test failed alone":  {"all 3", "", clean, errors.New("exit status 1"), "exit status 1"},
		"skipped":               {"all 3", "", skipped, nil, "x/a.TestOff was skipped"},
		"skip agreed":           {"all 3", "all ^x/a\\.TestOff$ # why", skipped, nil, ""},
		"skip agreed elsewhere": {"all 3", "tofu TestOff", skipped, nil, "x/a.TestOff was skipped"},
	} {
		t.Run(name, func(t *testing.T) {
			r := rules{label: "all"}
			if err := errors.Join(r.readMinimum(strings.NewReader(c.minimum)), r.readSkips(strings.NewReader(c.skips))); err != nil {
				t.Fatal(err)
			}
			err := r.judge(&c.tally, c.goTest)
			if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.Contains(err.Error(), c.want)) {
				t.Errorf("judge: %v, want %q", err, c.want)
			}
		})
	}
}

func TestRulesRefuse(t *testing.T) {
	for text, want := range map[string]string{
		"tofu 3":     `no line for "all"`,
		"all three":  "not a number",
		"all 0":      "not a number",
		"all 1 more": "one value",
	} {
		r := rules{label: "all"}
		if err := r.readMinimum(strings.NewReader(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("readMinimum(%q): %v, want %q", text, err, want)
		}
	}
	r := rules{label: "all"}
	if err := r.readSkips(strings.NewReader("all [")); err == nil {
		t.Error("readSkips accepted a broken expression")
	}
}
