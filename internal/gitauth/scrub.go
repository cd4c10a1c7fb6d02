package gitauth

import (
	"cmp"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"html"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// login is a user name and its secret, or a secret alone.
type login struct{ user, secret string }

const masked = "***"

// shortSecret is the length in bytes below which a secret is likely to turn up
// inside innocent words.
const shortSecret = 4

// minKeyLine is the length in bytes from which a line of a PEM text is taken for
// key material.
const minKeyLine = 16

// Scrub returns text with every secret of a replaced by "***", in each form in
// which servers and libraries repeat them: raw, base64 (alone, as "user:secret"
// of a Basic header, and inside anything longer), hexadecimal, percent-encoded,
// JSON-, Go- and HTML-escaped. So is the beginning of one at the very end of text,
// which may have been cut there. A secret of fewer than four bytes is replaced
// only where it is a word of its own.
func (a *Auth) Scrub(text string) string {
	parts := a.parts()
	logins := slices.Clone(parts.logins)
	if parts.header != nil {
		logins = append(logins, parts.header.secrets()...)
	}
	return scrub(text, logins, parts.texts)
}

// ScrubLogin is Scrub for credentials that are no Auth, such as those of a
// proxy.
func ScrubLogin(text, user, secret string) string {
	return scrub(text, []login{{user, secret}}, nil)
}

// scrub hides the secrets of logins, and the lines of keys in PEM.
func scrub(text string, logins []login, pems []string) string {
	var long, short []string
	add := func(form string) {
		if len(form) >= shortSecret {
			long = append(long, form)
		} else if form != "" {
			short = append(short, form)
		}
	}
	for _, l := range logins {
		if l.secret == "" {
			continue
		}
		for _, form := range forms(l) {
			if len(l.secret) < shortSecret {
				short = append(short, form)
				continue
			}
			add(form)
		}
	}
	for _, pem := range pems {
		for line := range strings.Lines(pem) {
			if line = strings.TrimSpace(line); len(line) >= minKeyLine && !strings.HasPrefix(line, "-----") {
				add(line)
			}
		}
	}
	text = replaceCut(replaceAll(text, long), long)
	for _, word := range longestFirst(short) {
		text = replaceWord(text, word)
	}
	return text
}

// forms returns the spellings of a secret that are worth hiding, without
// duplicates.
func forms(l login) []string {
	out := []string{
		l.secret,
		url.QueryEscape(l.secret), url.PathEscape(l.secret), percentAll(l.secret),
		strings.TrimPrefix(url.UserPassword("", l.secret).String(), ":"),
		jsonEscape(l.secret, true), jsonEscape(l.secret, false),
		html.EscapeString(l.secret),
		goEscape(l.secret), percentEncode(l.secret, func(byte) bool { return false }),
		hex.EncodeToString([]byte(l.secret)), strings.ToUpper(hex.EncodeToString([]byte(l.secret))),
	}
	for _, s := range out {
		out = append(out, lowerPercent(s))
	}
	for _, s := range []string{l.secret, l.user + ":" + l.secret} {
		for _, enc := range []*base64.Encoding{base64.StdEncoding, base64.URLEncoding, base64.RawStdEncoding, base64.RawURLEncoding} {
			out = append(out, enc.EncodeToString([]byte(s)))
		}
	}
	out = append(out, insideBase64(base64.RawStdEncoding, l.secret)...)
	out = append(out, insideBase64(base64.RawURLEncoding, l.secret)...)
	return longestFirst(out)
}

// minInside is the length from which a run of base64 digits is taken for a part
// of a secret.
const minInside = 8

// insideBase64 returns what stands for s in the encoding of something longer
// that holds it. It depends on how many bytes come before, modulo 3; the digits
// at both ends depend on the neighbours and are left out.
func insideBase64(enc *base64.Encoding, s string) []string {
	var out []string
	for before := range 3 {
		whole := enc.EncodeToString([]byte(strings.Repeat("x", before) + s))
		begin, end := (before*8+5)/6, (before+len(s))*8/6
		if end-begin >= minInside {
			out = append(out, whole[begin:end])
		}
	}
	return out
}

// goEscape writes s as %q does.
func goEscape(s string) string {
	quoted := strconv.Quote(s)
	return quoted[1 : len(quoted)-1]
}

// percentAll encodes every byte but letters and digits.
func percentAll(s string) string { return percentEncode(s, isWordByte) }

// percentEncode writes every byte but those to keep as a percent escape.
func percentEncode(s string, keep func(byte) bool) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(s) {
		if keep(s[i]) {
			b.WriteByte(s[i])
		} else {
			b.WriteString(string([]byte{'%', digits[s[i]>>4], digits[s[i]&15]}))
		}
	}
	return b.String()
}

// lowerPercent writes percent escapes with lower-case digits.
func lowerPercent(s string) string {
	b := []byte(s)
	for i := 0; i+2 < len(b); i++ {
		if b[i] == '%' {
			copy(b[i+1:], strings.ToLower(string(b[i+1:i+3])))
		}
	}
	return string(b)
}

func jsonEscape(s string, escapeHTML bool) string {
	var b strings.Builder
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(escapeHTML)
	if enc.Encode(s) != nil {
		return s // cannot happen for a string
	}
	return strings.TrimSuffix(strings.TrimPrefix(strings.TrimSuffix(b.String(), "\n"), `"`), `"`)
}

// longestFirst sorts and removes duplicates and empty strings, so that a form
// that is part of another does not leave the rest of it behind.
func longestFirst(list []string) []string {
	list = slices.DeleteFunc(slices.Clone(list), func(s string) bool { return s == "" })
	slices.SortFunc(list, func(a, b string) int { return cmp.Or(cmp.Compare(len(b), len(a)), cmp.Compare(a, b)) })
	return slices.Compact(list)
}

func replaceAll(text string, list []string) string {
	var pairs []string
	for _, s := range longestFirst(list) {
		pairs = append(pairs, s, masked)
	}
	return strings.NewReplacer(pairs...).Replace(text)
}

// replaceCut replaces the beginning of a secret at the end of text: what strangers
// say is read up to a bound, which may lie within one.
func replaceCut(text string, list []string) string {
	for _, s := range longestFirst(list) {
		for n := min(len(s), len(text)); n >= shortSecret; n-- {
			if strings.HasSuffix(text, s[:n]) {
				return text[:len(text)-n] + masked
			}
		}
	}
	return text
}

// replaceWord replaces word where no letter or digit touches it.
func replaceWord(text, word string) string {
	var b strings.Builder
	for {
		i := strings.Index(text, word)
		if i < 0 {
			b.WriteString(text)
			return b.String()
		}
		end := i + len(word)
		if (i > 0 && isWordByte(text[i-1])) || (end < len(text) && isWordByte(text[end])) {
			b.WriteString(text[:i+1])
			text = text[i+1:]
			continue
		}
		b.WriteString(text[:i] + masked)
		text = text[end:]
	}
}

func isWordByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'A' && c <= 'Z' || c >= 'a' && c <= 'z'
}
