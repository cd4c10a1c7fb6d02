package gitauth

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
)

// The keys of a secret: those that Flux's GitRepository reads, under the names
// it reads them by (fluxcd/pkg/git options.go and source-controller's "Git
// Repositories" page). keyIdentityPub is in every secret that `flux create
// secret git` makes; nobody reads it.
const (
	keyIdentity    = "identity"
	keyIdentityPub = "identity.pub"
	keyKnownHosts  = "known_hosts"
	keyUsername    = "username"
	keyPassword    = "password"
	keyBearerToken = "bearerToken"
	keyTLSCert     = "tls.crt"
	keyTLSKey      = "tls.key"
	keyCACert      = "ca.crt"
	keyCAFile      = "caFile"

	keyAppID                = "githubAppID"
	keyAppInstallationID    = "githubAppInstallationID"
	keyAppInstallationOwner = "githubAppInstallationOwner"
	keyAppPrivateKey        = "githubAppPrivateKey"
	keyAppBaseURL           = "githubAppBaseURL"
)

// allowedKeys lists every key that a secret may have, in the order in which an
// error shows them.
var allowedKeys = []string{
	keyUsername, keyPassword, keyBearerToken,
	keyTLSCert, keyTLSKey, keyCACert, keyCAFile,
	keyIdentity, keyIdentityPub, keyKnownHosts,
	keyAppID, keyAppInstallationID, keyAppInstallationOwner, keyAppPrivateKey, keyAppBaseURL,
}

// sayInstead maps names that other tools use (Kubernetes' ssh-auth Secrets, the
// Helm part of Flux, plain habit) to the key that is meant. certFile and keyFile
// are not accepted: Flux never read them for a Git repository.
var sayInstead = map[string]string{
	"token": keyBearerToken, "accesstoken": keyBearerToken,
	"user": keyUsername, "login": keyUsername,
	"pass": keyPassword, "passphrase": keyPassword,
	"certfile": keyTLSCert, "keyfile": keyTLSKey, "ca": keyCACert, "cacert": keyCACert,
	"privatekey": keyIdentity, "sshprivatekey": keyIdentity, "sshkey": keyIdentity,
	"appid": keyAppID, "installationid": keyAppInstallationID,
}

// problem is what is wrong with a secret, without a word about where the secret
// comes from: the keychain adds that.
type problem struct {
	key    string // the secret key at fault, "" if it is no single one
	what   string // one clause without a final stop
	advice string // whole sentences
}

// Error returns the key and what is wrong with it.
func (p *problem) Error() string {
	if p.key == "" {
		return p.what
	}
	return p.key + ": " + p.what
}

// checkKeys judges the names in a secret. Values are not looked at. partial is
// true when the secret is not wholly known, so that nothing may be said to be
// missing from it.
func checkKeys(secret map[string]string, partial bool) error {
	var unknown []string
	for _, key := range slices.Sorted(maps.Keys(secret)) {
		if !slices.Contains(allowedKeys, key) {
			unknown = append(unknown, key)
		}
	}
	if len(unknown) > 0 {
		return unknownKeys(unknown)
	}
	if err := checkExclusive(secret); err != nil || partial {
		return err
	}
	return checkComplete(secret)
}

// shownKey matches a key that may be quoted in an error. A secret that is written
// where its name belongs is longer than any name of ours, or stranger.
var shownKey = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9._-]{0,29}$`)

// unknownKeys reports all of keys, which is not empty, at once.
func unknownKeys(keys []string) error {
	var shown, hints []string
	hidden, token := 0, false
	for _, key := range keys {
		near := nearestKey(key)
		switch {
		case strings.Contains(strings.ToLower(key), "token") && !strings.EqualFold(key, keyBearerToken):
			token = true
		case near != "" && len(keys) == 1:
			hints = append(hints, fmt.Sprintf("Did you mean %q?", near))
		case near != "" && shownKey.MatchString(key):
			hints = append(hints, fmt.Sprintf("Did you mean %q by %q?", near, key))
		}
		if shownKey.MatchString(key) {
			shown = append(shown, fmt.Sprintf("%q", key))
		} else {
			hidden++
		}
	}
	if hidden > 0 {
		shown = append(shown, hiddenKeys(hidden))
	}
	if token {
		// GitHub and GitLab take a token as a password, Bitbucket Server as a
		// bearer token: only the user knows which host it is.
		hints = append(hints, "A token is the password beside a username on most hosts (GitHub, GitLab), and bearerToken where the host asks for that.")
	}
	hints = append(hints[:min(len(hints), maxHints)], "Allowed keys are "+strings.Join(allowedKeys, ", ")+".")
	what := ", which is not a key of a Flux Git secret"
	if len(keys) > 1 {
		what = ", which are not keys of a Flux Git secret"
	}
	return &problem{what: "secret has " + shorten(shown) + what, advice: strings.Join(hints, " ")}
}

// maxHints bounds the guesses about unknown keys.
const maxHints = 5

func hiddenKeys(n int) string {
	if n == 1 {
		return "one key that is not shown here, for it may be a value written in the place of a name"
	}
	return fmt.Sprintf("%d keys that are not shown here, for they may be values written in the place of names", n)
}

// nearestKey returns the allowed key that was most likely meant, or "".
func nearestKey(key string) string {
	plain := strings.NewReplacer("_", "", "-", "", ".", "", " ", "").Replace(strings.ToLower(key))
	if said := sayInstead[plain]; said != "" {
		return said
	}
	best, bestDistance := "", 3
	for _, allowed := range allowedKeys {
		if d := distance(strings.ToLower(key), strings.ToLower(allowed)); d < bestDistance {
			best, bestDistance = allowed, d
		}
	}
	return best
}

// distance is the Levenshtein distance of a and b in bytes. Both are bounded, so
// that a pasted file as a key costs nothing.
func distance(a, b string) int {
	const bound = 64
	a, b = a[:min(len(a), bound)], b[:min(len(b), bound)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// exclusive lists pairs of key sets of which a secret may use only one. Flux
// would silently take the first and drop the other.
var exclusive = []struct {
	a, b   []string
	advice string
}{
	{[]string{keyBearerToken}, []string{keyUsername, keyPassword},
		"Keep bearerToken for a host that wants \"Authorization: Bearer\", or username and password for one that wants Basic (GitHub, GitLab and Bitbucket take a token as password)."},
	{[]string{keyCACert}, []string{keyCAFile}, "Keep ca.crt, caFile is its older name."},
	{[]string{keyAppInstallationID}, []string{keyAppInstallationOwner}, "Keep one of them: either finds the installation."},
	{appKeys, []string{keyUsername, keyPassword, keyBearerToken, keyIdentity, keyKnownHosts},
		"A GitHub App mints its own token for https; put other credentials into an entry of their own."},
}

var appKeys = []string{keyAppID, keyAppInstallationID, keyAppInstallationOwner, keyAppPrivateKey, keyAppBaseURL}

func checkExclusive(secret map[string]string) error {
	for _, pair := range exclusive {
		a, b := present(secret, pair.a), present(secret, pair.b)
		if len(a) > 0 && len(b) > 0 {
			return &problem{what: fmt.Sprintf("secret has %s together with %s", strings.Join(a, " and "), strings.Join(b, " and ")), advice: pair.advice}
		}
	}
	return nil
}

// checkComplete finds sets of keys of which a part is missing.
func checkComplete(secret map[string]string) error {
	if half := present(secret, []string{keyTLSCert, keyTLSKey}); len(half) == 1 {
		missing := keyTLSCert
		if half[0] == keyTLSCert {
			missing = keyTLSKey
		}
		return &problem{what: fmt.Sprintf("secret has %s but no %s", half[0], missing),
			advice: "A client certificate needs both."}
	}
	if len(present(secret, appKeys)) == 0 {
		return nil
	}
	for _, key := range []string{keyAppID, keyAppPrivateKey} {
		if secret[key] == "" {
			return &problem{what: "secret has GitHub App keys but no " + key,
				advice: "A GitHub App needs githubAppID, githubAppPrivateKey and one of githubAppInstallationID and githubAppInstallationOwner."}
		}
	}
	if len(present(secret, []string{keyAppInstallationID, keyAppInstallationOwner})) == 0 {
		return &problem{what: "secret has a GitHub App but neither githubAppInstallationID nor githubAppInstallationOwner",
			advice: "Add the installation's id, or the organisation or user it is installed on."}
	}
	return nil
}

// present returns those of keys that have a value in secret, in the order of
// keys. An empty value counts as absent, as it does for Flux.
func present(secret map[string]string, keys []string) []string {
	var found []string
	for _, key := range keys {
		if secret[key] != "" {
			found = append(found, key)
		}
	}
	return found
}
