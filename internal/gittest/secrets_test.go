package gittest

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"strings"
	"testing"
)

func TestFindSecret(t *testing.T) {
	const secret = `s3/cr "3t<&>+ü%`
	js, err := json.Marshal(map[string]string{"password": secret})
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"raw":           "password is " + secret + ", do not tell",
		"base64":        base64.StdEncoding.EncodeToString([]byte(secret)),
		"user:secret":   "Basic " + base64.StdEncoding.EncodeToString([]byte("me:"+secret)),
		"us:secret":     "Basic " + base64.StdEncoding.EncodeToString([]byte("us:"+secret)),
		"user1:secret":  "Basic " + base64.URLEncoding.EncodeToString([]byte("user1:"+secret+" and more")),
		"raw URL":       base64.RawURLEncoding.EncodeToString([]byte(secret)),
		"query":         "?token=" + url.QueryEscape(secret),
		"path":          "/" + url.PathEscape(secret),
		"URL":           (&url.URL{Scheme: "https", User: url.UserPassword("me", secret), Host: "h"}).String(),
		"lower percent": "s3%2fcr%20%223t%3c&%3e+%c3%bc%25",
		"JSON":          string(js),
		"Go":            fmt.Sprintf("%q", secret),
		"hexadecimal":   fmt.Sprintf("%X", secret),
	} {
		if FindSecret([]byte(text), "another", secret) == "" {
			t.Errorf("%s: not found in %q", name, text)
		}
	}
	if found := FindSecret([]byte("s3/cr 3t, and cr3t"), secret); found != "" {
		t.Errorf("found %s", found)
	}
}

func TestFindSecretLines(t *testing.T) {
	key := MakeSSHKey(t, Ed25519)
	lines := strings.Split(key.Private, "\n")
	if FindSecret([]byte("log: "+lines[2]+" …"), key.Private) == "" {
		t.Error("one line of a private key was not found")
	}
	if found := FindSecret([]byte("-----BEGIN OPENSSH PRIVATE KEY-----"), key.Private); found != "" {
		t.Errorf("found %s", found)
	}
}

func TestAssertNoSecrets(t *testing.T) {
	AssertNoSecrets(t, "a clean text", []byte("nothing here"), "hunter22")
	probe := &probeTB{TB: t}
	AssertNoSecrets(probe, "the log", []byte("password=hunter22"), "hunter22")
	if !strings.Contains(probe.failure, "the log shows a secret") {
		t.Errorf("failure %q", probe.failure)
	}
}

// probeTB keeps a failure in place of failing.
type probeTB struct {
	testing.TB
	failure string
}

func (p *probeTB) Errorf(format string, args ...any) { p.failure = fmt.Sprintf(format, args...) }
