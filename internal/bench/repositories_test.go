package main

import "testing"

func TestMiddleTag(t *testing.T) {
	const head = "# pack-refs with: peeled fully-peeled sorted \n"
	for _, c := range []struct{ name, packed, want string }{
		{"no ref", head, ""},
		{"no annotated tag", head + "1 refs/heads/main\n2 refs/tags/v1\n", "refs/tags/v1"},
		{"one", head + "1 refs/heads/main\n2 refs/tags/v1\n^1\n3 refs/tags/v2\n", "refs/tags/v1"},
		{"three", head + "2 refs/tags/v1\n^1\n2 refs/tags/v2\n^1\n1 refs/tags/v3\n2 refs/tags/v4\n^1\n", "refs/tags/v2"},
	} {
		if got := middleTag([]byte(c.packed)); got != c.want {
			t.Errorf("%s: %q, want %q", c.name, got, c.want)
		}
	}
}
