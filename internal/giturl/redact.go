package giturl

import (
	"regexp"
	"strings"
)

const masked = "***"

// tokenPrefixes begin the access tokens of the usual hosts: GitHub, GitLab,
// Slack, Bitbucket and Atlassian.
const tokenPrefixes = `gh[oprsu]_|github_pat_|gl(?:pat|dt|cbt|rt|oas|soat|ptt|ft|imt|agent|ffct)-|xox[a-z]-|AT(?:BB|CTT|ATT)` //nolint:gosec // what tokens begin with, none itself

var (
	tokenStart    = regexp.MustCompile(`^(?:` + tokenPrefixes + `)`)
	tokenAnywhere = regexp.MustCompile(`\b(?:` + tokenPrefixes + `)[A-Za-z0-9_-]{16,}`)
	// knownUsers are long user names that hosts hand out: AWS CodeCommit,
	// GitLab deploy tokens and access token bots.
	knownUsers = regexp.MustCompile(`^(?:.+-at-\d{12}|gitlab\+deploy-token-\d+|(?:project|group)_\d+_bot(?:_[0-9a-f]+)?)$`)
)

// likeToken reports whether the user name of an http URL looks like an access
// token: it begins like one, or it has 20 characters or more with a digit or a
// capital letter among them and no '@' or '.' (which mail addresses have), is
// no user name that a host hands out, and is no segment of the path either, as
// the organisation of Azure DevOps is.
func likeToken(user, path string) bool {
	switch {
	case tokenStart.MatchString(user):
		return true
	case len(user) < 20, strings.ContainsAny(user, "@."), knownUsers.MatchString(user), strings.Contains(path+"/", "/"+user+"/"):
		return false
	}
	return strings.ContainsAny(user, "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789")
}

// Redact returns text, one URL of any kind, with what may be a secret masked:
// user information, query and fragment. What Parse accepts is returned as it
// is. Where the parts cannot be told apart, everything is masked.
func Redact(text string) string {
	r, fe := parse(text, false)
	// A local path is a strange thing to redact: "/login?token=…", say, is the
	// target of a redirect.
	if fe == nil && (r.Scheme != File || !strings.ContainsAny(text, "?#@")) {
		return text
	}
	return mask(text)
}

// mask returns as much of a URL that does not parse as can be shown: scheme,
// host and path if they can be told from the rest.
func mask(text string) string {
	scheme := schemeForm.FindString(text)
	if scheme == "" || len(text) > maxLength || tokenAnywhere.MatchString(text) {
		return masked
	}
	rest, user := text[len(scheme):], ""
	at, query := strings.LastIndexByte(rest, '@'), strings.IndexAny(rest, "?#")
	if query >= 0 && query < at || strings.Contains(rest, "%40") {
		// A password with a '#' or a query with an '@'; an encoded '@' may be
		// the one that ends a password.
		return scheme + masked
	}
	if at >= 0 {
		user, rest = masked+"@", rest[at+1:]
	}
	tail := ""
	if query = strings.IndexAny(rest, "?#"); query >= 0 {
		rest, tail = rest[:query], rest[query:query+1]+masked
	}
	host, _, _ := strings.Cut(rest, "/")
	_, _, fe := parseHostPort(HTTPS, host)
	if local := host == "" && strings.EqualFold(scheme, "file://"); fe != nil && !local {
		return scheme + user + masked // "host:port" may be "user:password"
	}
	return scheme + user + rest + tail
}
