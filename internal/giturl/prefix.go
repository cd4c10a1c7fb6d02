package giturl

import (
	"net/url"
	"strings"
)

// Prefix says which remotes an entry of the credentials is for.
type Prefix struct {
	remote   Remote
	segments []string // decoded
}

// ParsePrefix reads a credentials prefix: an https, http or ssh URL, or the
// scp form, with a host alone ("https://git.example.com", "git@host:") or with
// whole path segments. The error is as for Parse.
func ParsePrefix(text string) (Prefix, error) {
	r, fe := parse(text, true)
	if fe == nil && r.Scheme != HTTPS && r.Scheme != HTTP && r.Scheme != SSH {
		fe = refuse("credentials are for https, http and ssh only", "Write a prefix such as https://git.example.com/acme/ or ssh://git@git.example.com.")
	}
	if fe == nil && strings.Contains(text, "*") {
		fe = refuse("a '*' means nothing in the url of the credentials: prefixes match whole segments",
			"Leave the * out: https://git.example.com/acme/ is for everything below it. For a '*' that is really in a name write %2A.")
	}
	if fe != nil {
		// Who reads this is at the provider's credentials already.
		fe.Advice = strings.ReplaceAll(fe.Advice, theCredentials, "the secret of this entry")
		return Prefix{}, asked(fe, text)
	}
	return Prefix{remote: r, segments: r.segments()}, nil
}

// IsSCP reports whether the prefix is written in the scp form, without a
// scheme: "git.example.com:acme" is one, and so is "localhost:8080/acme".
func (p Prefix) IsSCP() bool { return p.remote.Scheme == SSH && !schemeForm.MatchString(p.remote.text) }

// IsHTTP reports whether the prefix is for https or http.
func (p Prefix) IsHTTP() bool { return p.remote.Scheme == HTTPS || p.remote.Scheme == HTTP }

// As returns the prefix as it would be written under another scheme, for a
// hint. Neither user nor port go over, as they are others there; but a number
// after the colon of the scp form can only have been meant as a port.
func (p Prefix) As(scheme Scheme) string {
	to, segments := Remote{Host: p.remote.Host}, p.segments
	if p.IsSCP() && len(segments) > 0 {
		if port, fe := parsePort(scheme, segments[0]); fe == nil {
			to.Port, segments = port, segments[1:]
		}
	}
	text := string(scheme) + "://" + to.authority(urlZone) + "/"
	for _, s := range segments {
		text += encode(s, alphanumeric+"-._~") + "/"
	}
	return text
}

// segments returns the decoded segments of the path. Empty ones are dropped,
// so that the scp form and ssh:// have the same.
func (r Remote) segments() []string {
	var out []string
	for s := range strings.SplitSeq(r.Path, "/") {
		if r.Scheme == HTTPS || r.Scheme == HTTP {
			s, _ = url.PathUnescape(s) // Parse checked it
		}
		if s != "" {
			out = append(out, s)
		}
	}
	return out
}

// Match reports whether the prefix is for r: scheme, host and port are equal,
// the prefix's segments begin r's, and the user is equal if the prefix has
// one. Of several that match the one with the greatest length counts: more
// segments win, then a user over none.
func (p Prefix) Match(r Remote) (length int, ok bool) {
	if p.remote.Origin() != r.Origin() || p.remote.User != "" && p.remote.User != r.User {
		return 0, false
	}
	have := r.segments()
	if len(have) < len(p.segments) {
		return 0, false
	}
	for i, s := range p.segments {
		if s != have[i] {
			return 0, false
		}
	}
	length = 2 * len(p.segments)
	if p.remote.User != "" {
		length++
	}
	return length, true
}

// Key returns the canonical form of the prefix; prefixes with equal keys are
// duplicates.
func (p Prefix) Key() string {
	key := string(p.remote.Scheme) + "://"
	if p.remote.User != "" {
		key += escapeUser(p.remote.User) + "@"
	}
	key += p.remote.authority(urlZone) + "/"
	for _, s := range p.segments {
		key += encode(s, alphanumeric+"-._~") + "/"
	}
	return key
}

// String returns the prefix as the user wrote it.
func (p Prefix) String() string { return p.remote.text }
