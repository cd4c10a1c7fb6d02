package gitauth

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// Entry is one element of the provider's credentials list.
type Entry struct {
	// URL is the prefix of the remotes that the secret is for. It is ignored
	// when URLUnknown.
	URL        string
	URLUnknown bool
	// Secret is a Flux Git secret. Null elements are left out by the caller.
	// When SecretUnknown, it holds those elements that are known, with "" as
	// value where only the key is.
	Secret        map[string]string
	SecretUnknown bool // unknown in whole or in any element
	// AllowHTTP lets an Authorization header leave over plain http to a host
	// that is not this machine.
	AllowHTTP bool
}

// String returns the prefix and the names of the secret's keys.
func (e Entry) String() string {
	return fmt.Sprintf("gitauth.Entry{url: %q, keys: %q}", giturl.Redact(e.URL), slices.Sorted(maps.Keys(e.Secret)))
}

// Format prints String under every verb, none of which may print a value.
func (e Entry) Format(w fmt.State, _ rune) { _, _ = io.WriteString(w, e.String()) }

// MarshalText makes JSON, and a log in it, show String.
func (e Entry) MarshalText() ([]byte, error) { return []byte(e.String()), nil }

// Options are what a Keychain needs beside the list.
type Options struct {
	// ListUnknown is true when the provider's whole list is not known yet.
	ListUnknown bool
	// Ambient says which credentials of the machine may be used; by default none.
	Ambient Ambient
	// AmbientUnknown is true when Ambient is not known yet.
	AmbientUnknown bool
	// Proxy chooses the proxy for the API of a GitHub App, as in http.Transport.
	// Nil stands for the environment's proxy variables.
	Proxy func(*http.Request) (*url.URL, error)
	// Now is the clock by which a GitHub App's token expires; nil is time.Now.
	Now func() time.Time
}

// Keychain finds the credentials for a remote. It is safe for concurrent use.
type Keychain struct {
	opts    Options
	entries []*entry
	ambient ambientSources
	apps    sharedApps
}

// Format prints how many entries there are: no verb prints a value.
func (k *Keychain) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "gitauth.Keychain{entries: %d}", len(k.entries))
}

// entry is an Entry whose prefix is parsed. Its secret is turned into usable
// parts when the first remote asks for it: a bad secret that no remote uses
// fails nothing.
type entry struct {
	Entry
	index  int
	prefix giturl.Prefix

	tls      once[*TLS]
	app      once[*app]
	signer   once[ssh.Signer]
	hostKeys once[*HostKeys]
}

// source names the entry in errors.
func (e *entry) source() string {
	return fmt.Sprintf("credentials[%d] (url %q)", e.index, e.prefix.String())
}

// NewKeychain checks the list and returns the Keychain. Errors are *fault.Error
// of kind Input that name the element and the key, never a value: a bad prefix,
// two entries with the same prefix, a key that is no key of a Flux Git secret,
// keys that exclude each other, half of a pair. Of an entry that is not wholly
// known only what is known is judged.
func NewKeychain(entries []Entry, o Options) (*Keychain, error) {
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Proxy == nil {
		o.Proxy = http.ProxyFromEnvironment
	}
	k := &Keychain{opts: o}
	seen := map[string]int{}
	for i, in := range entries {
		e := &entry{Entry: in, index: i}
		if err := e.parse(); err != nil {
			return nil, err
		}
		if !e.URLUnknown {
			if first, dup := seen[e.prefix.Key()]; dup {
				return nil, inputError(fmt.Sprintf("credentials[%d].url is for the same remotes as credentials[%d].url (%q)", i, first, e.prefix.String()),
					"Remove one of them: of two equal prefixes neither is the longer one.")
			}
			seen[e.prefix.Key()] = i
		}
		k.entries = append(k.entries, e)
	}
	return k, nil
}

func inputError(happened, advice string) *fault.Error {
	return &fault.Error{Kind: fault.Input, Happened: happened, Advice: advice}
}

func (e *entry) parse() error {
	if !e.URLUnknown {
		prefix, err := giturl.ParsePrefix(e.URL)
		var f *fault.Error
		if errors.As(err, &f) {
			return inputError(fmt.Sprintf("credentials[%d].url: %s", e.index, f.Happened), f.Advice)
		}
		if err != nil {
			return inputError(fmt.Sprintf("credentials[%d].url is not a prefix of remotes", e.index), "Write a prefix such as https://git.example.com/acme/.")
		}
		e.prefix = prefix
	}
	err := checkKeys(e.Secret, e.SecretUnknown)
	if err == nil && !e.URLUnknown && !e.SecretUnknown {
		err = checkForm(e.prefix, e.Secret)
	}
	var p *problem
	if errors.As(err, &p) {
		return inputError(fmt.Sprintf("credentials[%d].%s", e.index, p.Error()), p.advice)
	}
	return err
}

// For returns the credentials for r: those of the entry with the longest
// matching prefix. Without a match, ambient ones are used where Options say so,
// and otherwise https, http, git and file remotes are read anonymously.
//
// Errors are *fault.Error: Credentials when the secret cannot be used,
// CredentialsUnknown when what decides is not known yet; then the remote must
// not be read at all, not even anonymously.
func (k *Keychain) For(r giturl.Remote) (*Auth, error) {
	if r.Scheme == giturl.Git || r.Scheme == giturl.File {
		return &Auth{Source: noCredentials}, nil
	}
	if err := k.checkKnown(r); err != nil {
		return nil, err
	}
	e := k.match(r)
	if e != nil && e.SecretUnknown {
		return nil, unknownError(r, fmt.Sprintf("credentials[%d].secret", e.index))
	}
	switch {
	case r.Scheme == giturl.SSH:
		return k.sshAuth(e, r)
	case e != nil:
		return k.httpAuth(e, r)
	case k.opts.AmbientUnknown:
		return nil, unknownError(r, "ambient")
	case k.opts.Ambient.CredentialHelper:
		return k.helperAuth(r), nil
	}
	return k.anonymous(r, ""), nil
}

// anonymous returns what an http(s) remote is read with when no entry matches.
// more is put to Source.
func (k *Keychain) anonymous(r giturl.Remote, more string) *Auth {
	why := k.prefixes()
	if len(k.entries) > 0 {
		why = "no entry matches: " + why
	}
	return &Auth{Source: noCredentials + more, Why: why + more, Cure: k.missingEntry(r)}
}

// missingEntry is the advice where no entry matches r: an entry to copy, and what
// keeps the others from matching.
func (k *Keychain) missingEntry(r giturl.Remote) string {
	keys := `username = "…", password = "…"`
	if r.Scheme == giturl.SSH {
		keys = `identity = file("…"), known_hosts = file("…")`
	}
	advice := fmt.Sprintf("Add an entry to the provider's credentials, such as { url = %q, secret = { %s } }", r.Beside(), keys)
	if len(k.entries) > 0 {
		advice += ", or correct the url of the one that is meant for it: scheme, host, port and whole path segments must be equal"
	}
	return strings.TrimSpace(advice + ". " + r.PortHint())
}

const noCredentials = "no credentials"

// checkKnown refuses to choose while an entry may yet turn out to be the one
// that matches best.
func (k *Keychain) checkKnown(r giturl.Remote) error {
	if k.opts.ListUnknown {
		return unknownError(r, "credentials")
	}
	for _, e := range k.entries {
		if e.URLUnknown {
			return unknownError(r, fmt.Sprintf("credentials[%d].url", e.index))
		}
	}
	return nil
}

func unknownError(r giturl.Remote, attribute string) error {
	return &fault.Error{Kind: fault.CredentialsUnknown, Phase: fault.PhaseCredentials, Asked: r.String(),
		Happened: fmt.Sprintf("the provider's %s is not known yet, so it is open which credentials to use", attribute),
		Advice:   "Apply in two steps: first what the value comes from, with `terraform apply -target=…`, then the rest."}
}

// match returns the entry with the longest prefix that matches r, or nil.
func (k *Keychain) match(r giturl.Remote) *entry {
	var best *entry
	bestLength := -1
	for _, e := range k.entries {
		if length, ok := e.prefix.Match(r); ok && length > bestLength {
			best, bestLength = e, length
		}
	}
	return best
}

// prefixes names the known prefixes, for errors about a remote that none fits.
func (k *Keychain) prefixes() string {
	var all []string
	for _, e := range k.entries {
		all = append(all, fault.Clean(e.prefix.String()))
	}
	if len(all) == 0 {
		return "the provider has no credentials"
	}
	return "the provider's credentials are for " + shorten(all)
}

// credentialsError says that the secret named by source cannot be used for r.
func credentialsError(source string, r giturl.Remote, err error) error {
	var f *fault.Error
	if errors.As(err, &f) {
		return err
	}
	var p *problem
	if !errors.As(err, &p) {
		p = &problem{what: "the secret cannot be used", advice: "Check its keys against those of a Flux Git secret."}
	}
	return &fault.Error{Kind: fault.Credentials, Phase: fault.PhaseCredentials, Asked: r.String(),
		Happened: source + ": " + p.Error(), Advice: p.advice}
}
