package giturl

import (
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const (
	alphanumeric = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"
	// pathChars may stand in a path as they are (RFC 3986: pchar and "/").
	pathChars = alphanumeric + "-._~!$&'()*+,;=:@/"
	// canonicalChars leaves out "@", which Parse refuses in a path.
	canonicalChars = alphanumeric + "-._~!$&'()*+,;=:/"
)

var drivePath = regexp.MustCompile(`^/[A-Za-z]:/`)

// encode percent-encodes every byte of s that is not in keep.
func encode(s, keep string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if c := s[i]; strings.IndexByte(keep, c) >= 0 {
			b.WriteByte(c)
		} else {
			b.Write([]byte{'%', hex[c>>4], hex[c&15]})
		}
	}
	return b.String()
}

// escapePath writes a decoded path in a canonical URL.
func escapePath(path string) string { return encode(path, canonicalChars) }

// escapeUser writes a decoded user name in a canonical URL.
func escapeUser(user string) string { return encode(user, alphanumeric+"-._~") }

// decode undoes percent-encoding. The result is shown to people and kept in
// the state, so it must be text.
func decode(raw string) (string, *fault.Error) {
	s, err := url.PathUnescape(raw)
	switch {
	case err != nil:
		return "", badPercent()
	case !utf8.ValidString(s):
		return "", refuse("the decoded path is not UTF-8", "Check the percent-encoding of the path.")
	}
	return s, nil
}

func badPercent() *fault.Error {
	return refuse("the path holds a '%' that is not followed by two hexadecimal digits", "Write %25 for a '%'.")
}

// checkPath judges a decoded path of a network URL. A prefix may be empty.
func checkPath(path string, prefix bool) *fault.Error {
	switch {
	case strings.Trim(path, "/") == "" && !prefix:
		return refuse("the URL names no repository: its path is empty", "Write the path of the repository behind the host.")
	case strings.ContainsFunc(path, invisible):
		return refuse("the path holds a line break or another character that cannot be seen", "Check the percent-encoding of the path.")
	case slices.ContainsFunc(strings.Split(path, "/"), isDots):
		// "/acme/../other" would be sent with the credentials of /acme/.
		return refuse("the path holds a segment '.' or '..'", "Write the path without it.")
	}
	return nil
}

func isDots(segment string) bool { return segment == "." || segment == ".." }

// parseFileURL reads what follows "file://". As in git the path is decoded,
// and "?" and "#" are characters like others.
func parseFileURL(rest string) (Remote, *fault.Error) {
	rest = strings.TrimPrefix(rest, "localhost") // RFC 8089: this machine
	if !strings.HasPrefix(rest, "/") {
		return Remote{}, refuse("a file URL needs an absolute path and no host", "Write file:///path with three slashes, or just the absolute path.")
	}
	path, fe := decode(rest)
	if fe != nil {
		return Remote{}, fe
	}
	return fileRemote(path)
}

// fileRemote makes a remote of an absolute path with slashes.
func fileRemote(path string) (Remote, *fault.Error) {
	if drivePath.MatchString(path) {
		path = path[1:] // file:///C:/x
	}
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.Trim(path, "/") == "", strings.HasSuffix(path, ":") && len(path) == 2:
		return Remote{}, refuse("the URL names no repository: its path is empty", "Write the path of the repository's directory.")
	case strings.HasPrefix(path, "//"):
		return Remote{}, refuse("the path starts with two slashes", "Write one slash for an absolute path, or scheme://host/path for a URL.")
	case strings.ContainsFunc(path, invisible):
		return Remote{}, refuse("the path holds a line break or another character that cannot be seen", "Check the percent-encoding of the path.")
	}
	return Remote{Scheme: File, Path: path}, nil
}
