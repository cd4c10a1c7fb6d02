package gitauth

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"html"
	"net/url"
	"strconv"
	"strings"
	"testing"
)

func TestScrubKnowsEveryForm(t *testing.T) {
	for _, secret := range []string{"s3cr3t", `p&"ss<w>/o+r=d#%`, "pässwörd/é", "with space", `back\slash`, "tok_EN-1234567890.~", "0123"} {
		a := mustAuth(t, "https://git.example.com/r", map[string]string{"username": "me", "password": secret})
		quoted, _ := json.Marshal(secret)
		for name, text := range map[string]string{
			"raw":            secret,
			"twice":          secret + secret,
			"in a word":      "x" + secret + "y",
			"base64":         base64.StdEncoding.EncodeToString([]byte(secret)),
			"base64, url":    base64.URLEncoding.EncodeToString([]byte(secret)),
			"base64, raw":    base64.RawStdEncoding.EncodeToString([]byte(secret)),
			"header":         header(t, a),
			"basic, raw url": base64.RawURLEncoding.EncodeToString([]byte("me:" + secret)),
			"query":          url.QueryEscape(secret),
			"path":           url.PathEscape(secret),
			"over-encoded":   percentAll(secret),
			"in a URL":       (&url.URL{Scheme: "https", User: url.UserPassword("me", secret), Host: "h"}).String(),
			"lower escapes":  lowerPercent(url.QueryEscape(secret)),
			"JSON":           string(quoted),
			"HTML":           html.EscapeString(secret),
			"Go":             strconv.Quote(secret),
			"every byte":     percentEncode(secret, func(byte) bool { return false }),
			"hexadecimal":    hex.EncodeToString([]byte(secret)),
			"hex, upper":     fmt.Sprintf("%X", secret),
		} {
			out := a.Scrub("before " + text + " after")
			if !strings.Contains(out, "***") || !strings.HasPrefix(out, "before ") || !strings.HasSuffix(out, " after") {
				t.Errorf("%q, %s: %q", secret, name, out)
			}
			for _, form := range forms(login{"me", secret}) {
				if strings.Contains(out, form) {
					t.Errorf("%q, %s: %q still holds %q", secret, name, out, form)
				}
			}
		}
	}
}

// A secret inside something longer that was encoded as one: no eight digits in
// a row that stand for it are left.
func TestScrubInsideBase64(t *testing.T) {
	const secret = "s3cr3t-0f-acme?>"
	a := mustAuth(t, "https://git.example.com/r", map[string]string{"username": "me", "password": secret})
	for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		for before := range 4 {
			whole := enc.EncodeToString([]byte(strings.Repeat("y", before) + secret + "@z"))
			out := a.Scrub(whole)
			for i := (before*8 + 5) / 6; i+8 <= (before+len(secret))*8/6; i++ {
				if strings.Contains(out, whole[i:i+8]) {
					t.Errorf("%d bytes before: %q of %q is left in %q", before, whole[i:i+8], whole, out)
				}
			}
		}
	}
}

func TestScrubShortSecrets(t *testing.T) {
	a := mustAuth(t, "https://git.example.com/r", map[string]string{"username": "me", "password": "he"})
	for text, want := range map[string]string{
		"the he said":  "the *** said",
		"he":           "***",
		"(he)he,the":   "(***)***,the",
		"hehe he":      "hehe ***",
		"password=he&": "password=***&",
	} {
		if got := a.Scrub(text); got != want {
			t.Errorf("Scrub(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestScrubLeavesTheRest(t *testing.T) {
	text := "remote: git-upload-pack of me at https://git.example.com/r"
	for name, a := range map[string]*Auth{
		"anonymous": {},
		"basic":     mustAuth(t, "https://git.example.com/r", map[string]string{"username": "git", "password": "s3cr3t"}),
		"empty":     mustAuth(t, "https://git.example.com/r", map[string]string{"ca.crt": ""}),
	} {
		if got := a.Scrub(text); got != text {
			t.Errorf("%s: %q", name, got)
		}
	}
	// A token in the place of the user name is a secret.
	a := mustAuth(t, "https://git.example.com/r", map[string]string{"username": "ghp_token", "password": "x-oauth-basic"})
	if got := a.Scrub("bad ghp_token or " + header(t, a)); got != "bad *** or Basic ***" {
		t.Errorf("token as user name: %q", got)
	}
}

func TestScrubKeyMaterial(t *testing.T) {
	key := keygen(t, "ed25519 secret", "-t", "ed25519", "-N", "secret", "-a", "1")
	a := mustAuth(t, "ssh://git@git.example.com/r", map[string]string{"identity": key.private, "known_hosts": ed25519Key(t, "host").line("*"), "password": "secret"})
	for _, text := range []string{key.private, strings.ReplaceAll(key.private, "\n", `\n`), strings.ReplaceAll(key.private, "\n", "\r\n")} {
		out := a.Scrub(text + " secret")
		for line := range strings.Lines(key.private) {
			if line = strings.TrimSpace(line); !strings.HasPrefix(line, "-") && len(line) >= minKeyLine && strings.Contains(out, line) {
				t.Errorf("%q is still there", line)
			}
		}
		if strings.Contains(out, " secret") {
			t.Error("the passphrase is still there")
		}
	}
}

func TestLongestFirst(t *testing.T) {
	if got := fmt.Sprint(longestFirst([]string{"b", "", "aaa", "b", "cc"})); got != "[aaa cc b]" {
		t.Error(got)
	}
}

// A text that was read up to a bound may end within a secret.
func TestScrubWhereTheTextWasCut(t *testing.T) {
	const secret = "tok_EN-1234567890.~"
	a := mustAuth(t, "https://git.example.com/r", map[string]string{"username": "me", "password": secret})
	basic := strings.TrimPrefix(header(t, a), "Basic ")
	for name, form := range map[string]string{"raw": secret, "header": basic, "query": url.QueryEscape(secret)} {
		for n := shortSecret; n < len(form); n++ {
			out := strings.TrimRight(a.Scrub("before "+form[:n]), "=")
			if out != "before ***" && out != "before bWU6***" { // "me:" is no secret
				t.Errorf("%s, cut after %d bytes: %q", name, n, out)
			}
		}
	}
	if out := a.Scrub("before tok_EN after"); out != "before tok_EN after" {
		t.Errorf("%q", out)
	}
}
