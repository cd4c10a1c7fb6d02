// Package field holds the acceptance tests of "any server, any credential, any
// fault": cases that people have met in the field, read by the whole stack that
// the provider uses, from real servers, beside what git and go-git make of them.
package field

import (
	"fmt"
	"io"
	"log"
	"os"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// systemCA is an authority that the system trusts in these tests.
var systemCA *gittest.CA

// TestMain takes what would change the results out of the environment, and
// fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	gittest.CleanEnvironment()
	if asked := os.Getenv(readerVariable); asked != "" {
		readAlone(asked)
		return
	}
	log.SetOutput(io.Discard) // net/http complains there about servers that speak out of turn
	var err error
	if systemCA, err = gittest.TrustedCA(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	gittest.RunWithTrustedCA(m)
}
