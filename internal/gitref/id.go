package gitref

import "strings"

// IDLen returns the number of hex digits of an object id, 40 for "sha1" and 64
// for "sha256"; 0 for any other object format (gitprotocol-v2(5),
// object-format).
func IDLen(objectFormat string) int {
	switch objectFormat {
	case "sha1":
		return 40
	case "sha256":
		return 64
	}
	return 0
}

// IsID reports whether s is an object id as git writes it: 40 or 64 lower-case
// hex digits.
func IsID(s string) bool {
	return (len(s) == 40 || len(s) == 64) && strings.Trim(s, "0123456789abcdef") == ""
}

// LooksAbbreviated reports whether a person would take s for an abbreviated
// object id: 7 (git's own shortest, core.abbrev) to 39 hex digits in either
// case, with a letter among them, for a number is rather a date or a build. A
// ref may be called so too.
func LooksAbbreviated(s string) bool {
	const decimal = "0123456789"
	return len(s) >= 7 && len(s) < 40 && strings.Trim(s, decimal+"abcdefABCDEF") == "" && strings.Trim(s, decimal) != ""
}

// LooksLikeID reports whether a person would take s for an object id: IsID in
// either case.
func LooksLikeID(s string) bool { return IsID(strings.ToLower(s)) }
