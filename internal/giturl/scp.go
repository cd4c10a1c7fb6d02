package giturl

import (
	"net/netip"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// parseSCP reads git's scp form: [user@]host:path, user@[ipv6]:path,
// [user@host:port]:path. Nothing in it is decoded, and a number after the
// colon is a path: git@host:2222/r is the path "2222/r".
func parseSCP(text string, prefix bool) (Remote, *fault.Error) {
	login, hostport, path, ok := splitSCP(text)
	if !ok {
		return Remote{}, refuse("the brackets of the host are not closed, or not followed by a colon",
			"Write [user@host:port]:path, or ssh://user@host:port/path.")
	}
	r := Remote{Scheme: SSH}
	if at := strings.LastIndexByte(login, '@'); at >= 0 {
		r.User = login[:at]
		if fe := checkUser(SSH, r.User, path); fe != nil {
			return Remote{}, fe
		}
	}
	first, _, _ := strings.Cut(path, "/")
	if strings.Contains(first, "@") || r.User == "" && strings.Contains(path, "@") {
		// Without this, "user:password@host/path", which lacks its scheme, is
		// the path "password@host/path" on the host "user".
		return Remote{}, refuse("cannot parse the URL: an '@' follows the first colon",
			"If the scheme is missing, write https://host/path and give user and password in the provider's credentials. If the '@' belongs to the path, write ssh://user@host/path with %40 for it.")
	}
	var fe *fault.Error
	if r.Host, r.Port, fe = parseHostPort(SSH, hostport); fe != nil {
		return Remote{}, fe
	}
	path = strings.TrimSuffix(path, "/")
	switch {
	case strings.HasPrefix(path, ":"), strings.HasPrefix(path, `\`), strings.TrimSpace(path) != path:
		return Remote{}, refuse("the path starts with a colon or a backslash, or is set off by a space", "Write user@host:path.")
	case strings.HasPrefix(path, "-"):
		// git refuses it too (CVE-2017-1000117).
		return Remote{}, refuse("the path starts with '-'", "Such a path could be taken for an option; write it from the root, as in user@host:/srv/git/-x.")
	}
	r.Path, fe = repoArg(path, prefix)
	return r, fe
}

// splitSCP cuts the text into "user@" (or ""), host with a port or an IPv6
// address in brackets, and path. ok is false when a bracket is left open.
func splitSCP(text string) (login, hostport, path string, ok bool) {
	before, after, _ := strings.Cut(text, ":")
	open := 0
	if i := strings.Index(before, "@["); i >= 0 {
		open = i + 1
	}
	if text[open] != '[' {
		at := strings.LastIndexByte(before, '@')
		return before[:at+1], before[at+1:], after, true
	}
	inside, path, ok := strings.Cut(text[open+1:], "]:")
	if open == 0 {
		at := strings.LastIndexByte(inside, '@')
		login, inside = inside[:at+1], inside[at+1:]
	} else {
		login = text[:open]
	}
	if _, err := netip.ParseAddr(inside); err == nil && strings.Contains(inside, ":") {
		// Nothing is decoded in this form, so the zone is not either.
		inside = "[" + strings.Replace(inside, "%", "%25", 1) + "]"
	}
	return login, inside, path, ok
}

// mixedForms judges the host part of an ssh:// URL with a user for the usual
// mistake of a colon where a slash belongs, "ssh://git@host:group/repo.git",
// and names the two spellings that are right. Only behind the user git it is
// certain that nothing of it is a password.
func mixedForms(user, hostport, path string) *fault.Error {
	host, group, found := strings.Cut(hostport, ":")
	if !found || !isName(host) || !isName(group) || strings.Trim(group, "0123456789") == "" {
		return nil
	}
	path = group + path
	if user != "git" {
		user, host, path = "<user>", "<host>", "<path>"
	}
	return refuse("what follows the colon after the host is no port",
		"Write ssh://"+user+"@"+host+"/"+path+", or "+user+"@"+host+":"+path+" without the scheme.")
}
