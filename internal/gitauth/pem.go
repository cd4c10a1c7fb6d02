package gitauth

import (
	"encoding/pem"
	"regexp"
	"strings"
)

const byteOrderMark = "\ufeff"

// normalize undoes what editors and transports do to a text of lines without
// changing its meaning: a byte order mark, CRLF, blanks at the ends of lines, a
// missing final line break. Only text formats that give no meaning to these may
// be normalized.
func normalize(text string) string {
	text = strings.TrimPrefix(text, byteOrderMark)
	text = strings.NewReplacer("\r\n", "\n", "\r", "\n").Replace(text)
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		lines[i] = strings.TrimRight(line, " \t")
	}
	return strings.TrimRight(strings.Join(lines, "\n"), "\n") + "\n"
}

// pemDamage says what has happened to PEM text that cannot be read, with what to
// do about it. text is normalized. Both results are "" when nothing of the known
// kinds has.
func pemDamage(text string) (what, advice string) {
	body := strings.TrimSpace(text)
	switch {
	case looksLikePath(body):
		return pathWhat, pathAdvice
	case strings.HasPrefix(body, "LS0tLS1CRUdJTi"): // base64 of "-----BEGIN"
		return "looks base64-encoded, as in the data of a Kubernetes Secret", "Decode it with base64decode(…)."
	case !strings.Contains(body, "-----BEGIN "):
		return "", ""
	case strings.Contains(body, `\n`):
		return `line breaks are missing: they are written as \n`, `Give the file as it is, with file(…), or turn the escapes back with replace(…, "\\n", "\n").`
	case !strings.Contains(body, "\n"):
		return "line breaks are missing, all of it is on one line", "Give the file as it is, with file(…) or a heredoc."
	case strings.Contains("\n"+text, "\n ") || strings.Contains("\n"+text, "\n\t"):
		return "lines are indented", "Use an indented heredoc (<<-EOT) or file(…)."
	case !strings.Contains(body, "-----END "):
		return "the end is missing", "Give the whole file, up to and including its END line."
	}
	return "", ""
}

const (
	pathWhat   = "it looks like the path of a file, not like what is in it"
	pathAdvice = `Give the content of the file: file("…").`
)

// pathForm begins the paths that people write. "/" may also begin base64 text,
// so the value is never shown.
var pathForm = regexp.MustCompile(`^(/|~/|\.\.?/|[A-Za-z]:[\\/])`)

// looksLikePath tells whether trimmed text is one line that begins as a path.
func looksLikePath(text string) bool {
	return pathForm.MatchString(text) && !strings.ContainsAny(text, "\r\n") && !strings.Contains(text, "-----BEGIN")
}

// pemBlocks returns the PEM blocks of normalized text, in order.
func pemBlocks(text string) []*pem.Block {
	var blocks []*pem.Block
	rest := []byte(text)
	for {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			return blocks
		}
		blocks = append(blocks, block)
	}
}
