package gitauth

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestNewKeychainRefuses(t *testing.T) {
	const url = "https://git.example.com/acme/"
	secret := func(pairs ...string) map[string]string {
		m := map[string]string{}
		for i := 0; i < len(pairs); i += 2 {
			m[pairs[i]] = pairs[i+1]
		}
		return m
	}
	for name, tc := range map[string]struct {
		entries []Entry
		want    []string
		not     string
	}{
		"a bad prefix":        {[]Entry{{URL: "git.example.com/acme"}}, []string{"credentials[0].url"}, ""},
		"a password in it":    {[]Entry{{URL: "https://me:hunter22@git.example.com/"}}, []string{"credentials[0].url"}, "hunter22"},
		"two equal prefixes":  {[]Entry{{URL: url}, {URL: "https://GIT.example.com:443/acme"}}, []string{"credentials[1].url", "credentials[0].url"}, ""},
		"scp equals ssh":      {[]Entry{{URL: "ssh://git@git.example.com/acme/"}, {URL: "git@git.example.com:acme"}}, []string{"credentials[1].url"}, ""},
		"a misspelt key":      {[]Entry{{URL: url, Secret: secret("username", "x", "passwrod", "hunter22")}}, []string{"credentials[0].secret", `"passwrod"`, `Did you mean "password"?`, "bearerToken", "known_hosts"}, "hunter22"},
		"a key of other case": {[]Entry{{URL: url, Secret: secret("bearertoken", "x")}}, []string{`Did you mean "bearerToken"?`}, ""},
		"a key of Kubernetes": {[]Entry{{URL: url, Secret: secret("ssh-privatekey", "x")}}, []string{`Did you mean "identity"?`}, ""},
		"a key of Helm":       {[]Entry{{URL: url, Secret: secret("certFile", "x")}}, []string{`Did you mean "tls.crt"?`}, ""},
		"several keys": {[]Entry{{URL: url, Secret: secret("user", "x", "passwrod", "hunter22", "colour", "y", "accessToken", "z")}},
			[]string{`"accessToken", "colour", "passwrod", "user", which are not keys`, `Did you mean "password" by "passwrod"? Did you mean "username" by "user"? A token is the password`}, "hunter22"},
		"several values for names": {[]Entry{{URL: url, Secret: secret("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x", "two words", "y", "pass", "z")}},
			[]string{`"pass", 2 keys that are not shown here`, `"password" by "pass"`}, "words"},
		"ssh keys for https": {[]Entry{{URL: "https://git.example.com:8443/acme", Secret: secret("identity", "hunter22", "known_hosts", "x")}},
			[]string{"credentials[0].secret has no key for https, only for ssh", `url = "ssh://git.example.com/acme/"`}, "hunter22"},
		"https keys for a host and port": {[]Entry{{URL: "localhost:18080/acme", Secret: secret("username", "me", "password", "hunter22")}},
			[]string{"no key for ssh, only for https", `"localhost:18080/acme" is in the scp form`, `url = "https://localhost:18080/acme/" (or http://`}, "hunter22"},
		"https keys for the scp form": {[]Entry{{URL: "git.example.com:acme", Secret: secret("bearerToken", "hunter22")}},
			[]string{`url = "https://git.example.com/acme/"`}, "hunter22"},
		"an app for the scp form": {[]Entry{{URL: "git@git.example.com:acme", Secret: secret("githubAppID", "1", "githubAppPrivateKey", "hunter22", "githubAppInstallationID", "2")}},
			[]string{`url = "https://git.example.com/acme/"`}, "hunter22"},
		"a star":               {[]Entry{{URL: "https://git.example.com/acme/*"}}, []string{"credentials[0].url", "Leave the * out"}, ""},
		"nothing near":         {[]Entry{{URL: url, Secret: secret("colour", "x")}}, []string{`"colour"`, "Allowed keys are"}, "Did you mean"},
		"a value for a name":   {[]Entry{{URL: url, Secret: secret("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "x")}}, []string{"not shown"}, "ghp_"},
		"the second entry":     {[]Entry{{URL: url}, {URL: "https://b.example.com", Secret: secret("x", "y")}}, []string{"credentials[1].secret"}, ""},
		"bearer and basic":     {[]Entry{{URL: url, Secret: secret("bearerToken", "a", "username", "b", "password", "c")}}, []string{"bearerToken together with username and password"}, ""},
		"two authorities":      {[]Entry{{URL: url, Secret: secret("ca.crt", "a", "caFile", "b")}}, []string{"ca.crt together with caFile"}, ""},
		"a certificate alone":  {[]Entry{{URL: url, Secret: secret("tls.crt", "a")}}, []string{"tls.crt but no tls.key"}, ""},
		"a key alone":          {[]Entry{{URL: url, Secret: secret("tls.key", "a", "tls.crt", "")}}, []string{"tls.key but no tls.crt"}, ""},
		"an app and a token":   {[]Entry{{URL: url, Secret: secret("githubAppID", "1", "bearerToken", "b")}}, []string{"githubAppID together with bearerToken"}, ""},
		"two installations":    {[]Entry{{URL: url, Secret: secret("githubAppID", "1", "githubAppPrivateKey", "k", "githubAppInstallationID", "2", "githubAppInstallationOwner", "acme")}}, []string{"githubAppInstallationID together with githubAppInstallationOwner"}, ""},
		"an app without key":   {[]Entry{{URL: url, Secret: secret("githubAppID", "1", "githubAppInstallationID", "2")}}, []string{"no githubAppPrivateKey"}, ""},
		"an app without id":    {[]Entry{{URL: url, Secret: secret("githubAppPrivateKey", "k", "githubAppInstallationID", "2")}}, []string{"no githubAppID"}, ""},
		"an app without place": {[]Entry{{URL: url, Secret: secret("githubAppID", "1", "githubAppPrivateKey", "k")}}, []string{"neither githubAppInstallationID nor githubAppInstallationOwner"}, ""},
		"known part of an unknown secret, name": {[]Entry{{URL: url, Secret: secret("username", "x", "passwrod", ""), SecretUnknown: true}},
			[]string{`"passwrod"`}, ""},
		"known part of an unknown secret, pair": {[]Entry{{URL: url, Secret: secret("ca.crt", "x", "caFile", "y"), SecretUnknown: true}},
			[]string{"ca.crt together with caFile"}, ""},
		"secret of an unknown url": {[]Entry{{URLUnknown: true, Secret: secret("passwrod", "x")}}, []string{"credentials[0].secret"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := NewKeychain(tc.entries, Options{})
			wantFault(t, err, fault.Input, tc.want...)
			if tc.not != "" && strings.Contains(err.Error(), tc.not) {
				t.Errorf("error shows %q: %v", tc.not, err)
			}
		})
	}
}

func TestNewKeychainAccepts(t *testing.T) {
	const url = "https://git.example.com/acme/"
	for name, entries := range map[string][]Entry{
		"nothing":            nil,
		"an empty secret":    {{URL: url, Secret: map[string]string{}}},
		"an empty scp one":   {{URL: "git@git.example.com:acme", Secret: map[string]string{}}},
		"scp with a key":     {{URL: "git@git.example.com:acme", Secret: map[string]string{"identity": "a", "password": "b"}}},
		"scp, half known":    {{URL: "git@git.example.com:acme", Secret: map[string]string{"password": "b"}, SecretUnknown: true}},
		"all that flux has":  {{URL: url, Secret: map[string]string{"identity": "a", "identity.pub": "b", "known_hosts": "c", "username": "d", "password": "e", "tls.crt": "f", "tls.key": "g", "ca.crt": "h"}}},
		"empty is absent":    {{URL: url, Secret: map[string]string{"ca.crt": "a", "caFile": "", "bearerToken": "b", "password": "", "tls.crt": ""}}},
		"one part unknown":   {{URL: url, Secret: map[string]string{"tls.crt": "a", "tls.key": ""}, SecretUnknown: true}},
		"an app half known":  {{URL: url, Secret: map[string]string{"githubAppID": "a"}, SecretUnknown: true}},
		"everything unknown": {{URLUnknown: true, SecretUnknown: true}, {URLUnknown: true, SecretUnknown: true}},
		"other users":        {{URL: "ssh://a@git.example.com"}, {URL: "ssh://b@git.example.com"}, {URL: "ssh://git.example.com"}},
		// Values are judged when a remote needs them.
		"bad values": {{URL: url, Secret: map[string]string{"ca.crt": "junk", "bearerToken": "a\n"}}},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := NewKeychain(entries, Options{}); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDistance(t *testing.T) {
	for _, tc := range []struct {
		a, b string
		want int
	}{{"", "", 0}, {"a", "", 1}, {"", "abc", 3}, {"kitten", "sitting", 3}, {"same", "same", 0}, {"passwrod", "password", 2}} {
		if got := distance(tc.a, tc.b); got != tc.want {
			t.Errorf("distance(%q, %q) = %d, want %d", tc.a, tc.b, got, tc.want)
		}
	}
}
