package gitauth

import (
	"fmt"
	"maps"
	"slices"

	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// checkForm finds a prefix whose form cannot be meant, as its secret has keys
// for the other kind of transport only. "localhost:8080/acme" and
// "git.example.com:acme" are ssh remotes, which whoever writes them beside a
// token does not expect; without this, https remotes would be read without
// credentials. (The same under "ssh://" is an error when a remote needs the
// entry: there an ssh agent may supply what is missing.)
func checkForm(prefix giturl.Prefix, secret map[string]string) error {
	has := func(keys ...string) bool {
		return slices.ContainsFunc(slices.Collect(maps.Keys(secret)), func(key string) bool { return slices.Contains(keys, key) })
	}
	forHTTP, forSSH := has(httpKeys...), has(keyIdentity, keyIdentityPub, keyKnownHosts)
	switch {
	case prefix.IsSCP() && forHTTP && !forSSH:
		return &problem{what: fmt.Sprintf("secret has no key for ssh, only for https, but the url %q is in the scp form, which means ssh", prefix.String()),
			advice: fmt.Sprintf("Write url = %q (or http://, where the host has no TLS); for ssh put identity and known_hosts into the secret.", prefix.As(giturl.HTTPS))}
	case prefix.IsHTTP() && forSSH && !forHTTP:
		return &problem{what: fmt.Sprintf("secret has no key for https, only for ssh, but the url %q is not for ssh", prefix.String()),
			advice: fmt.Sprintf("Write url = %q for ssh remotes; for https put username and password, or bearerToken, into the secret.", prefix.As(giturl.SSH))}
	}
	return nil
}
