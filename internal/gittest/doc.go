// Package gittest runs real git servers, fault servers and fixture
// repositories for tests, and for the programs behind "make demo" and
// "make bench".
//
// Whatever does not need a test comes as a function that returns an error and
// a value with a Close method (StartHTTP, WriteRepos); beside it stands the
// form for tests, which takes a testing.TB, ends the test on an error and
// closes at its end (ServeHTTP, Repos).
//
// Everything listens on loopback only, on a port that the system chose. No
// git, ssh or sshd that this package starts reads the configuration, keys or
// agents of the person who runs the tests. Close ends every goroutine and
// process of a server before it returns, so that tests may look for leaks.
package gittest

import (
	"io"
	"testing"
)

// keep ends the test on err, and closes c when the test ends.
func keep[C io.Closer](t testing.TB, c C, err error) C {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := c.Close(); err != nil {
			t.Errorf("closing a test server: %v", err)
		}
	})
	return c
}
