// Package giturl turns the ways in which people write a git remote into one
// domain type, Remote, and credentials prefixes into Prefix. It does no I/O.
//
// It reads a URL as git's connect.c does (git-fetch(1), "GIT URLS"), with one
// difference: what git would take although it is dangerous or surely a mistake
// is refused with words that say what to write instead. So a Remote holds no
// secret, and no error of this package quotes user information, a query or a
// fragment.
package giturl

import (
	"net"
	"net/url"
	"strconv"
	"strings"
)

// Scheme is a way to reach a remote.
type Scheme string

// The schemes that can be read. The scp form and git+ssh:// are SSH.
const (
	HTTPS Scheme = "https"
	HTTP  Scheme = "http"
	SSH   Scheme = "ssh"
	Git   Scheme = "git"
	File  Scheme = "file"
)

// defaultPorts is what Port 0 stands for. File has no port.
var defaultPorts = map[Scheme]int{HTTPS: 443, HTTP: 80, SSH: 22, Git: 9418}

// Remote is a parsed repository URL. It holds no secret.
type Remote struct {
	Scheme Scheme
	// User is the decoded user name, "" if the URL has none; no default is
	// filled in here.
	User string
	// Host is lower-case ASCII (a name with other letters is in its punycode
	// form), an IPv6 address in its short form without brackets and with its
	// zone; "" for file.
	Host string
	// Port is 1 to 65535, or 0 for the scheme's default.
	Port int
	// Path is what is sent to the server. One trailing slash is dropped.
	//   - https, http: the percent-encoded path, "/acme/My%20App.git".
	//   - ssh, git: the argument of git-upload-pack: decoded where the URL has
	//     a scheme, verbatim in the scp form: "/acme/app.git", "acme/app.git",
	//     "~u/app.git".
	//   - file: a path of the file system, with slashes.
	Path string

	text string // as the user wrote it
}

// String returns the URL as the user wrote it.
func (r Remote) String() string { return r.text }

// Canonical returns the identity of the remote: lower-case scheme and host, no
// default port, no trailing slash, the user for ssh only. It parses back to a
// Remote that differs at most in User (not part of an http identity) and
// String.
//
// An ssh repository argument that starts at the root or at a home directory is
// written "ssh://git@host/g/r.git", any other in git's scp form,
// "git@host:g/r.git" or "[git@host:2222]:g/r.git": to a plain SSH server
// "g/r.git" and "/g/r.git" are two directories.
func (r Remote) Canonical() string {
	path := r.Path
	if strings.HasSuffix(path, "/") {
		path += "/" // the one that parsing will drop
	}
	root := string(r.Scheme) + "://"
	switch r.Scheme {
	case File:
		if !strings.HasPrefix(path, "/") {
			root += "/" // a Windows drive
		}
		return root + escapePath(path)
	case HTTPS, HTTP:
		return root + r.authority(urlZone) + path // it is encoded already
	}
	login := ""
	if r.User != "" {
		login = r.User + "@"
		root += escapeUser(r.User) + "@"
	}
	switch {
	case strings.HasPrefix(path, "/"):
		return root + r.authority(urlZone) + escapePath(path)
	case strings.HasPrefix(path, "~"):
		return root + r.authority(urlZone) + "/" + escapePath(path)
	case r.Port != 0:
		return "[" + login + r.authority(plainZone) + "]:" + path
	default:
		return login + r.authority(plainZone) + ":" + path
	}
}

// What sets off the zone of an IPv6 address: in a URL (RFC 6874), and where
// nothing is decoded.
const (
	urlZone   = "%25"
	plainZone = "%"
)

// authority returns the host, an IPv6 address in brackets, with the port if it
// is not the default one.
func (r Remote) authority(zone string) string {
	host := r.Host
	if strings.Contains(host, ":") {
		host = "[" + strings.Replace(host, "%", zone, 1) + "]"
	}
	if r.Port == 0 {
		return host
	}
	return host + ":" + strconv.Itoa(r.Port)
}

// Address returns "host:port" to dial, an IPv6 address in brackets; "" for
// file.
func (r Remote) Address() string {
	if r.Scheme == File {
		return ""
	}
	port := r.Port
	if port == 0 {
		port = defaultPorts[r.Scheme]
	}
	return net.JoinHostPort(r.Host, strconv.Itoa(port))
}

// Origin returns scheme, host and port, the port always written:
// "https://git.example.com:443"; "file://" for file. It names no user.
func (r Remote) Origin() string { return string(r.Scheme) + "://" + r.Address() }

// RepoArg returns what git-upload-pack is asked for: Path, for ssh, git and
// file.
func (r Remote) RepoArg() string { return r.Path }

// HTTPURL returns the URL of an http or https remote with suffix, plain text
// such as "/info/refs", put to its path. The path's encoding is kept to the
// letter; the user is left out.
func (r Remote) HTTPURL(suffix string) *url.URL {
	path := r.Path + suffix
	decoded, err := url.PathUnescape(path)
	if err != nil {
		decoded = path // not for a Remote made by Parse
	}
	return &url.URL{Scheme: string(r.Scheme), Host: r.authority(plainZone), Path: decoded, RawPath: path}
}
