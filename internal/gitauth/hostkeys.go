package gitauth

import (
	"bytes"
	"fmt"
	"net"
	"slices"
	"strings"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// hostKeyTypes lists the types of host keys that may be offered, in OpenSSH's
// order of preference, each with the signature algorithms to ask for. SHA-1
// ("ssh-rsa" as an algorithm) is never asked for: a server's RSA key also signs
// with SHA-2 (RFC 8332).
var hostKeyTypes = []struct {
	keyType     string
	algorithms  []string
	certificate []string
}{
	{ssh.KeyAlgoED25519, []string{ssh.KeyAlgoED25519}, []string{ssh.CertAlgoED25519v01}},
	{ssh.KeyAlgoECDSA256, []string{ssh.KeyAlgoECDSA256}, []string{ssh.CertAlgoECDSA256v01}},
	{ssh.KeyAlgoECDSA384, []string{ssh.KeyAlgoECDSA384}, []string{ssh.CertAlgoECDSA384v01}},
	{ssh.KeyAlgoECDSA521, []string{ssh.KeyAlgoECDSA521}, []string{ssh.CertAlgoECDSA521v01}},
	{ssh.KeyAlgoRSA, []string{ssh.KeyAlgoRSASHA512, ssh.KeyAlgoRSASHA256}, []string{ssh.CertAlgoRSASHA512v01, ssh.CertAlgoRSASHA256v01}},
}

// algorithms returns the host key algorithms to offer to addr (host:port), best
// first: of the types that are listed for it, and of certificates of any type
// where an authority is listed for it (an authority may certify keys of other
// types than its own). It returns nil for a host that is not listed; the key
// that such a host shows then goes into the error.
func (h *HostKeys) algorithms(addr string) []string {
	var certs, plain []string
	authority := len(h.authorities(addr)) > 0
	listed, _ := h.listed(addr)
	for _, t := range hostKeyTypes {
		if authority {
			certs = append(certs, t.certificate...)
		}
		if slices.ContainsFunc(listed, func(l hostLine) bool { return l.key.Type() == t.keyType }) {
			plain = append(plain, t.algorithms...)
		}
	}
	return append(certs, plain...)
}

// listed returns the lines that give a plain key for addr, and the name they give
// it under. The line for the plain host counts only if none is for this port.
func (h *HostKeys) listed(addr string) ([]hostLine, string) {
	for _, name := range hostNames(addr) {
		if lines := h.lookup(markerNone, name); len(lines) > 0 {
			return lines, name
		}
	}
	return nil, ""
}

// authorities returns the lines that give a certificate authority for addr.
func (h *HostKeys) authorities(addr string) []hostLine {
	var lines []hostLine
	for _, name := range hostNames(addr) {
		lines = append(lines, h.lookup(markerAuthority, name)...)
	}
	return lines
}

func (h *HostKeys) lookup(marker, name string) []hostLine {
	var found []hostLine
	for _, line := range h.lines {
		if line.marker == marker && line.matches(name) {
			found = append(found, line)
		}
	}
	return found
}

// check accepts or refuses the key that addr (host:port) has shown. Errors are
// *fault.Error of kind HostKeyUnknown, HostKeyMismatch or HostKeyRevoked.
func (h *HostKeys) check(addr string, key ssh.PublicKey) error {
	if line, ok := h.revoked(key); ok {
		return h.errRevoked(addr, line)
	}
	certProblem := ""
	if cert, ok := key.(*ssh.Certificate); ok {
		certProblem = h.checkCertificate(addr, cert)
		if certProblem == "" {
			return nil
		}
		// OpenSSH then looks for the certified key as if it had come plain.
		key = cert.Key
	}
	lines, name := h.listed(addr)
	if containsKey(lines, key) {
		return nil
	}
	if len(lines) > 0 && name == hostNames(addr)[0] {
		return h.errMismatch(addr, key, lines, certProblem)
	}
	return h.errUnknown(addr, key, lines, certProblem)
}

func containsKey(lines []hostLine, key ssh.PublicKey) bool {
	return slices.ContainsFunc(lines, func(l hostLine) bool { return equalKeys(l.key, key) })
}

func equalKeys(a, b ssh.PublicKey) bool { return bytes.Equal(a.Marshal(), b.Marshal()) }

// revoked finds a @revoked line for key, for the key inside a certificate or for
// the authority that signed it. Whatever host the line names: a key that was
// revoked is in somebody else's hands. (OpenSSH looks at the line's host; such
// lines are written with "*".)
func (h *HostKeys) revoked(key ssh.PublicKey) (hostLine, bool) {
	keys := []ssh.PublicKey{key}
	if cert, ok := key.(*ssh.Certificate); ok {
		keys = []ssh.PublicKey{cert.Key, cert.SignatureKey}
	}
	for _, line := range h.lines {
		if line.marker == markerRevoked && slices.ContainsFunc(keys, func(k ssh.PublicKey) bool { return equalKeys(k, line.key) }) {
			return line, true
		}
	}
	return hostLine{}, false
}

// checkCertificate returns "" for a good host certificate, else what is wrong
// with it in one clause.
func (h *HostKeys) checkCertificate(addr string, cert *ssh.Certificate) string {
	if cert.CertType != ssh.HostCert {
		return "its certificate is not a host certificate"
	}
	if !containsKey(h.authorities(addr), cert.SignatureKey) {
		return "no @cert-authority line for it has the authority that signed its certificate, " + fingerprint(cert.SignatureKey)
	}
	if cert.Signature.Format == ssh.KeyAlgoRSA {
		// x/crypto would take it; OpenSSH does not since 8.2 (CASignatureAlgorithms).
		return "its authority has signed the certificate with SHA-1 (ssh-rsa), which is not considered safe any more"
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		host = addr
	}
	var checker ssh.CertChecker
	if err := checker.CheckCert(host, cert); err != nil {
		return "its certificate is not good: " + fault.Clean(strings.TrimPrefix(err.Error(), "ssh: "))
	}
	return ""
}

// fingerprint returns type and fingerprint of a key as ssh-keygen -l shows them.
func fingerprint(key ssh.PublicKey) string {
	return key.Type() + " " + ssh.FingerprintSHA256(key)
}

func hostKeyError(kind fault.Kind, happened, advice string) *fault.Error {
	return &fault.Error{Kind: kind, Phase: fault.PhaseSSH, Happened: happened, Advice: advice, HostWide: true}
}

func (h *HostKeys) errRevoked(addr string, line hostLine) error {
	return hostKeyError(fault.HostKeyRevoked,
		fmt.Sprintf("%s showed a host key that is revoked (%s, line %d of %s)", hostNames(addr)[0], fingerprint(line.key), line.number, h.where),
		"Do not connect: somebody else may hold this key. Ask the host's operator for its new key.")
}

func (h *HostKeys) errMismatch(addr string, key ssh.PublicKey, lines []hostLine, certProblem string) error {
	var have []string
	joined := 0
	for _, line := range lines {
		have = append(have, fmt.Sprintf("%s (line %d)", fingerprint(line.key), line.number))
		if line.joined {
			joined = line.number
		}
	}
	happened := fmt.Sprintf("%s showed the host key %s, but %s has %s", hostNames(addr)[0], fingerprint(key), h.where, shorten(have))
	if certProblem != "" {
		happened += "; " + certProblem
	}
	return hostKeyError(fault.HostKeyMismatch, happened+joinedHint(joined),
		"Either the host has a new key or somebody is between you and it. Compare the fingerprint with what the host's operator publishes; only if it is the same, replace the line.")
}

func joinedHint(line int) string {
	if line == 0 {
		return ""
	}
	return fmt.Sprintf("; line %d seems to hold several entries in one, of which only the first counts", line)
}

func (h *HostKeys) errUnknown(addr string, key ssh.PublicKey, others []hostLine, certProblem string) error {
	names := hostNames(addr)
	happened := fmt.Sprintf("%s has no entry for %s", h.where, names[0])
	joined := 0
	switch {
	case len(others) > 0:
		happened += fmt.Sprintf(", and another key for %s (%s, line %d)", names[1], fingerprint(others[0].key), others[0].number)
	default:
		happened += h.near(addr)
	}
	for _, line := range h.lines {
		if line.joined {
			joined = line.number
		}
	}
	happened += fmt.Sprintf("; the host showed %s", fingerprint(key))
	if certProblem != "" {
		happened += ", and " + certProblem
	} else if len(h.authorities(addr)) > 0 {
		happened += ", without a certificate of the authority that is listed for it"
	}
	return hostKeyError(fault.HostKeyUnknown, happened+joinedHint(joined), addAdvice(addr))
}

func addAdvice(addr string) string {
	host, port, err := net.SplitHostPort(addr)
	if err != nil {
		return ""
	}
	keyscan := "ssh-keyscan " + host
	if port != "22" {
		keyscan = "ssh-keyscan -p " + port + " " + host
	}
	return fmt.Sprintf("Compare the fingerprint with what the host's operator publishes, then add the host's lines from `%s` to known_hosts.", keyscan)
}

// near says which hosts known_hosts does list, and points at a line that means
// addr but spells it in a way that does not count.
func (h *HostKeys) near(addr string) string {
	var names []string
	hashed := 0
	for _, line := range h.lines {
		if line.marker == markerRevoked {
			continue
		}
		if line.patterns == nil {
			hashed++
		}
		for _, pattern := range line.patterns {
			if pattern == strings.ToLower(addr) {
				return fmt.Sprintf(" (line %d spells it %s, which ssh does not read as a port)", line.number, addr)
			}
			if pattern = fault.Clean(pattern); !slices.Contains(names, pattern) {
				names = append(names, pattern)
			}
		}
	}
	if hashed > 0 {
		names = append(names, fmt.Sprintf("%d hashed names", hashed))
	}
	if len(names) == 0 {
		return ""
	}
	return "; it has entries for " + shorten(names)
}

// shorten joins at most five items.
func shorten(items []string) string {
	const most = 5
	if len(items) <= most {
		return strings.Join(items, ", ")
	}
	return fmt.Sprintf("%s and %d more", strings.Join(items[:most], ", "), len(items)-most)
}

// noneInCommon is the error for a server that has no host key of a listed type.
func (h *HostKeys) noneInCommon(addr string, offered []string) error {
	lines, _ := h.listed(addr)
	var have []string
	for _, line := range lines {
		if !slices.Contains(have, line.key.Type()) {
			have = append(have, line.key.Type())
		}
	}
	if len(h.authorities(addr)) > 0 {
		have = append(have, "certificates of an authority")
	}
	theirs := fault.Clean(strings.Join(offered, ", "))
	if len(have) == 0 {
		return hostKeyError(fault.Protocol, fmt.Sprintf("%s offers only host keys that are not considered safe any more: %s", hostNames(addr)[0], theirs),
			"Ask the host's operator for an ed25519, ecdsa or rsa-sha2 host key.")
	}
	return hostKeyError(fault.HostKeyUnknown,
		fmt.Sprintf("%s has only %s for %s, and the host offers %s", h.where, shorten(have), hostNames(addr)[0], theirs),
		addAdvice(addr))
}
