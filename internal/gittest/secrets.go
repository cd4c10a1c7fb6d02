package gittest

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// shortestPart is how long a part of a secret must be to be searched for by
// itself: shorter ones turn up by chance.
const shortestPart = 8

// Forms returns the texts that would give secret away: as it is, each long
// line of it, in base64 (also in the middle of something longer, such as
// user:secret, standard and URL alphabet), percent-encoded, in hexadecimal,
// and escaped as in JSON and in Go.
func Forms(secret string) []string {
	forms := []string{secret}
	for line := range strings.Lines(secret) {
		// The first and last line of a PEM block are no secret.
		line = strings.TrimSpace(line)
		if len(line) >= shortestPart && !strings.HasPrefix(line, "-----") {
			forms = append(forms, line)
		}
	}
	for _, encoding := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding} {
		forms = append(forms, encoding.EncodeToString([]byte(secret)))
		forms = append(forms, insideBase64(encoding, secret)...)
	}
	var every strings.Builder
	for _, b := range []byte(secret) {
		fmt.Fprintf(&every, "%%%02X", b)
	}
	percent := []string{url.QueryEscape(secret), url.PathEscape(secret), url.UserPassword("", secret).String()[1:], every.String()}
	for _, form := range percent {
		forms = append(forms, form, lowerPercent(form))
	}
	hexadecimal := hex.EncodeToString([]byte(secret))
	forms = append(forms, hexadecimal, strings.ToUpper(hexadecimal))
	quoted := strconv.Quote(secret)
	forms = append(forms, jsonEscaped(secret, true), jsonEscaped(secret, false), quoted[1:len(quoted)-1])

	slices.Sort(forms)
	forms = slices.Compact(forms)
	return slices.DeleteFunc(forms, func(form string) bool { return form == "" })
}

// insideBase64 returns what stands for secret in the encoding of something that
// holds it: that depends on how many bytes stand before it, modulo 3, and the
// characters at both ends depend on its neighbours.
func insideBase64(encoding *base64.Encoding, secret string) []string {
	var forms []string
	for before := range 3 {
		whole := encoding.WithPadding(base64.NoPadding).EncodeToString([]byte(strings.Repeat("x", before) + secret))
		begin := (before*8 + 5) / 6
		end := (before + len(secret)) * 8 / 6
		if end-begin >= shortestPart {
			forms = append(forms, whole[begin:end])
		}
	}
	return forms
}

// lowerPercent writes the hexadecimal digits after each % in lower case.
func lowerPercent(text string) string {
	b := []byte(text)
	for i := range b {
		if b[i] == '%' && i+3 <= len(b) {
			copy(b[i:i+3], bytes.ToLower(b[i:i+3]))
		}
	}
	return string(b)
}

// jsonEscaped returns text as it stands between the quotes of a JSON string,
// with or without the escapes that keep it harmless in HTML.
func jsonEscaped(text string, html bool) string {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(html)
	_ = encoder.Encode(text) // a string can always be encoded
	out := strings.TrimSuffix(b.String(), "\n")
	return out[1 : len(out)-1]
}

// FindSecret returns "" if none of secrets is in data in any form, or says
// which one is, and between what.
func FindSecret(data []byte, secrets ...string) string {
	for _, secret := range secrets {
		for _, form := range Forms(secret) {
			if at := bytes.Index(data, []byte(form)); at >= 0 {
				begin, end := max(0, at-60), min(len(data), at+len(form)+20)
				return fmt.Sprintf("secret %q, as %q, in …%q…", secret, form, data[begin:end])
			}
		}
	}
	return ""
}

// AssertNoSecrets fails the test if one of secrets is in data in any form.
// where names data in the message. An empty secret is a mistake of the test.
func AssertNoSecrets(t testing.TB, where string, data []byte, secrets ...string) {
	t.Helper()
	if slices.Contains(secrets, "") {
		t.Fatalf("%s: the test searches for an empty secret", where)
	}
	if found := FindSecret(data, secrets...); found != "" {
		t.Errorf("%s shows a %s", where, found)
	}
}
