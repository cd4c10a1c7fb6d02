package gitauth

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

// mark is in every secret value of these tests.
const mark = "L3akM4rk"

// assertNoLeak fails if text holds one of the marked values in any form.
func assertNoLeak(t *testing.T, what, text string, values ...string) {
	t.Helper()
	for _, value := range append(values, mark) {
		for _, form := range forms(login{"", value}) {
			if len(form) >= shortSecret && strings.Contains(text, form) {
				t.Errorf("%s shows %q: %s", what, form, text)
			}
		}
	}
}

// TestI6_NoErrorShowsASecret breaks every value in every way that this package
// has words for, and looks for the values in the errors.
func TestI6_NoErrorShowsASecret(t *testing.T) {
	key := ed25519Key(t, "user").private
	known := ed25519Key(t, "host").line("*")
	damages := []string{
		mark, mark + "\n", " " + mark, mark + "\x00", "Bearer " + mark, mark + ":" + mark, "\ufeff" + mark, mark + " " + mark, mark + "é",
		"-----BEGIN " + mark, "-----BEGIN CERTIFICATE-----\n" + mark + "\n-----END CERTIFICATE-----",
		"-----BEGIN PRIVATE KEY-----\n" + mark + "\n-----END PRIVATE KEY-----", "|1|" + mark + "|" + mark + " a b", "@" + mark + " " + known,
		"h ssh-rsa " + mark, mark + " ssh-rsa AAAA", `-----BEGIN OPENSSH PRIVATE KEY-----\n` + mark, "http://" + mark + "@h", "ssh-ed25519 " + mark,
		"https://example.com/?" + mark, pemOf("RSA PRIVATE KEY", []byte(mark)), pemOf("CERTIFICATE", []byte(mark)),
	}
	bases := []map[string]string{
		{keyUsername: mark, keyPassword: mark}, {keyBearerToken: mark}, {keyCACert: mark}, {keyCAFile: mark}, {keyTLSCert: mark, keyTLSKey: mark},
		{keyIdentity: key, keyKnownHosts: known}, {keyIdentity: mark, keyKnownHosts: mark, keyPassword: mark},
		{keyAppID: "1", keyAppPrivateKey: mark, keyAppInstallationID: "2"},
		{keyAppID: "1", keyAppPrivateKey: mark, keyAppInstallationOwner: mark, keyAppBaseURL: mark},
	}
	errs := 0
	for _, base := range bases {
		for broken := range base {
			for _, damage := range damages {
				secret := map[string]string{}
				for k, v := range base {
					secret[k] = v
				}
				secret[broken] = damage
				for _, url := range []string{"https://git.example.com/r", "http://git.example.com/r", "ssh://git@git.example.com/r"} {
					r := remote(t, url)
					k, err := NewKeychain([]Entry{{URL: string(r.Scheme) + "://" + r.Host, Secret: secret}}, Options{})
					var a *Auth
					if err == nil {
						a, err = k.For(r)
					}
					if err != nil {
						errs++
						assertNoLeak(t, broken+" for "+url, fmt.Sprintf("%v %+v %#v", err, err, err), damage)
					}
					assertNoLeak(t, "Keychain", fmt.Sprintf("%v %+v %#v %s", k, k, k, k), damage)
					assertNoLeak(t, "Auth", fmt.Sprintf("%v %+v %#v %s", a, a, a, a), damage)
				}
			}
		}
	}
	if errs < 500 {
		t.Errorf("only %d errors: the test breaks too little", errs)
	}
}

// TestI6_UnknownKeysAndURLs looks at the errors of NewKeychain.
func TestI6_UnknownKeysAndURLs(t *testing.T) {
	for _, e := range []Entry{
		{URL: "https://me:" + mark + "@git.example.com/"},
		{URL: "https://git.example.com/?token=" + mark},
		{URL: "https://git.example.com/#" + mark},
		{URL: mark + "@git.example.com:" + mark + "/%zz"},
		{URL: "https://git.example.com/", Secret: map[string]string{"passwrod": mark}},
		{URL: "https://git.example.com/", Secret: map[string]string{"glpat-" + mark + "-and-some-more-of-it": "x"}},
		{URL: "https://git.example.com/", Secret: map[string]string{"x " + mark: "x"}},
		{URL: "https://git.example.com/", Secret: map[string]string{keyUsername: mark, keyBearerToken: mark}},
	} {
		_, err := NewKeychain([]Entry{e}, Options{})
		if err == nil {
			if e.Secret == nil {
				continue // a user in an ssh prefix is no secret
			}
			t.Errorf("accepted: %v", e)
			continue
		}
		assertNoLeak(t, "NewKeychain", fmt.Sprintf("%v %+v %#v", err, err, err))
	}
}

// TestI6_NoFormatShowsASecret prints what holds good secrets, alone and inside
// other values, with every verb and as JSON.
func TestI6_NoFormatShowsASecret(t *testing.T) {
	ca := newTestCA(t)
	cert, tlsKey := ca.issue(t)
	key := keygen(t, "marked", "-t", "ed25519", "-N", mark, "-a", "1")
	known := ed25519Key(t, "host").line("*")
	app := keygen(t, "rsa pem", "-t", "rsa", "-b", "2048", "-N", "", "-m", "PEM").private
	for _, tc := range []struct {
		url    string
		secret map[string]string
	}{
		{"https://git.example.com/r", map[string]string{keyUsername: "u" + mark, keyPassword: "p" + mark, keyCACert: ca.pem, keyTLSCert: cert, keyTLSKey: tlsKey}},
		{"https://git.example.com/r", map[string]string{keyBearerToken: mark}},
		{"ssh://git@git.example.com/r", map[string]string{keyIdentity: key.private, keyPassword: mark, keyKnownHosts: known}},
		{"https://git.example.com/r", map[string]string{keyAppID: "1", keyAppInstallationID: "2", keyAppPrivateKey: app}},
	} {
		r := remote(t, tc.url)
		e := Entry{URL: string(r.Scheme) + "://" + r.Host, Secret: tc.secret}
		k := keychain(t, Options{}, e)
		a, err := k.For(r)
		if err != nil {
			t.Fatal(err)
		}
		if r.Scheme != "ssh" && tc.secret[keyAppID] == "" {
			header(t, a)
		}
		var values []string
		for name, value := range tc.secret {
			if name == keyAppID || name == keyAppInstallationID {
				continue
			}
			for line := range strings.Lines(value) {
				if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-----") && len(line) >= 8 {
					values = append(values, line)
				}
			}
		}
		private := struct {
			a *Auth
			k *Keychain
			s *SSH
			t *TLS
		}{a, k, a.SSH, a.TLS}
		public := struct {
			Auth     *Auth
			Keychain *Keychain
			Entries  []Entry
		}{a, k, []Entry{e}}
		for _, v := range []any{a, *a, k, e, &e, []Entry{e}, a.SSH, a.TLS, private, &private, public, &public} {
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%d"} {
				assertNoLeak(t, fmt.Sprintf("%s of %T", verb, v), fmt.Sprintf(verb, v), values...)
			}
		}
		for _, v := range []any{a, *a, k, e, public} {
			text, err := json.Marshal(v)
			if err != nil && !strings.Contains(err.Error(), "unsupported type") {
				t.Errorf("JSON of %T: %v", v, err)
			}
			assertNoLeak(t, "JSON", string(text), values...)
		}
		assertNoLeak(t, "ID and source", a.ID+a.Source+strings.Join(a.Keys, " "), values...)
	}
}
