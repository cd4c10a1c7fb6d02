package giturl

import (
	"net/netip"
	"strconv"
	"strings"

	"golang.org/x/net/idna"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// parseHostPort reads host, host:port, [ipv6] or [ipv6]:port. The port is 0
// for the scheme's default, however that is written.
func parseHostPort(scheme Scheme, text string) (host string, port int, fe *fault.Error) {
	var hostText, portText string
	if strings.HasPrefix(text, "[") {
		var closed bool
		hostText, portText, closed = strings.Cut(text[1:], "]")
		if !closed || portText != "" && portText[0] != ':' {
			return "", 0, refuse("the brackets of the host hold no IPv6 address, or are not closed", "Write an IPv6 host as [2001:db8::1], with :port behind it if need be.")
		}
		portText = strings.TrimPrefix(portText, ":")
		host, fe = parseIPv6(hostText)
	} else {
		hostText, portText, _ = strings.Cut(text, ":")
		host, fe = parseHost(hostText)
	}
	if fe != nil {
		return "", 0, fe
	}
	port, fe = parsePort(scheme, portText)
	return host, port, fe
}

// parsePort reads a decimal port. An empty one is the default, as for git and
// RFC 3986.
func parsePort(scheme Scheme, text string) (int, *fault.Error) {
	if text == "" {
		return 0, nil
	}
	port, err := strconv.ParseUint(text, 10, 16)
	if err != nil || port == 0 {
		// It may well be a password, so it is not quoted.
		return 0, refuse("cannot parse the URL: what follows the colon after the host is no port (1 to 65535)",
			"Write scheme://host:port/path, or user@host:path without a scheme. If it is a password, remove it and use the provider's credentials.")
	}
	if int(port) == defaultPorts[scheme] {
		return 0, nil
	}
	return int(port), nil
}

// parseIPv6 reads an address as it stands between the brackets of a URL, a
// zone set off by %25 (RFC 6874).
func parseIPv6(text string) (string, *fault.Error) {
	address, zone, zoned := strings.Cut(text, "%25")
	ip, err := netip.ParseAddr(address)
	if err != nil || !ip.Is6() || ip.Zone() != "" || zoned && !isName(zone) {
		return "", refuse("the brackets of the host hold no IPv6 address", "Write an IPv6 host as [2001:db8::1]; a zone is set off by %25, as in [fe80::1%25eth0].")
	}
	return ip.WithZone(zone).String(), nil
}

// parseHost reads a host name or an IPv4 address. A name with letters beyond
// ASCII is converted to punycode, as curl does for git, so that every protocol
// and every spelling ends in the same host.
func parseHost(text string) (string, *fault.Error) {
	if text == "" {
		return "", refuse("the URL names no host", "Write scheme://host/path.")
	}
	if strings.HasPrefix(text, "-") {
		// git refuses it too (CVE-2017-1000117).
		return "", refuse("the host starts with '-'", "Check the URL; such a host could be taken for an option of a program.")
	}
	host := strings.ToLower(text)
	if !isASCII(text) {
		var err error
		if host, err = idna.Lookup.ToASCII(text); err != nil {
			return "", refuse("the host is no valid internationalised name", "Write it in its punycode form (xn--…).")
		}
	}
	if len(host) > 253 || !isName(host) || strings.HasPrefix(host, ".") || strings.Contains(host, "..") {
		return "", refuse("cannot parse the URL: the host may only have letters, digits, '-', '.' and '_'",
			"Write scheme://host/path. If a user or a password is in front of it, remove that and use the provider's credentials.")
	}
	return host, nil
}

// isName reports whether s is made of the characters of host names and zones.
func isName(s string) bool {
	return s != "" && strings.Trim(s, alphanumeric+"-._") == ""
}

func isASCII(s string) bool {
	return !strings.ContainsFunc(s, func(r rune) bool { return r > 127 })
}
