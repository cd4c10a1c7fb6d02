package gitref

import (
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// checkLegal judges name by the rules of git check-ref-format(1), a short name
// as the end of a full one. The order puts the mistakes that people make
// first, so that each has words of its own.
func checkLegal(name string) *fault.Error {
	switch {
	case name == "":
		return refuse("the name is empty", `Write the name of a branch or a tag, or ref = "HEAD" for the remote's default branch.`)
	case strings.Trim(name, " \t\r\n") != name:
		return refuse(quote(name)+" starts or ends with white space", "Remove it, or use trimspace().")
	case strings.HasSuffix(name, "^{}"), strings.HasSuffix(name, "^{commit}"):
		return refuse(quote(name)+" asks for the peeled id", "Write the name alone: commit is always the peeled id.")
	case strings.ContainsAny(name, "*?["):
		return refuse(quote(name)+" holds a wildcard ('*', '?' or '['), which no ref name can hold",
			"Write the exact name. To choose from many refs use semver with tag_filter, or the pattern of data gitpin_refs.")
	case strings.ContainsAny(name, "~^:"), strings.Contains(name, ".."), strings.Contains(name, "@{"):
		return refuse(quote(name)+" is a revision expression ('~', '^', ':', '..', '@{'), not a ref name",
			"Write the name of a branch or a tag; history is not read here.")
	case strings.ContainsFunc(name, forbiddenRune):
		return refuse(quote(name)+" holds a space, a backslash or a control character, which no ref name can hold", "Write the exact name.")
	case strings.HasPrefix(name, "/"), strings.HasSuffix(name, "/"), strings.Contains(name, "//"):
		return refuse(quote(name)+" starts or ends with a slash, or has two in a row", "Write the name with single slashes inside only.")
	case strings.HasSuffix(name, "."):
		return refuse(quote(name)+" ends with a dot, which no ref name can", "Write the exact name.")
	}
	for part := range strings.SplitSeq(name, "/") {
		if strings.HasPrefix(part, ".") || strings.HasSuffix(part, ".lock") {
			return refuse(quote(name)+" has a part that starts with a dot or ends with .lock, which no ref name can", "Write the exact name.")
		}
	}
	return nil
}

func forbiddenRune(r rune) bool { return r <= ' ' || r == 0x7f || r == '\\' }
