package gitauth

import (
	"context"
	"encoding/base64"
	"net"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/fluxcd/pkg/git"

	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// httpAuth turns an entry into credentials for an https or http remote.
func (k *Keychain) httpAuth(e *entry, r giturl.Remote) (*Auth, error) {
	if len(e.Secret) == 0 {
		// "Anonymous here", written out below a wider prefix.
		return &Auth{Source: e.source() + ", an empty secret", Why: e.source() + " has an empty secret",
			Cure: "Fill in that secret, or add an entry with a longer url for this repository."}, nil
	}
	a, err := k.httpParts(e, r)
	if err != nil {
		return nil, credentialsError(e.source(), r, err)
	}
	return a, nil
}

// httpKeys are the keys of a secret that count for https and http.
var httpKeys = append([]string{keyUsername, keyPassword, keyBearerToken, keyTLSCert, keyTLSKey, keyCACert, keyCAFile}, appKeys...)

func (k *Keychain) httpParts(e *entry, r giturl.Remote) (*Auth, error) {
	if err := checkHTTPSecret(e.Secret, r); err != nil {
		return nil, err
	}
	opts, err := fluxOptions(httpURL(e.Secret, r), e.Secret)
	if err != nil {
		return nil, err
	}
	t, err := e.tls.get(func() (*TLS, error) {
		caKey := present(e.Secret, []string{keyCACert, keyCAFile})
		return parseTLS(string(opts.ClientCert), string(opts.ClientKey), strings.Join(caKey, ""), string(opts.CAFile))
	})
	if err != nil {
		return nil, err
	}
	a := &Auth{Source: e.source(), Keys: present(e.Secret, httpKeys), TLS: t}
	slices.Sort(a.Keys)
	h, err := k.authorizer(e, opts, t)
	if err != nil {
		return nil, err
	}
	if h != nil {
		if err := checkCleartext(e, r); err != nil {
			return nil, err
		}
	}
	if app, ok := h.(*app); ok {
		a.Source += ", " + app.String()
	}
	a.hide(private{header: h, texts: []string{string(opts.ClientKey), e.Secret[keyAppPrivateKey]}})
	if h != nil || t != nil {
		a.ID = opaqueID("http", opts.Username, opts.Password, opts.BearerToken,
			string(opts.ClientCert), string(opts.ClientKey), string(opts.CAFile), appID(e.Secret))
	}
	return a, nil
}

// authorizer returns the way to the Authorization header, nil if there is none.
func (k *Keychain) authorizer(e *entry, opts *git.AuthOptions, t *TLS) (authorizer, error) {
	switch {
	case len(present(e.Secret, appKeys)) > 0:
		return e.app.get(func() (*app, error) { return k.apps.get(k.opts, e, t) })
	case opts.BearerToken != "":
		return &staticHeader{kind: "Bearer", value: "Bearer " + opts.BearerToken, login: login{secret: opts.BearerToken}}, nil
	case opts.Username != "" || opts.Password != "":
		return &staticHeader{kind: "Basic", value: basic(opts.Username, opts.Password), login: login{user: opts.Username, secret: opts.Password}}, nil
	}
	return nil, nil
}

// httpURL is the part of r that git.NewAuthOptions is to see. Its user goes in
// only where a password lacks one: beside a bearer token the user would win and
// the token be dropped without a word.
func httpURL(secret map[string]string, r giturl.Remote) url.URL {
	u := url.URL{Scheme: string(r.Scheme), Host: r.Address()}
	if r.User != "" && secret[keyUsername] == "" && secret[keyPassword] != "" {
		u.User = url.User(r.User)
	}
	return u
}

// fluxOptions calls Flux's parser with what has a value.
func fluxOptions(u url.URL, secret map[string]string) (*git.AuthOptions, error) {
	data := make(map[string][]byte, len(secret))
	for key, value := range secret {
		if value != "" {
			data[key] = []byte(value)
		}
	}
	opts, err := git.NewAuthOptions(u, data)
	if err != nil {
		// Its errors name keys and never values; ours come first for all that
		// it is known to find.
		return nil, &problem{what: "Flux's parser refuses the secret: " + err.Error(), advice: "Check its keys against those of a Flux Git secret."}
	}
	return opts, nil
}

// checkHTTPSecret finds what would make a request anonymous or be refused by the
// server, where the secret shows it.
func checkHTTPSecret(secret map[string]string, r giturl.Remote) error {
	if value, ok := secret[keyBearerToken]; ok && value == "" {
		return emptyProblem(keyBearerToken)
	}
	_, hasUser := secret[keyUsername]
	_, hasPassword := secret[keyPassword]
	switch {
	case (hasUser || hasPassword) && secret[keyUsername] == "" && secret[keyPassword] == "":
		if hasPassword {
			return emptyProblem(keyPassword)
		}
		return emptyProblem(keyUsername)
	case secret[keyPassword] != "" && secret[keyUsername] == "" && r.User == "":
		return &problem{what: "secret has password but no username",
			advice: "Add username. A host that takes a token as password wants any name there (\"git\"), or one that its documentation tells; for \"Authorization: Bearer\" write bearerToken instead of password."}
	}
	for _, key := range []string{keyUsername, keyPassword, keyBearerToken} {
		if err := checkHeaderValue(key, secret[key]); err != nil {
			return err
		}
	}
	return nil
}

func emptyProblem(key string) error {
	return &problem{key: key, what: "is empty, and the request would be anonymous",
		advice: "Set it, or leave the key out (null) to read anonymously."}
}

// checkHeaderValue finds characters that cannot be meant in a header: RFC 7617
// forbids control characters in Basic and a colon in its user name, RFC 6750
// allows only visible ASCII in a bearer token.
func checkHeaderValue(key, value string) error {
	wrong := func(what, advice string) error { return &problem{key: key, what: what, advice: advice} }
	trimmed := strings.TrimSpace(value)
	switch {
	case strings.HasSuffix(value, "\n"), strings.HasSuffix(value, "\r"):
		return wrong("ends in a line break", "Take it off with trimspace(…): it would be sent as a part of the value.")
	case value != trimmed:
		return wrong("begins or ends with white space", "Take it off with trimspace(…): it would be sent as a part of the value.")
	case strings.HasPrefix(value, byteOrderMark):
		return wrong("begins with a byte order mark", "Save the file it comes from as UTF-8 without one.")
	case strings.ContainsFunc(value, unicode.IsControl):
		return wrong("has a control character in it, such as a line break", "Give the value on one line.")
	case key == keyUsername && strings.Contains(value, ":"):
		return wrong("has a colon in it, which Basic authentication cannot carry", "Put what comes after the colon into password.")
	}
	if key != keyBearerToken {
		return nil
	}
	if prefix, _, ok := strings.Cut(value, " "); ok && strings.EqualFold(prefix, "bearer") {
		return wrong("begins with the word Bearer", "Give the token alone, the word is put before it.")
	}
	if strings.ContainsFunc(value, func(c rune) bool { return c <= ' ' || c > '~' }) {
		return wrong("has a character in it that no token may have", "Give the token alone, as the host shows it.")
	}
	return nil
}

// checkCleartext keeps an Authorization header from leaving this machine
// unencrypted.
func checkCleartext(e *entry, r giturl.Remote) error {
	if r.Scheme != giturl.HTTP || e.AllowHTTP || isLoopback(r.Host) {
		return nil
	}
	return &problem{what: "its credentials would be sent over plain http, for anyone on the way to read",
		advice: "Use https, or set allow_http = true on the entry."}
}

// isLoopback tells a host that is this machine by its name alone (RFC 6761):
// nothing is resolved.
func isLoopback(host string) bool {
	if host == "localhost" || strings.HasSuffix(host, ".localhost") {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

// staticHeader is an Authorization header whose value is known from the start.
type staticHeader struct {
	kind  string
	value string
	login login
}

func basic(user, password string) string {
	return "Basic " + base64.StdEncoding.EncodeToString([]byte(user+":"+password))
}

func (h *staticHeader) scheme() string                              { return h.kind }
func (h *staticHeader) header(context.Context) (string, error)      { return h.value, nil }
func (h *staticHeader) renew(context.Context, string) (bool, error) { return false, nil }

func (h *staticHeader) secrets() []login {
	out := []login{h.login}
	if h.login.secret == "" || h.login.secret == "x-oauth-basic" {
		// The way in which a token is given as user name.
		out = append(out, login{secret: h.login.user}, login{secret: h.login.user + ":" + h.login.secret})
	}
	return out
}
