package giturl

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// maxLength bounds a URL, in bytes, as written and in its canonical form.
const maxLength = 4096

var (
	// schemeForm is a URL with a scheme (RFC 3986, section 3.1).
	schemeForm = regexp.MustCompile(`^([A-Za-z][A-Za-z0-9+.-]*)://`)
	// helperForm is git's "<transport>::<address>" (gitremote-helpers(7)),
	// with which a URL may name a program to run.
	helperForm = regexp.MustCompile(`^[A-Za-z0-9+.-]*::`)
	// driveForm is an absolute path on Windows. It means a file on every
	// system, so that the same configuration means the same everywhere.
	driveForm = regexp.MustCompile(`^[A-Za-z]:[\\/]`)
)

// Parse reads a repository URL: https://, http://, ssh:// (git+ssh://,
// ssh+git://), git://, file://, the scp form user@host:path, or an absolute
// path. The error is a *fault.Error of kind Input; its text holds no part of
// user information, a query or a fragment.
func Parse(text string) (Remote, error) {
	r, fe := parse(text, false)
	if fe != nil {
		return Remote{}, asked(fe, text)
	}
	return r, nil
}

// parse does the work of Parse. A prefix may have an empty path.
func parse(text string, prefix bool) (Remote, *fault.Error) {
	if fe := checkText(text); fe != nil {
		return Remote{}, fe
	}
	r, fe := parseForm(text, prefix)
	if fe != nil {
		return Remote{}, fe
	}
	r.text = text
	if len(r.Canonical()) > maxLength {
		return Remote{}, refuse("the URL is longer than 4096 bytes once it is encoded", "Check that it was not put together wrongly.")
	}
	return r, nil
}

// parseForm tells the forms apart, in git's order: url_is_local_not_ssh and
// parse_connect_url in connect.c.
func parseForm(text string, prefix bool) (Remote, *fault.Error) {
	if helperForm.MatchString(text) {
		return Remote{}, refuse("two colons after the first word call a git remote helper, which is not supported",
			`Write the plain URL: Terraform's "git::https://…" is "https://…" here.`)
	}
	if driveForm.MatchString(text) {
		return fileRemote(strings.ReplaceAll(text, `\`, "/"))
	}
	if m := schemeForm.FindStringSubmatch(text); m != nil {
		return parseURL(strings.ToLower(m[1]), text[len(m[0]):], prefix)
	}
	if strings.HasPrefix(text, "/") {
		return fileRemote(text)
	}
	colon, slash := strings.IndexByte(text, ':'), strings.IndexByte(text, '/')
	if colon < 0 || slash >= 0 && slash < colon {
		likely := withScheme(text, prefix)
		if prefix {
			return Remote{}, refuse("the url of the credentials is no URL",
				likely+"Write it with its scheme: https://host/path, ssh://user@host or user@host:path.")
		}
		return Remote{}, refuse("the url is neither a URL nor an absolute path",
			likely+"Write it with its scheme: https://host/path or ssh://user@host/path, or as user@host:path or an absolute path. A relative path would mean another "+
				`repository on another machine: write "${abspath(path.module)}/…".`)
	}
	return parseSCP(text, prefix)
}

// hostLike is a host name as people write it. A token with dots, such as a JSON
// Web Token, has capital letters or no such end.
var hostLike = regexp.MustCompile(`^([a-z0-9-]{1,63}\.)+[a-z]{2,24}$`)

// maxProposal bounds a URL that an error proposes, in bytes.
const maxProposal = 200

// withScheme proposes the https URL for text that lacks nothing but a scheme:
// it begins with what can only be a host, "git.example.com/acme/app". It
// returns "" for all else, above all for what may hold a user or a password.
func withScheme(text string, prefix bool) string {
	host, _, _ := strings.Cut(text, "/")
	if len(text) > maxProposal || strings.ContainsAny(text, "@?#%:*") || !hostLike.MatchString(host) {
		return ""
	}
	if _, fe := parseURL(string(HTTPS), text, prefix); fe != nil {
		return ""
	}
	return `If "` + host + `" is a host, write "https://` + text + `". `
}

// checkText refuses what no form may hold.
func checkText(text string) *fault.Error {
	switch {
	case text == "":
		return refuse("the URL is empty", "Write the URL of a repository, such as https://git.example.com/acme/app.git.")
	case len(text) > maxLength:
		return refuse("the URL is longer than 4096 bytes", "Check that it was not put together wrongly.")
	case !utf8.ValidString(text):
		return refuse("the URL is not valid UTF-8", "In a URL with a scheme, write other bytes percent-encoded.")
	case strings.TrimSpace(text) != text:
		return refuse("the URL starts or ends with white space", "Remove it, or use trimspace().")
	case strings.ContainsFunc(text, invisible):
		return refuse("the URL holds a line break, a tab or another character that cannot be seen", "Write it anew by hand; trimspace() removes those at the ends.")
	case tokenAnywhere.MatchString(text):
		return refuse("the URL holds what looks like an access token", adviceCredentials)
	}
	return nil
}

// invisible reports a character that a person cannot see or tell from a space.
func invisible(r rune) bool {
	return unicode.IsControl(r) || unicode.Is(unicode.Cf, r) || unicode.IsSpace(r) && r != ' '
}

// theCredentials is where an advice of this package sends secrets.
const theCredentials = "the provider's credentials"

const adviceCredentials = "A secret does not belong in a URL, where it ends up in the state and in logs: remove it and give it in " + theCredentials + "."

// refuse returns an input error. Neither text may quote the URL.
func refuse(happened, advice string) *fault.Error {
	return &fault.Error{Kind: fault.Input, Happened: happened, Advice: advice}
}

// asked adds to fe as much of the URL as can be shown.
func asked(fe *fault.Error, text string) error {
	if shown := mask(text); shown != masked {
		fe.Asked = `URL "` + fault.Clean(shown) + `"`
	}
	return fe
}
