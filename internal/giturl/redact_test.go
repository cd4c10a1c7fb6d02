package giturl

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// mangled are ways to write a URL with the password s3cr3t-marker, right and
// wrong, as people do.
func mangled() []string {
	forms := []string{
		// Field case 26: a raw "/", "#", "%", "@" in the password.
		"https://user:PW/x@h.example/r.git",
		"https://user:x/PW@h.example/r.git",
		"https://user:123/PW@h.example/r.git", // host "user", port 123
		"https://user:PW#x@h.example/r.git",
		"https://user:x#PW@h.example/r.git",
		"https://user:PW?x@h.example/r.git",
		"https://user:x?PW@h.example/r.git",
		"https://user:PW%zzt@h.example/r.git",
		"https://user:PW%@h.example/r.git",
		"https://user:PW@x@h.example/r.git",
		"https://user:x@PW@h.example/r.git",
		"https://user:PW x@h.example/r.git",
		"https://user:PW\nx@h.example/r.git",
		"https://user:PW\\x@h.example/r.git",
		"https://user:PW:x@h.example/r.git",
		"https://user:[PW]@h.example/r.git",
		// Right, and still not wanted.
		"https://user:PW@h.example/r.git",
		"http://user:PW@h.example:8080/r.git",
		"https://:PW@h.example/r.git",
		"ssh://git:PW@h.example/r.git",
		"git+ssh://git:PW@h.example/r.git",
		"git://user:PW@h.example/r.git",
		"ftp://user:PW@h.example/r.git",
		"https://user:PW@[::1]:8443/r.git",
		// The colon, the at sign, the host or the scheme is missing or encoded.
		"https://user%3APW@h.example/r.git",
		"https://user%3APW%40h.example/r.git",
		"https://user:PW%40h.example/r.git",
		"https://user:PW/r.git",
		"https://user:PW",
		"https://user:PW@",
		"https://user:PW@/r.git",
		"ssh://user:PW/r.git",
		"https:///user:PW@h.example/r.git",
		"https:///user:PW%40h.example/r.git",
		"https://https://user:PW@h.example/r.git",
		"https://h.example/https://user:PW@h.example/r.git",
		"https:/user:PW@h.example/r.git",
		"https:user:PW@h.example/r.git",
		"https//user:PW@h.example/r.git",
		"https;//user:PW@h.example/r.git",
		"https :// user:PW@h.example/r.git",
		"//user:PW@h.example/r.git",
		"://user:PW@h.example/r.git",
		"user:PW@h.example/r.git",
		"user:PW@h.example:r.git",
		"user:x/PW@h.example/r.git",
		"me@corp.example:PW@h.example/r.git",
		"user:PW@",
		"user/PW@h.example",
		"./user:PW@h.example/r.git",
		"git::https://user:PW@h.example/r.git",
		"ext::https://user:PW@h.example/r.git",
		"url=https://user:PW@h.example/r.git",
		`"https://user:PW@h.example/r.git"`,
		" https://user:PW@h.example/r.git",
		"https://user:PW@h.example/r.git\n",
		"https://user:PW@h.example/r.git?ref=main",
		"https://user:PW@h example/r.git",
		"https://user:PW@-h/r.git",
		"https://user:PW@h.example:g/r.git",
		"ssh://user:PW@h.example:g/r.git",
		"ssh://PW@x@h.example:g/r.git",
		"ssh://me@corp.example:PW", // the host is missing
		"https://me@corp.example:PW/r.git",
		"https://user:PW@h.example/r.git\x00",
		"file://user:PW@h.example/r.git",
		"file://user:PW/r.git",
		"[user:PW@h.example:22]:r.git",
		"[user:PW@h.example",
		"HTTPS%3A%2F%2Fuser%3APW%40h.example",
		// Queries and fragments (field case 29).
		"https://h.example/r.git?private_token=PW",
		"https://h.example/r.git?job_token=x&private_token=PW&a@b",
		"https://h.example/r.git?a@b&private_token=PW",
		"https://h.example?private_token=PW",
		"https://h.example/r.git#PW",
		"https://h.example/r.git#PW?x",
		"ssh://git@h.example/r.git?private_token=PW",
		"git://h.example/r.git?private_token=PW",
		"ftp://h.example/r.git?private_token=PW",
		"https://h example/r.git?private_token=PW",
	}
	var texts []string
	for _, f := range forms {
		for _, pw := range []string{"s3cr3t-marker", "s3cr3t%2Dmarker", "%73%33cr3t-marker"} {
			texts = append(texts, strings.ReplaceAll(f, "PW", pw))
		}
	}
	return texts
}

// leaks reports whether text holds a part of the marker in any spelling of
// mangled.
func leaks(text string) bool {
	return strings.Contains(text, "cr3t") || strings.Contains(text, "marker")
}

// TestI6_NoSecretInErrors: what cannot be parsed, or is refused, is not quoted
// with its secret.
func TestI6_NoSecretInErrors(t *testing.T) {
	for _, text := range mangled() {
		for name, parse := range map[string]func() error{
			"Parse":       func() error { _, err := Parse(text); return err },
			"ParsePrefix": func() error { _, err := ParsePrefix(text); return err },
		} {
			err := parse()
			if fault.KindOf(err) != fault.Input {
				t.Errorf("%s(%q) gave %v, want an input error", name, text, err)
			} else if leaks(err.Error()) {
				t.Errorf("%s(%q) leaks: %v", name, text, err)
			}
		}
		if got := Redact(text); leaks(got) {
			t.Errorf("Redact(%q) leaks: %s", text, got)
		}
	}
}

// The user name is not shown either: it is a token often enough.
func TestI6_NoUserNameInErrors(t *testing.T) {
	for _, text := range []string{
		"https://s3cr3t-marker@h.example/a b",
		"https://s3cr3t-marker:x@h.example/r",
		"https://s3cr3t-marker@h.example",
		"ssh://s3cr3t-marker@h.example:g/r",
		"ssh://s3cr3t-marker@h.example/r?x",
		"s3cr3t-marker@h.example:",
		"[s3cr3t-marker@h.example:x]:r",
		"git://s3cr3t-marker@h.example/r",
	} {
		if _, err := Parse(text); err == nil || leaks(err.Error()) {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

// token puts a token together, so that no scanner takes this file for a leak.
func token(prefix string) string { return prefix + strings.Repeat("a1B2", 9) }

func TestTokensAreRefused(t *testing.T) {
	var users []string
	for _, p := range []string{
		"ghp_", "gho_", "ghs_", "ghu_", "ghr_", "github_pat_", "glpat-", "gldt-", "glcbt-", "glrt-", "gloas-", "glsoat-", "glptt-",
		"glft-", "glimt-", "glagent-", "glffct-", "xoxb-", "xoxp-", "ATBB", "ATCTT", "ATATT",
	} {
		users = append(users, token(p), p+"x")
		for _, text := range []string{
			"https://h.example/" + token(p) + "/r", "ssh://" + token(p) + "@h.example/r", token(p) + "@h.example:r",
			"git@h.example:" + token(p) + "/r", "/srv/" + token(p), "https://oauth2/" + token(p),
		} {
			_, err := Parse(text)
			if err == nil || !strings.Contains(err.Error(), "access token") || strings.Contains(err.Error(), "a1B2") {
				t.Errorf("Parse(%q): %v", text, err)
			}
			if strings.Contains(Redact(text), "a1B2") {
				t.Errorf("Redact(%q) = %q", text, Redact(text))
			}
		}
	}
	users = append(users,
		strings.Repeat("0a", 20),           // 40 hex digits: GitHub of old, Gitea
		"a7"+strings.Repeat("bcdefghi", 6), // base32: Azure DevOps
		"9koXpg98eAheJ-vBs5_K",             // 20 characters: GitLab of old
	)
	for _, user := range users {
		for _, scheme := range []string{"https", "http"} {
			_, err := Parse(scheme + "://" + user + "@h.example/r")
			if err == nil || !strings.Contains(err.Error(), "access token") || strings.Contains(err.Error(), user) {
				t.Errorf("user %q: %v", user, err)
			}
			if _, err = ParsePrefix(scheme + "://" + user + "@h.example"); err == nil || strings.Contains(err.Error(), user) {
				t.Errorf("user %q in a prefix: %v", user, err)
			}
		}
	}
}

func TestUserNamesAreNoTokens(t *testing.T) {
	for _, text := range []string{
		"https://jane@h.example/r",
		"https://oauth2@h.example/r",
		"https://x-access-token@h.example/r",
		"https://x-bitbucket-api-token-auth@h.example/r",
		"https://gitlab%2Bdeploy-token-1234567@h.example/r",
		"https://gitlab+deploy-token-1234567@h.example/r",
		"https://project_1234_bot_4ffca233d8298ea1@h.example/r",
		"https://CodeBuildUser-at-123456789012@h.example/r",
		"https://firstname.lastname1234567@h.example/r",
		"https://firstname-lastname1234567%40corp.example@h.example/r",
		"https://continuous-integration-robot@h.example/r",
		"https://ContosoInternationalGroup@dev.example.com/ContosoInternationalGroup/p/_git/r",
		"ssh://APKAEIBAERJR2EXAMPLEX@h.example/r", // the login of AWS CodeCommit
	} {
		if _, err := Parse(text); err != nil {
			t.Errorf("Parse(%q): %v", text, err)
		}
	}
}

func TestRedact(t *testing.T) {
	for text, want := range map[string]string{
		"https://h.example/g/r.git":                   "https://h.example/g/r.git",
		"https://jane@h.example/r":                    "https://jane@h.example/r",
		"git@h.example:g/r.git":                       "git@h.example:g/r.git",
		"/srv/git/r.git":                              "/srv/git/r.git",
		"file:///srv/r":                               "file:///srv/r",
		"https://h.example":                           "https://h.example",
		"https://jane:pw@h.example/r.git":             "https://***@h.example/r.git",
		"https://a:b@c:d@h.example/r.git":             "https://***@h.example/r.git",
		"https://h.example/login?token=x":             "https://h.example/login?***",
		"https://h.example?token=x":                   "https://h.example?***",
		"https://h.example/login#x":                   "https://h.example/login#***",
		"https://jane:pw@h.example/r?a=b#c":           "https://***@h.example/r?***",
		"https://jane:p#w@h.example/r":                "https://***",
		"https://h.example/r?x=a@b":                   "https://***",
		"https://jane:pw":                             "https://***",
		"socks5://jane:pw@proxy.example.com:1080":     "socks5://***@proxy.example.com:1080",
		"/login?token=x":                              "***",
		"file:///a?b":                                 "file:///a?***",
		"/jane:pw@h.example/r":                        "***",
		"jane:pw@h.example/r":                         "***",
		"some words":                                  "***",
		"":                                            "***",
		"https://h.example/" + token("ghp_") + "/r":   "***",
		"https://h.example/a%40b/r%zz":                "https://***",
		"https://[2001:db8::1]:8443/r?x":              "https://[2001:db8::1]:8443/r?***",
		"HTTPS://H.Example/My%20Proj/_git/r?version=": "HTTPS://H.Example/My%20Proj/_git/r?***",
	} {
		if got := Redact(text); got != want {
			t.Errorf("Redact(%q) = %q, want %q", text, got, want)
		}
	}
}
