package lsremote

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// refusal turns an answer with any status but 200 into an error.
func (x *exchange) refusal() *fault.Error {
	status := x.resp.StatusCode
	body := x.start()
	e := &fault.Error{Status: status, Phase: fault.PhaseAnswer, Server: x.words(body),
		Happened: "the server answered " + statusText(status) + x.aside(x.at), RetryAfter: x.retryAfter()}
	switch {
	case status == http.StatusProxyAuthRequired:
		return refusedByProxy(status)
	case x.withheld() && (status == 401 || status == 403 || status == 404):
		x.refusedAfterRedirect(e)
	case status == http.StatusUnauthorized:
		x.unauthorized(e)
	case status == http.StatusForbidden:
		e.Kind = fault.Forbidden
		e.Happened += " to " + x.who()
		e.Advice = "Check what the credentials are allowed to read (scopes, single sign-on, IP ranges, quotas)."
	case status == http.StatusNotFound, status == http.StatusGone:
		e.Kind = fault.NotFound
		e.Happened += " to " + x.who()
		e.Advice = "The repository is not there, or these credentials may not see it: check the path of the URL and what they are allowed to read."
		if x.auth.ID == "" {
			e.Advice = "The repository is not there, or not visible without credentials. Check the path of the URL. Where the repository is not public: " + lowerFirst(x.cure())
		}
	case status == http.StatusTooManyRequests:
		e.Kind, e.Transient, e.Advice = fault.RateLimited, true, adviceFor(fault.RateLimited)
	case status == http.StatusRequestTimeout, status >= 500:
		e.Kind = fault.Unavailable
		e.Transient = status != http.StatusNotImplemented && status != http.StatusHTTPVersionNotSupported
		e.Advice = "The server has a problem of its own; try again later."
	default:
		e.Kind = fault.NotGit
		e.Advice = "Check the URL: this is not how a git server answers."
		if status == http.StatusBadRequest && saysTLS(body) {
			e.Advice += wantsTLS(x.at.base.Scheme)
		}
	}
	return e
}

// who names the credentials that an answer was given to.
func (x *exchange) who() string {
	switch {
	case x.at.foreign, x.auth.ID == "" && x.auth.Why == "":
		return "a request without credentials"
	case x.auth.ID == "":
		return "a request without credentials (" + x.auth.Why + ")"
	}
	who := x.auth.Source
	if scheme := x.auth.Scheme(); scheme != "" {
		who = scheme + " credentials of " + who
	}
	if len(x.auth.Keys) > 0 {
		who += ", secret keys " + strings.Join(x.auth.Keys, ", ")
	}
	return who
}

// unauthorized fills in a 401: which credentials were tried, and what the
// server would take.
func (x *exchange) unauthorized(e *fault.Error) {
	e.Kind, e.Phase = fault.Authentication, fault.PhaseAuth
	e.Happened += " to " + x.who()
	wanted := challenges(x.resp.Header.Values("WWW-Authenticate"))
	if len(wanted) > 0 {
		e.Happened += "; it wants " + strings.Join(wanted, " or ")
	}
	if x.lacksPassword() {
		e.Happened += "; the password is empty or missing"
	}
	tried := x.auth.Scheme()
	offers := func(scheme string) bool {
		return slices.ContainsFunc(wanted, func(w string) bool { return strings.EqualFold(w, scheme) })
	}
	switch {
	case x.auth.ID == "":
		e.Advice = x.cure()
	case tried == "Bearer" && offers("Basic") && !offers("Bearer"):
		e.Advice = "This host takes a user name with a password or a token: give username and password in the secret in place of bearerToken."
	case tried == "Basic" && offers("Bearer") && !offers("Basic"):
		e.Advice = "This host takes a bearer token: give bearerToken in the secret in place of username and password."
	case x.lacksPassword():
		e.Advice = "Set password in the secret. Only where a host takes a token as the user name it may stay empty: then check that the token is right and has not expired."
	default:
		e.Advice = "Check that the credentials are right and have not expired. They are tried once only, so that no account is locked."
	}
}

// cure says how to give a request credentials that had none.
func (x *exchange) cure() string {
	if x.at.foreign || x.auth.Cure == "" {
		return fmt.Sprintf("Add an entry for %s to the provider's credentials.", origin(x.at.base))
	}
	return x.auth.Cure
}

// lowerFirst puts a sentence, of ASCII at its start, behind a colon.
func lowerFirst(sentence string) string { return strings.ToLower(sentence[:1]) + sentence[1:] }

// lacksPassword tells whether a user name was sent with an empty password, as
// some hosts take a token.
func (x *exchange) lacksPassword() bool {
	return x.auth.Scheme() == "Basic" && !x.at.foreign &&
		slices.Contains(x.auth.Keys, "username") && !slices.Contains(x.auth.Keys, "password")
}

// refusedAfterRedirect fills in an answer that may well be no more than the
// lack of the credentials that a redirect has left behind.
func (x *exchange) refusedAfterRedirect(e *fault.Error) {
	from, to := origin(home(x.reading).base), origin(x.at.base)
	e.Kind = fault.Redirect
	e.Happened = fmt.Sprintf("%s redirects to %s, another origin, so the credentials were withheld; %s answered %s",
		from, to, to, statusText(e.Status))
	e.Advice = fmt.Sprintf("If you trust %s, use the repository's URL there, with an entry for it in the provider's credentials.", to)
}

// maxErrorText bounds what is read of an error's body, in bytes.
const maxErrorText = 4 << 10

// start returns the start of an error's body, and ends the exchange.
func (x *exchange) start() []byte {
	defer x.soon()()
	body, _ := io.ReadAll(io.LimitReader(x, maxErrorText))
	x.discard()
	return body
}

// words returns what the server says in words: the body if it is plain text, or
// the message in a JSON object. Web pages are not shown.
func (x *exchange) words(body []byte) string {
	switch x.mediaType() {
	case "text/plain":
		return string(body)
	case "application/json":
		var said struct{ Message, Error any }
		if json.Unmarshal(body, &said) != nil {
			return ""
		}
		for _, field := range []any{said.Message, said.Error} {
			if text, ok := field.(string); ok && text != "" {
				return text
			}
		}
	}
	return ""
}

// plainToTLS are the words in which servers answer plain http on a port for
// https, in lower case: those of Go's net/http, nginx and Apache.
var plainToTLS = []string{"http request to an https server", "http request was sent to https port", "plain http to an ssl-enabled server port"}

// saysTLS tells whether the body of a 400 says that the port wants https.
func saysTLS(body []byte) bool {
	text := strings.ToLower(string(body))
	return slices.ContainsFunc(plainToTLS, func(words string) bool { return strings.Contains(text, words) })
}

// discard reads the rest of a short body, so that the connection can be used
// again, and ends the exchange.
func (x *exchange) discard() {
	defer x.soon()()
	_, _ = io.CopyN(io.Discard, x, maxErrorText)
	x.close()
}

// dumbRef is a line of the info/refs file of git's dumb HTTP protocol.
var dumbRef = regexp.MustCompile(`^([0-9a-f]{40}|[0-9a-f]{64})\t`)

// notGit is for a success that is not an answer of a smart git server. Nothing
// in it is taken for a ref.
func (x *exchange) notGit() *fault.Error {
	defer x.soon()()
	start, _ := io.ReadAll(io.LimitReader(x, 512))
	e := &fault.Error{Kind: fault.NotGit, Phase: fault.PhaseAnswer, Status: x.resp.StatusCode,
		Happened: "the server's answer is not that of a git server", Server: "content of type " + x.resp.Header.Get("Content-Type"),
		Advice: "Check the URL, and whether the repository needs credentials."}
	text := strings.ToLower(strings.TrimSpace(string(start)))
	switch {
	case x.mediaType() == "text/html", strings.HasPrefix(text, "<!doctype html"), strings.HasPrefix(text, "<html"):
		e.Happened = "the server sent a web page, probably a login page"
	case dumbRef.Match(start):
		e.Happened = "the server speaks git's dumb HTTP protocol only, whose list of refs is a file that may be out of date"
		e.Advice = "Serve the repository by git http-backend or the like, or use its ssh URL."
	}
	return e
}

// challenges returns the names of the authentication schemes in the values of
// WWW-Authenticate (RFC 9110, section 11.6.1), at most five, without anything
// else that the server wrote there.
func challenges(values []string) []string {
	var names []string
	for _, value := range values {
		for _, part := range splitUnquoted(value) {
			// A scheme stands alone or before a space; what has a "=" before
			// that is a parameter of the scheme before.
			name, _, _ := strings.Cut(strings.TrimSpace(part), " ")
			if schemeName.MatchString(name) && !slices.Contains(names, name) && len(names) < 5 {
				names = append(names, name)
			}
		}
	}
	return names
}

var schemeName = regexp.MustCompile(`^[A-Za-z][A-Za-z0-9-]{0,30}$`)

// splitUnquoted splits at commas outside of double quotes.
func splitUnquoted(s string) []string {
	quoted, escaped := false, false
	return strings.FieldsFunc(s, func(c rune) bool {
		switch {
		case escaped:
			escaped = false
		case quoted && c == '\\':
			escaped = true
		case c == '"':
			quoted = !quoted
		}
		return c == ',' && !quoted
	})
}

// statusText returns a status as "404 Not Found", in our words: the server's
// own phrase may be anything.
func statusText(status int) string {
	if text := http.StatusText(status); text != "" {
		return fmt.Sprintf("%d %s", status, text)
	}
	return fmt.Sprintf("%d", status)
}
