package gitauth

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// Ambient says which credentials of the machine may be used where the provider's
// list has none. The zero value uses nothing, so that a plan is the same on every
// machine.
type Ambient struct {
	// CredentialHelper asks `git credential fill`, without any prompt, for https
	// remotes that no entry matches (and for http ones on this machine).
	CredentialHelper bool
	// SSHAgent uses the keys of the agent at SSH_AUTH_SOCK where no identity is
	// given.
	SSHAgent bool
	// KnownHostsFile is read where no known_hosts is given. A leading "~/" stands
	// for the home directory; a relative path begins at the working directory.
	KnownHostsFile string
}

// ambientSources remembers what was read from the machine.
type ambientSources struct {
	file    once[fileHostKeys]
	helpers sync.Map // of *helper by its ID
}

type fileHostKeys struct {
	text string
	keys *HostKeys
}

// maxKnownHosts bounds how much of a known_hosts file is read, in bytes.
const maxKnownHosts = 16 << 20

// knownHosts reads the file at path, once. Errors are problems.
func (a *ambientSources) knownHosts(path string) (string, *HostKeys, error) {
	f, err := a.file.get(func() (fileHostKeys, error) {
		where := fmt.Sprintf("ambient.known_hosts_file (%s)", path)
		text, err := readBounded(path)
		if err != nil {
			return fileHostKeys{}, &problem{key: where, what: "cannot be read: " + reason(err),
				advice: "Check the path, or give known_hosts in the secret of a credentials entry."}
		}
		keys, err := parseKnownHosts(where, text)
		return fileHostKeys{text, keys}, err
	})
	return f.text, f.keys, err
}

func readBounded(path string) (string, error) {
	if rest, ok := strings.CutPrefix(path, "~/"); ok {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", err
		}
		path = filepath.Join(home, rest)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close() //nolint:errcheck // it was only read
	text, err := io.ReadAll(io.LimitReader(f, maxKnownHosts+1))
	if len(text) > maxKnownHosts {
		return "", errors.New("it is too large")
	}
	return string(text), err
}

// reason returns the cause of err without the path, which is named already.
func reason(err error) string {
	var p *fs.PathError
	if errors.As(err, &p) {
		return p.Err.Error()
	}
	return err.Error()
}
