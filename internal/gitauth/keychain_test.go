package gitauth

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func user(name string) map[string]string {
	return map[string]string{"username": name, "password": "pw-" + name}
}

func TestForTakesTheLongestMatch(t *testing.T) {
	entries := []Entry{
		{URL: "https://git.example.com", Secret: user("host")},
		{URL: "https://git.example.com/acme/", Secret: user("acme")},
		{URL: "https://git.example.com/acme/app", Secret: user("app")},
		{URL: "https://git.example.com/public", Secret: map[string]string{}},
		{URL: "https://git.example.com:8443/", Secret: user("port")},
	}
	for _, reverse := range []bool{false, true} {
		list := append([]Entry(nil), entries...)
		if reverse {
			for i, j := 0, len(list)-1; i < j; i, j = i+1, j-1 {
				list[i], list[j] = list[j], list[i]
			}
		}
		k := keychain(t, Options{}, list...)
		for url, want := range map[string]string{
			"https://git.example.com/other/r.git":      basic("host", "pw-host"),
			"https://git.example.com/acme/r.git":       basic("acme", "pw-acme"),
			"https://git.example.com/acmeinc/r.git":    basic("host", "pw-host"),
			"https://git.example.com/acme/app":         basic("app", "pw-app"),
			"https://git.example.com/acme/app.git":     basic("acme", "pw-acme"),
			"https://GIT.example.com/acme/app/sub.git": basic("app", "pw-app"),
			"https://git.example.com/public/r":         "",
			"https://git.example.com:8443/acme/app":    basic("port", "pw-port"),
			"https://git.example.com:443/acme/r.git":   basic("acme", "pw-acme"),
			"https://example.com/acme/app":             "",
			"http://git.example.com/acme/app":          "", // another scheme: no entry is for it
			"git://git.example.com/acme/app":           "",
			"file:///acme/app":                         "",
		} {
			a, err := k.For(remote(t, url))
			if err != nil {
				t.Errorf("%s: %v", url, err)
				continue
			}
			if got := header(t, a); got != want {
				t.Errorf("%s: header %q, want %q (%s)", url, got, want, a.Source)
			}
			if (a.ID == "") != (want == "") {
				t.Errorf("%s: ID %q with header %q", url, a.ID, want)
			}
		}
	}
}

func TestForNamesTheSource(t *testing.T) {
	k := keychain(t, Options{}, Entry{URL: "https://a.example.com"}, Entry{URL: "https://git.example.com/acme/", Secret: user("me")})
	a, err := k.For(remote(t, "https://git.example.com/acme/r"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `credentials[1] (url "https://git.example.com/acme/")`; a.Source != want {
		t.Errorf("Source %q, want %q", a.Source, want)
	}
	a, err = k.For(remote(t, "https://other.example.com/r"))
	if err != nil || a.Source != "no credentials" {
		t.Errorf("Source %q, %v", a.Source, err)
	}
}

func TestForSaysWhyThereAreNone(t *testing.T) {
	entry := func(url string, secret map[string]string) Entry { return Entry{URL: url, Secret: secret} }
	many := []Entry{}
	for i := range 7 {
		many = append(many, entry(fmt.Sprintf("https://%d.example.com", i), user("me")))
	}
	for name, tc := range map[string]struct {
		options Options
		entries []Entry
		url     string
		want    string
	}{
		"no list":         {Options{}, nil, "https://git.example.com/r", "the provider has no credentials"},
		"no match":        {Options{}, []Entry{entry("https://git.example.com/acme", user("me")), entry("https://b.example.com", map[string]string{"ca.crt": "x"})}, "https://git.example.com/other/r", "no entry matches: the provider's credentials are for https://git.example.com/acme, https://b.example.com"},
		"no match, http":  {Options{}, []Entry{entry("https://git.example.com", user("me"))}, "http://git.example.com/r", "no entry matches: the provider's credentials are for https://git.example.com"},
		"many":            {Options{}, many, "https://git.example.com/r", "no entry matches: the provider's credentials are for https://0.example.com, https://1.example.com, https://2.example.com, https://3.example.com, https://4.example.com and 2 more"},
		"an empty secret": {Options{}, []Entry{entry("https://git.example.com", nil)}, "https://git.example.com/r", `credentials[0] (url "https://git.example.com") has an empty secret`},
		"no helper":       {Options{Ambient: Ambient{CredentialHelper: true}}, nil, "http://git.example.com/r", "the provider has no credentials (git's credential helper is not asked for plain http)"},
		"a match":         {Options{}, []Entry{entry("https://git.example.com", user("me"))}, "https://git.example.com/r", ""},
	} {
		a, err := keychain(t, tc.options, tc.entries...).For(remote(t, tc.url))
		if err != nil || a.Why != tc.want {
			t.Errorf("%s: %q, %v", name, a.Why, err)
		}
	}
}

// What a reading without credentials is told to add must be an entry that matches.
func TestForSaysWhatToAdd(t *testing.T) {
	other := Entry{URL: "https://other.example.com", Secret: user("me")}
	for name, tc := range map[string]struct {
		entries []Entry
		url     string
		want    string
	}{
		"no entries":      {nil, "https://git.example.com/acme/r", `Add an entry to the provider's credentials, such as { url = "https://git.example.com/acme/", secret = { username = "…", password = "…" } }.`},
		"others":          {[]Entry{other}, "https://git.example.com/acme/r", `secret = { username = "…", password = "…" } }, or correct the url of the one that is meant for it: scheme, host, port and whole path segments must be equal.`},
		"an empty secret": {[]Entry{{URL: "https://git.example.com"}}, "https://git.example.com/acme/r", "Fill in that secret, or add an entry with a longer url for this repository."},
		"a match":         {[]Entry{other}, "https://other.example.com/r", ""},
		"no scheme":       {nil, "git.example.com:8443/acme/r.git", "If it is the port, write ssh://git.example.com:8443/acme/r.git, or https://git.example.com:8443/acme/r.git."},
		"ssh":             {nil, "git@git.example.com:acme/r.git", `such as { url = "git@git.example.com:acme/", secret = { identity = file("…"), known_hosts = file("…") } }.`},
	} {
		a, err := keychain(t, Options{}, tc.entries...).For(remote(t, tc.url))
		var got string
		if f, ok := errors.AsType[*fault.Error](err); ok {
			got = f.Advice
		} else {
			got = a.Cure
		}
		if !strings.HasSuffix(got, tc.want) || tc.want == "" && got != "" {
			t.Errorf("%s: %q, want %q", name, got, tc.want)
		}
	}
}

func TestForUnknown(t *testing.T) {
	known := Entry{URL: "https://git.example.com", Secret: user("me")}
	for name, tc := range map[string]struct {
		options Options
		entries []Entry
		url     string
		want    string // the attribute, "" when it does not matter
	}{
		"the list, https":              {Options{ListUnknown: true}, nil, "https://git.example.com/r", "credentials is not known"},
		"the list, http":               {Options{ListUnknown: true}, nil, "http://git.example.com/r", "credentials is not known"},
		"the list, ssh":                {Options{ListUnknown: true}, nil, "git@git.example.com:r", "credentials is not known"},
		"the list, git":                {Options{ListUnknown: true}, nil, "git://git.example.com/r", ""},
		"the list, file":               {Options{ListUnknown: true}, nil, "file:///r", ""},
		"a url":                        {Options{}, []Entry{known, {URLUnknown: true}}, "https://git.example.com/r", "credentials[1].url"},
		"a url, another host":          {Options{}, []Entry{known, {URLUnknown: true}}, "https://other.example.com/r", "credentials[1].url"},
		"a url, file":                  {Options{}, []Entry{known, {URLUnknown: true}}, "/srv/r.git", ""},
		"the secret":                   {Options{}, []Entry{{URL: "https://git.example.com", SecretUnknown: true}}, "https://git.example.com/r", "credentials[0].secret"},
		"a part of the secret":         {Options{}, []Entry{{URL: "https://git.example.com", Secret: map[string]string{"username": "x"}, SecretUnknown: true}}, "https://git.example.com/r", "credentials[0].secret"},
		"the secret of a longer match": {Options{}, []Entry{known, {URL: "https://git.example.com/acme", SecretUnknown: true}}, "https://git.example.com/acme/r", "credentials[1].secret"},
		"a secret that is not in use":  {Options{}, []Entry{known, {URL: "https://git.example.com/acme", SecretUnknown: true}}, "https://git.example.com/r", ""},
		"ambient, with an entry":       {Options{AmbientUnknown: true}, []Entry{known}, "https://git.example.com/r", ""},
		"ambient, without":             {Options{AmbientUnknown: true}, []Entry{known}, "https://other.example.com/r", "ambient is not known"},
		"ambient, ssh":                 {Options{AmbientUnknown: true}, nil, "git@git.example.com:r", "ambient is not known"},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := keychain(t, tc.options, tc.entries...).For(remote(t, tc.url))
			if tc.want == "" {
				if err != nil {
					t.Error(err)
				}
				return
			}
			if a != nil {
				t.Error("there is an Auth beside the error: it could be used")
			}
			wantFault(t, err, fault.CredentialsUnknown, tc.want, "-target", tc.url)
		})
	}
}

func TestIDIsEqualIffCredentialsAre(t *testing.T) {
	known := ed25519Key(t, "host").line("*")
	identity := ed25519Key(t, "user").private
	ids := map[string]string{}
	for name, tc := range map[string]struct {
		url    string
		secret map[string]string
	}{
		"basic":          {"https://git.example.com/a", user("a")},
		"other user":     {"https://git.example.com/a", user("b")},
		"moved boundary": {"https://git.example.com/a", map[string]string{"username": "ap", "password": "w-a"}},
		"bearer":         {"https://git.example.com/a", map[string]string{"bearerToken": "a"}},
		"ssh":            {"ssh://git@git.example.com/a", map[string]string{"identity": identity, "known_hosts": known}},
		"ssh, other user": {"ssh://me@git.example.com/a",
			map[string]string{"identity": identity, "known_hosts": known}},
		"ssh, other hosts": {"ssh://git@git.example.com/a",
			map[string]string{"identity": identity, "known_hosts": known + known}},
	} {
		id := mustAuth(t, tc.url, tc.secret).ID
		if again := mustAuth(t, tc.url, tc.secret).ID; id == "" || again != id {
			t.Errorf("%s: IDs %q and %q", name, id, again)
		}
		if other, dup := ids[id]; dup {
			t.Errorf("%s and %s have the same ID", name, other)
		}
		ids[id] = name
	}
	// A user in the URL is no part of a bearer token's credentials.
	if with, without := mustAuth(t, "https://me@git.example.com/a", map[string]string{"bearerToken": "a"}), mustAuth(t, "https://git.example.com/a", map[string]string{"bearerToken": "a"}); with.ID != without.ID {
		t.Error("the URL's user changes the ID of a bearer token")
	}
	if a := mustAuth(t, "https://git.example.com/a", map[string]string{"ca.crt": ""}); a.ID != "" {
		t.Errorf("anonymous has the ID %q", a.ID)
	}
}
