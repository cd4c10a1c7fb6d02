package lsremote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

const infoRefs = "/info/refs"

// maxRedirects is how many redirects are followed, as by git.
const maxRedirects = 20

// getRefs asks for info/refs and follows redirects on the same terms as git:
// only for this GET, only to another info/refs, never from https to http nor
// to anything else, and without the credentials as soon as the origin changes.
// It returns where the repository is, and the answer.
func (r *reading) getRefs(ctx context.Context, version2 bool) (endpoint, *exchange, error) {
	at := home(r)
	for range maxRedirects + 1 {
		x, err := r.send(ctx, at, request{method: http.MethodGet, suffix: infoRefs, query: "service=git-upload-pack", version2: version2})
		if err != nil || !x.redirects() {
			return at, x, err
		}
		at, err = r.follow(at, x)
		x.discard()
		if err != nil {
			return at, nil, err
		}
	}
	return at, nil, &fault.Error{Kind: fault.Redirect, Phase: fault.PhaseAnswer,
		Happened: fmt.Sprintf("the server redirected more than %d times", maxRedirects),
		Advice:   "Check the URL; the server sends its clients in a circle."}
}

// follow returns where a redirect leads. Of its target nothing is shown but
// origin and path: tokens travel in queries. The query is not taken over
// either: the next request has git's own.
func (r *reading) follow(from endpoint, x *exchange) (endpoint, error) {
	refuse := func(kind fault.Kind, target *url.URL, happened, advice string) (endpoint, error) {
		e := &fault.Error{Kind: kind, Phase: fault.PhaseAnswer, Status: x.resp.StatusCode, Happened: happened, Advice: advice}
		if target != nil {
			e.Server = fmt.Sprintf("%d, location %s", x.resp.StatusCode, bare(target))
		}
		return from, e
	}
	target, err := from.url(infoRefs, "").Parse(x.resp.Header.Get("Location"))
	switch {
	case err != nil, x.resp.Header.Get("Location") == "":
		return refuse(fault.Redirect, nil, "the server redirects to something that is no URL", "Check the URL.")
	case target.Scheme != "https" && target.Scheme != "http", target.Host == "":
		return refuse(fault.Redirect, target, "the server redirects away from the web, which is refused", "Use the repository's real URL, if you trust it.")
	case from.base.Scheme == "https" && target.Scheme == "http":
		return refuse(fault.Redirect, target, "the server redirects from https to http, which is refused: anybody on the way could change the answer",
			"Use the repository's https URL.")
	}
	path, found := strings.CutSuffix(target.EscapedPath(), infoRefs)
	if !found {
		return refuse(fault.NotGit, target, "the server redirects to a page that is no git repository, probably a login page",
			"Check the URL. If the repository is not public, add credentials for it.")
	}
	decoded, err := url.PathUnescape(path)
	if err != nil {
		return refuse(fault.Redirect, target, "the server redirects to something that is no URL", "Check the URL.")
	}
	to := endpoint{base: &url.URL{Scheme: target.Scheme, Host: target.Host, Path: decoded, RawPath: path}}
	to.foreign = from.foreign || origin(to.base) != origin(home(r).base)
	return to, nil
}

// origin returns scheme, host and port, the default port left out.
func origin(u *url.URL) string {
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if port == "" || u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		if strings.Contains(host, ":") {
			host = "[" + host + "]"
		}
		return u.Scheme + "://" + host
	}
	return u.Scheme + "://" + net.JoinHostPort(host, port)
}

// bare returns a URL without user, query and fragment.
func bare(u *url.URL) string {
	if u.Opaque != "" {
		return u.Scheme + ":…"
	}
	return origin(u) + u.EscapedPath()
}

// withheld tells whether there were credentials that a redirect has left
// behind.
func (x *exchange) withheld() bool {
	return x.at.foreign && (x.auth.Scheme() != "" || x.auth.TLS != nil && len(x.auth.TLS.Certificates) > 0)
}

// aside says how it came to a foreign endpoint, for the end of a clause.
func (r *reading) aside(at endpoint) string {
	if !at.foreign {
		return ""
	}
	return fmt.Sprintf(" (%s redirects to %s)", origin(home(r).base), origin(at.base))
}
