package main

import "testing"

func TestEachOf(t *testing.T) {
	got := eachOf(`data "x"`, []string{"https://git.example.com/a.git", "b"}, "url = each.value")
	want := "data \"x\" \"each\" {\n  for_each = toset([\"https://git.example.com/a.git\", \"b\"])\n  url = each.value\n}\n"
	if got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestQuote(t *testing.T) {
	if got, want := quote(`a "b" ${c} %{d} \`), `"a \"b\" $${c} %%{d} \\"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}
