package giturl

import (
	"net/url"
	"strings"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// schemes are the spellings of a scheme, lower-case. The ssh aliases are
// git's own.
var schemes = map[string]Scheme{
	"https": HTTPS, "http": HTTP, "ssh": SSH, "git+ssh": SSH, "ssh+git": SSH, "git": Git, "file": File,
}

// parseURL reads what follows "scheme://".
func parseURL(name, rest string, prefix bool) (Remote, *fault.Error) {
	scheme, ok := schemes[name]
	switch {
	case !ok:
		return Remote{}, refuse("this scheme is not supported",
			"Use https, http, ssh (git+ssh, ssh+git), git, file, or the scp form user@host:path.")
	case scheme == File:
		return parseFileURL(rest)
	}
	end := strings.IndexAny(rest, "/?#")
	if end < 0 {
		end = len(rest)
	}
	authority, path := rest[:end], rest[end:]
	if strings.Contains(path, "@") || strings.Count(authority, "@") > 1 {
		return Remote{}, refuse("cannot parse the URL: it has an '@' after the one that ends the user name, or after the host",
			"If a password holds '/', '#', '?' or '@', that is what breaks it; remove user and password and use the provider's credentials. An '@' in the path is written %40.")
	}
	if strings.ContainsAny(path, "?#") {
		return Remote{}, refuse("a query ('?…') or fragment ('#…') is not part of a repository URL",
			"Remove it. A secret goes into the provider's credentials, a ref into branch, tag or ref; a '?' or '#' in the path is written %3F or %23.")
	}
	r := Remote{Scheme: scheme}
	hostport := authority
	if at := strings.IndexByte(authority, '@'); at >= 0 {
		var fe *fault.Error
		if r.User, fe = parseUser(scheme, authority[:at], path); fe != nil {
			return Remote{}, fe
		}
		hostport = authority[at+1:]
		if scheme == SSH {
			if fe = mixedForms(r.User, hostport, path); fe != nil {
				return Remote{}, fe
			}
		}
	}
	var fe *fault.Error
	if r.Host, r.Port, fe = parseHostPort(scheme, hostport); fe != nil {
		return Remote{}, fe
	}
	if scheme == HTTPS || scheme == HTTP {
		r.Path, fe = httpPath(path, prefix)
	} else {
		r.Path, fe = decodedPath(path, prefix)
	}
	return r, fe
}

// parseUser reads the part before the "@" of a URL with a scheme.
func parseUser(scheme Scheme, userinfo, path string) (string, *fault.Error) {
	user, err := url.PathUnescape(userinfo)
	switch {
	case err != nil, !utf8.ValidString(user):
		return "", refuse("cannot parse the URL: the part before the '@' is not percent-encoded rightly",
			"A '%' is written %25; a password does not belong there at all: use the provider's credentials.")
	case strings.Contains(user, ":"):
		return "", refuse("the URL holds a password", adviceCredentials)
	case scheme == Git:
		return "", refuse("a git:// URL has no user: the protocol knows no login", "Remove the part before the '@', or use ssh:// or https://.")
	}
	return user, checkUser(scheme, user, path)
}

// checkUser judges a decoded user name. path is the raw path of the URL.
func checkUser(scheme Scheme, user, path string) *fault.Error {
	switch {
	case user == "":
		return refuse("the user name before the '@' is empty", "Write a user name there, or remove the '@'.")
	case strings.HasPrefix(user, "-"):
		// As with a host: some ssh client may take it for an option
		// (CVE-2017-1000117).
		return refuse("the user name starts with '-'", "Check the URL; such a name could be taken for an option of a program.")
	case strings.ContainsFunc(user, invisible), strings.ContainsAny(user, " /:[]"):
		return refuse("the user name holds a space, a slash, a colon, a bracket or a character that cannot be seen", "Check the part before the '@'.")
	case (scheme == HTTPS || scheme == HTTP) && likeToken(user, path):
		return refuse("the user name looks like an access token",
			adviceCredentials+" If it is a user name, give it there as username.")
	}
	return nil
}

// httpPath returns the path as it is sent: as written, with what a URL may not
// hold (RFC 3986, section 3.3) percent-encoded.
func httpPath(raw string, prefix bool) (string, *fault.Error) {
	if strings.Contains(raw, " ") {
		return "", refuse("the path holds a space", "Write %20 for it.")
	}
	decoded, err := url.PathUnescape(raw)
	if err != nil {
		return "", badPercent()
	}
	if fe := checkPath(decoded, prefix); fe != nil {
		return "", fe
	}
	return strings.TrimSuffix(encode(raw, pathChars+"%"), "/"), nil
}

// decodedPath returns the repository argument of an ssh:// or git:// URL: git
// decodes it, and "/~user" loses its slash (git-fetch(1): "ssh://host/~user/…").
func decodedPath(raw string, prefix bool) (string, *fault.Error) {
	path, fe := decode(raw)
	if fe != nil {
		return "", fe
	}
	return repoArg(strings.TrimSuffix(path, "/"), prefix)
}

// repoArg turns a decoded path without its trailing slash into the argument of
// git-upload-pack.
func repoArg(path string, prefix bool) (string, *fault.Error) {
	if fe := checkPath(path, prefix); fe != nil {
		return "", fe
	}
	if strings.HasPrefix(path, "/~") {
		path = path[1:]
	}
	return path, nil
}
