package gitauth

import (
	"encoding/base64"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestHTTPHeader(t *testing.T) {
	const plain, withUser = "https://git.example.com/r.git", "https://me@git.example.com/r.git"
	for name, tc := range map[string]struct {
		url    string
		secret map[string]string
		want   string
		scheme string
		keys   string
	}{
		"basic":                  {plain, map[string]string{"username": "me", "password": "s3cr3t"}, "Basic " + base64.StdEncoding.EncodeToString([]byte("me:s3cr3t")), "Basic", "password username"},
		"bearer":                 {plain, map[string]string{"bearerToken": "abc.def-1_2~3+4/5="}, "Bearer abc.def-1_2~3+4/5=", "Bearer", "bearerToken"},
		"bearer with a URL user": {withUser, map[string]string{"bearerToken": "token"}, "Bearer token", "Bearer", "bearerToken"},
		"user of the URL":        {withUser, map[string]string{"password": "s3cr3t"}, basic("me", "s3cr3t"), "Basic", "password"},
		"user of both":           {withUser, map[string]string{"username": "other", "password": "s3cr3t"}, basic("other", "s3cr3t"), "Basic", "password username"},
		"token as user":          {plain, map[string]string{"username": "token"}, basic("token", ""), "Basic", "username"},
		"empty password":         {plain, map[string]string{"username": "token", "password": ""}, basic("token", ""), "Basic", "username"},
		"colon in the password":  {plain, map[string]string{"username": "me", "password": "a:b c"}, basic("me", "a:b c"), "Basic", "password username"},
		"not ASCII":              {plain, map[string]string{"username": "mé", "password": "pässword"}, basic("mé", "pässword"), "Basic", "password username"},
		"ssh keys beside":        {plain, map[string]string{"username": "me", "password": "p", "identity": "junk", "known_hosts": "junk"}, basic("me", "p"), "Basic", "password username"},
		"empty ca.crt":           {plain, map[string]string{"username": "me", "password": "p", "ca.crt": ""}, basic("me", "p"), "Basic", "password username"},
		"a user in the URL only": {withUser, map[string]string{}, "", "", ""},
		"loopback over http":     {"http://127.0.0.1:8080/r", map[string]string{"bearerToken": "t"}, "Bearer t", "Bearer", "bearerToken"},
		"loopback by name":       {"http://localhost/r", map[string]string{"bearerToken": "t"}, "Bearer t", "Bearer", "bearerToken"},
		"loopback IPv6":          {"http://[::1]/r", map[string]string{"bearerToken": "t"}, "Bearer t", "Bearer", "bearerToken"},
	} {
		t.Run(name, func(t *testing.T) {
			a := mustAuth(t, tc.url, tc.secret)
			if got := header(t, a); got != tc.want {
				t.Errorf("header %q, want %q", got, tc.want)
			}
			if a.Scheme() != tc.scheme || strings.Join(a.Keys, " ") != tc.keys {
				t.Errorf("scheme %q, keys %q", a.Scheme(), a.Keys)
			}
			if a.SSH != nil || a.TLS != nil {
				t.Error("there is SSH or TLS material")
			}
			if renewed, err := a.Renew(t.Context(), tc.want); renewed || err != nil {
				t.Errorf("Renew: %t, %v", renewed, err)
			}
		})
	}
}

func TestHTTPSecretRefused(t *testing.T) {
	const plain = "https://git.example.com/r.git"
	for name, tc := range map[string]struct {
		url    string
		secret map[string]string
		want   []string
	}{
		"password alone":          {plain, map[string]string{"password": "s3cr3t"}, []string{"no username", "Add username"}},
		"bearer, newline":         {plain, map[string]string{"bearerToken": "s3cr3t\n"}, []string{"bearerToken: ends in a line break", "trimspace"}},
		"password, newline":       {plain, map[string]string{"username": "me", "password": "s3cr3t\n"}, []string{"password: ends in a line break", "trimspace"}},
		"password, CRLF":          {plain, map[string]string{"username": "me", "password": "s3cr3t\r\n"}, []string{"password: ends in a line break"}},
		"username, newline":       {plain, map[string]string{"username": "s3cr3t\n", "password": "x"}, []string{"username: ends in a line break"}},
		"bearer, trailing blank":  {plain, map[string]string{"bearerToken": "s3cr3t "}, []string{"bearerToken: begins or ends with white space"}},
		"password, leading blank": {plain, map[string]string{"username": "me", "password": "\ts3cr3t"}, []string{"password: begins or ends"}},
		"password, BOM":           {plain, map[string]string{"username": "me", "password": "\ufeffs3cr3t"}, []string{"byte order mark"}},
		"password, two lines":     {plain, map[string]string{"username": "me", "password": "s3cr3t\r\nX-Evil: 1"}, []string{"password: has a control character"}},
		"password, NUL":           {plain, map[string]string{"username": "me", "password": "s3cr3t\x00x"}, []string{"password: has a control character"}},
		"username, colon":         {plain, map[string]string{"username": "me:s3cr3t"}, []string{"username: has a colon"}},
		"bearer, its word":        {plain, map[string]string{"bearerToken": "Bearer s3cr3t"}, []string{"begins with the word Bearer"}},
		"bearer, inner blank":     {plain, map[string]string{"bearerToken": "s3cr3t s3cr3t"}, []string{"bearerToken: has a character"}},
		"bearer, not ASCII":       {plain, map[string]string{"bearerToken": "s3cr3té"}, []string{"bearerToken: has a character"}},
		"bearer, empty":           {plain, map[string]string{"bearerToken": ""}, []string{"bearerToken: is empty", "anonymous"}},
		"both empty":              {plain, map[string]string{"username": "", "password": ""}, []string{"password: is empty", "anonymous"}},
		"user empty":              {plain, map[string]string{"username": "", "ca.crt": "x"}, []string{"username: is empty"}},
		"plain http":              {"http://git.example.com/r", user("s3cr3t"), []string{"plain http", "allow_http"}},
		"plain http, bearer":      {"http://10.0.0.1/r", map[string]string{"bearerToken": "s3cr3t"}, []string{"plain http"}},
		"nearly loopback":         {"http://localhost.example.com/r", map[string]string{"bearerToken": "s3cr3t"}, []string{"plain http"}},
	} {
		t.Run(name, func(t *testing.T) {
			a, err := authFor(t, tc.url, tc.secret)
			if a != nil {
				t.Error("there is an Auth beside the error")
			}
			wantFault(t, err, fault.Credentials, append(tc.want, "credentials[0]", tc.url)...)
			if strings.Contains(err.Error(), "s3cr3t") {
				t.Errorf("error shows the secret: %v", err)
			}
		})
	}
}

func TestAllowHTTP(t *testing.T) {
	r := remote(t, "http://git.example.com/r")
	a, err := keychain(t, Options{}, Entry{URL: "http://git.example.com", Secret: user("me"), AllowHTTP: true}).For(r)
	if err != nil || header(t, a) != basic("me", "pw-me") {
		t.Errorf("with allow_http: %v", err)
	}
	// Nothing secret leaves by a trusted authority.
	a, err = keychain(t, Options{}, Entry{URL: "http://git.example.com", Secret: map[string]string{"ca.crt": newTestCA(t).pem}}).For(r)
	if err != nil || header(t, a) != "" {
		t.Errorf("with ca.crt alone: %v", err)
	}
}
