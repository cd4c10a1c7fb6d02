// Package field holds the acceptance tests of "any server, any credential, any
// fault": cases that people have met in the field, read by the whole stack that
// the provider uses, from real servers, beside what git and go-git make of them.
package field

import (
	"fmt"
	"io"
	"log"
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// TestMain takes what would change the results out of the environment, and
// fails when a test leaves a goroutine behind.
func TestMain(m *testing.M) {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") || strings.HasPrefix(name, "SSL_CERT_") || strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SSH_") {
			_ = os.Unsetenv(name)
		}
	}
	if asked := os.Getenv(readerVariable); asked != "" {
		readAlone(asked)
		return
	}
	log.SetOutput(io.Discard) // net/http complains there about servers that speak out of turn
	if err := trust(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.Remove(os.Getenv("SSL_CERT_FILE"))
		os.Exit(code)
	}))
}

// systemCA is an authority that the system trusts in these tests.
var systemCA *gittest.CA

// trust makes systemCA and lets the system trust it. That works once in a
// process, before the first use of the system's certificates.
func trust() (err error) {
	if systemCA, err = gittest.NewCA(); err != nil {
		return err
	}
	file, err := os.CreateTemp("", "gitpin-test-ca-")
	if err != nil {
		return err
	}
	if _, err = file.WriteString(systemCA.PEM); err != nil {
		return err
	}
	if err = os.Setenv("SSL_CERT_FILE", file.Name()); err != nil {
		return err
	}
	return file.Close()
}
