package main

import (
	"strings"
	"testing"

	tfjson "github.com/hashicorp/terraform-json"
)

func TestQuote(t *testing.T) {
	for text, want := range map[string]string{
		"main":         `"main"`,
		`a"b\c`:        `"a\"b\\c"`,
		"x/${y}/%{z}":  `"x/$${y}/%%{z}"`,
		"<tag>&amp":    `"<tag>&amp"`,
		"line\nbreak":  `"line\nbreak"`,
		`C:\srv\a.git`: `"C:\\srv\\a.git"`,
	} {
		if got := quote(text); got != want {
			t.Errorf("quote(%q) = %s, want %s", text, got, want)
		}
	}
}

func TestObject(t *testing.T) {
	got := object(map[string]string{"username": "me", "password": "${x}"})
	if want := `{"password" = "$${x}", "username" = "me"}`; got != want {
		t.Errorf("got %s, want %s", got, want)
	}
}

// The secret's way is the environment: its text must be nowhere in main.tf.
func TestConfigurationHoldsNoSecret(t *testing.T) {
	f := configuration{
		url: "https://git.example.com/acme/app.git", selector: `branch = "main"`,
		prefix: "https://git.example.com/acme/", secret: map[string]string{"password": "hunter2"},
	}
	for _, ephemeral := range []bool{true, false} {
		f.ephemeral = ephemeral
		text := f.text()
		if strings.Contains(text, "hunter2") {
			t.Errorf("the password is in\n%s", text)
		}
		if strings.Contains(text, "ephemeral = true") != ephemeral {
			t.Errorf("ephemeral %v:\n%s", ephemeral, text)
		}
	}
	f.prefix = ""
	if text := f.text(); strings.Contains(text, "var.secret") {
		t.Errorf("without credentials:\n%s", text)
	}
}

func TestExpectationsFail(t *testing.T) {
	plan := &tfjson.Plan{ResourceChanges: []*tfjson.ResourceChange{{
		Address: pinAddress,
		Change:  &tfjson.Change{Actions: tfjson.Actions{tfjson.ActionUpdate}, After: map[string]any{"commit": "aaa"}},
	}}}
	for name, c := range map[string]struct {
		err  error
		want string // part of the error, "" for none
	}{
		"as planned":     {planned(plan, tfjson.ActionUpdate, map[string]any{"commit": "aaa"}), ""},
		"other commit":   {planned(plan, tfjson.ActionUpdate, map[string]any{"commit": "bbb"}), "commit = aaa, want bbb"},
		"other action":   {planned(plan, tfjson.ActionNoop, map[string]any{"commit": "aaa"}), "does [update]"},
		"unknown value":  {planned(plan, tfjson.ActionUpdate, map[string]any{"object": "aaa"}), "object = <nil>"},
		"no pin":         {planned(&tfjson.Plan{}, tfjson.ActionNoop, map[string]any{"commit": "aaa"}), "nothing about"},
		"as latest":      {shows("it", map[string]any{"latest": map[string]any{"commit": "aaa"}}, map[string]any{"latest": "aaa"}), ""},
		"other latest":   {shows("it", map[string]any{"latest": map[string]any{"commit": "bbb"}}, map[string]any{"latest": "aaa"}), "latest = bbb, want aaa"},
		"null latest":    {shows("it", map[string]any{"latest": nil}, map[string]any{"latest": "aaa"}), "latest = <nil>"},
		"as recorded":    {shows("the state", map[string]any{"commit": "aaa"}, map[string]any{"commit": "aaa"}), ""},
		"other recorded": {shows("the state", map[string]any{"commit": "bbb"}, map[string]any{"commit": "aaa"}), "commit = bbb, want aaa"},
	} {
		t.Run(name, func(t *testing.T) {
			if c.want == "" && c.err != nil || c.want != "" && (c.err == nil || !strings.Contains(c.err.Error(), c.want)) {
				t.Errorf("%v, want %q", c.err, c.want)
			}
		})
	}
	if _, err := plannedCommit(&tfjson.Plan{ResourceChanges: []*tfjson.ResourceChange{{Address: pinAddress, Change: &tfjson.Change{}}}}); err == nil {
		t.Error("plannedCommit found a commit in a plan without one")
	}
}
