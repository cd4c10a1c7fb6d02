package gitauth

import (
	"crypto/hmac"
	"crypto/sha1" //nolint:gosec // known_hosts hashes host names with it, see sshd(8)
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"
)

// The markers of a known_hosts line, see "SSH_KNOWN_HOSTS FILE FORMAT" in sshd(8).
const (
	markerNone      = ""
	markerAuthority = "@cert-authority"
	markerRevoked   = "@revoked"
)

// HostKeys is a parsed known_hosts text. It follows OpenSSH, where Go's own
// knownhosts package does not: a name is compared as text, so that "*" matches
// on every port; a port other than 22 falls back to the line without a port;
// of several keys of one type any is good.
type HostKeys struct {
	lines []hostLine
	// where names the text in errors, e.g. "known_hosts".
	where string
}

// hostLine is one line of known_hosts.
type hostLine struct {
	number   int // 1 is the first line
	marker   string
	patterns []string // lower case, "!" kept; nil when the name is hashed
	salt     []byte   // of a hashed name
	hash     []byte
	key      ssh.PublicKey
	joined   bool // what follows the key looks like more entries
}

// parseKnownHosts reads the text of a known_hosts file. where names the text in
// errors. Comments and empty lines are skipped, CRLF and a byte order mark are
// forgiven. A line that is none of these and no entry is an error that gives its
// number and shows nothing of it. Entries with a key type that Go does not know
// are skipped, as OpenSSH does.
func parseKnownHosts(where, text string) (*HostKeys, error) {
	h := &HostKeys{where: where}
	entries := 0
	for i, text := range strings.Split(normalize(text), "\n") {
		text = strings.TrimLeft(text, " \t")
		if text == "" || text[0] == '#' {
			continue
		}
		entries++
		line, err := parseHostLine(text)
		if err != nil {
			what, advice := hostLineDamage(text)
			if what == "" {
				what, advice = err.Error(), "A line is `host key-type base64-key`, as ssh-keyscan prints it; begin a comment with #."
			}
			return nil, &problem{key: where, what: fmt.Sprintf("line %d cannot be read: %s", i+1, what), advice: advice}
		}
		if line.key == nil {
			continue
		}
		line.number = i + 1
		h.lines = append(h.lines, line)
	}
	if len(h.lines) == 0 {
		what := "has no entry"
		if entries > 0 {
			what = "has only entries with key types that are not supported"
		}
		return nil, &problem{key: where, what: what,
			advice: "Add the host's line from ssh-keyscan, after comparing its fingerprint with what the host's operator publishes."}
	}
	return h, nil
}

func hostLineDamage(text string) (what, advice string) {
	switch {
	case looksLikePath(text):
		return pathWhat, pathAdvice
	case strings.Contains(text, "-----BEGIN"):
		return "it begins a PEM text", "Put a private key into identity."
	case strings.Contains(text, `\n`):
		return `line breaks are written as \n`, `Give the file as it is, with file(…), or turn the escapes back with replace(…, "\\n", "\n").`
	case !strings.ContainsAny(text, " \t"):
		return "it is one word (perhaps base64-encoded, as in the data of a Kubernetes Secret)", "Decode that with base64decode(…)."
	}
	return "", ""
}

// parseHostLine reads one entry. The key of the result is nil if its type is not
// known here.
func parseHostLine(text string) (hostLine, error) {
	// Only blanks and tabs separate fields, as for OpenSSH.
	fields := strings.FieldsFunc(text, func(r rune) bool { return r == ' ' || r == '\t' })
	var line hostLine
	if strings.HasPrefix(fields[0], "@") {
		line.marker = fields[0]
		if line.marker != markerAuthority && line.marker != markerRevoked {
			return line, errors.New("unknown marker")
		}
		fields = fields[1:]
	}
	if len(fields) >= 3 && isProtocol1(fields) {
		return line, nil
	}
	if len(fields) < 3 {
		return line, errors.New("it has too few fields")
	}
	if err := line.setHosts(fields[0]); err != nil {
		return line, err
	}
	key, err := parseHostKey(fields[1], fields[2])
	if err != nil {
		return line, err
	}
	line.key = key
	line.joined = hasHostKey(fields[3:])
	return line, nil
}

// isProtocol1 tells a line of the long dead ssh protocol 1: bits, exponent and
// modulus in decimal.
func isProtocol1(fields []string) bool {
	digits := func(s string) bool { return strings.Trim(s, "0123456789") == "" }
	return len(fields) >= 4 && digits(fields[1]) && digits(fields[2]) && digits(fields[3])
}

func (l *hostLine) setHosts(hosts string) error {
	if !strings.HasPrefix(hosts, "|") {
		l.patterns = []string{}
		for pattern := range strings.SplitSeq(strings.ToLower(hosts), ",") {
			if pattern != "" {
				l.patterns = append(l.patterns, pattern)
			}
		}
		return nil
	}
	parts := strings.Split(hosts, "|")
	if len(parts) != 4 || parts[1] != "1" {
		return errors.New("its hashed host name is damaged")
	}
	salt, errSalt := base64.StdEncoding.DecodeString(parts[2])
	hash, errHash := base64.StdEncoding.DecodeString(parts[3])
	if errSalt != nil || errHash != nil || len(hash) != sha1.Size {
		return errors.New("its hashed host name is damaged")
	}
	l.salt, l.hash = salt, hash
	return nil
}

// parseHostKey reads a key and checks it against the type that is written beside
// it. It returns nil without an error for a sound key of a type unknown to Go.
func parseHostKey(keyType, blob string) (ssh.PublicKey, error) {
	raw, err := base64.StdEncoding.DecodeString(blob)
	if err != nil {
		// OpenSSH reads unpadded base64 too.
		if raw, err = base64.RawStdEncoding.DecodeString(blob); err != nil {
			return nil, errors.New("its key is not base64")
		}
	}
	if len(raw) < 4 || uint64(binary.BigEndian.Uint32(raw)) > uint64(len(raw)-4) {
		return nil, errors.New("its key is damaged")
	}
	if found := string(raw[4 : 4+binary.BigEndian.Uint32(raw)]); found != keyType {
		return nil, errors.New("its key is not of the type that is written beside it")
	}
	key, err := ssh.ParsePublicKey(raw)
	if err != nil {
		if slices.Contains(ssh.SupportedAlgorithms().PublicKeyAuths, keyType) || keyType == ssh.KeyAlgoRSA {
			return nil, errors.New("its key is damaged")
		}
		return nil, nil
	}
	return key, nil
}

// hasHostKey reports whether a line's comment holds another key: what remains of
// lines that were joined with blanks.
func hasHostKey(fields []string) bool {
	for i := 1; i < len(fields); i++ {
		if key, err := parseHostKey(fields[i-1], fields[i]); err == nil && key != nil {
			return true
		}
	}
	return false
}

// matches reports whether the line is about name, which is a host or "[host]:port"
// in lower case.
func (l *hostLine) matches(name string) bool {
	if l.patterns == nil {
		mac := hmac.New(sha1.New, l.salt)
		mac.Write([]byte(name))
		return hmac.Equal(mac.Sum(nil), l.hash)
	}
	matched := false
	for _, pattern := range l.patterns {
		if negated, ok := strings.CutPrefix(pattern, "!"); ok {
			if wildcard(negated, name) {
				return false
			}
		} else if wildcard(pattern, name) {
			matched = true
		}
	}
	return matched
}

// wildcard matches text against a pattern of which * stands for any run of bytes
// and ? for one, as OpenSSH's match_pattern does. Its time is bounded by the
// product of the lengths.
func wildcard(pattern, text string) bool {
	p, t := 0, 0
	star, from := -1, 0
	for t < len(text) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, from = p, t
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == text[t]):
			p++
			t++
		case star >= 0:
			from++
			p, t = star+1, from
		default:
			return false
		}
	}
	return strings.Trim(pattern[p:], "*") == ""
}

// hostNames returns the names under which known_hosts may list addr (host:port):
// the one for exactly this port first, then for a port other than 22 the plain
// host, which OpenSSH falls back to.
func hostNames(addr string) []string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return []string{strings.ToLower(addr)}
	}
	host = strings.ToLower(host)
	if port == "22" {
		return []string{host}
	}
	return []string{"[" + host + "]:" + port, host}
}
