package gittest

import (
	"os"
	"strings"
	"testing"

	"go.uber.org/goleak"
)

// CleanEnvironment takes out of this process's environment what would change
// what is read and how: proxies, certificates that are trusted, git's and ssh's
// own variables.
func CleanEnvironment() {
	for _, variable := range os.Environ() {
		name, _, _ := strings.Cut(variable, "=")
		if strings.HasSuffix(strings.ToUpper(name), "_PROXY") || strings.HasPrefix(name, "SSL_CERT_") ||
			strings.HasPrefix(name, "GIT_") || strings.HasPrefix(name, "SSH_") {
			_ = os.Unsetenv(name)
		}
	}
}

// TrustedCA makes an authority that the system trusts in this process, and in
// those that it starts. That works once in a process, before the first use of
// the system's certificates.
func TrustedCA() (*CA, error) {
	ca, err := NewCA()
	if err != nil {
		return nil, err
	}
	file, err := os.CreateTemp("", "gitpin-test-ca-")
	if err != nil {
		return nil, err
	}
	if _, err = file.WriteString(ca.PEM); err != nil {
		return nil, err
	}
	if err = os.Setenv("SSL_CERT_FILE", file.Name()); err != nil {
		return nil, err
	}
	return ca, file.Close()
}

// RunWithTrustedCA runs the tests of m, fails when they leave a goroutine
// behind, and removes what TrustedCA wrote.
func RunWithTrustedCA(m *testing.M) {
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.Remove(os.Getenv("SSL_CERT_FILE"))
		os.Exit(code)
	}))
}
