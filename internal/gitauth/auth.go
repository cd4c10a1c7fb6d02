package gitauth

import (
	"context"
	"crypto/hmac"
	"crypto/rand"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"sync"
)

// Auth is what one reading authenticates with. It is safe for concurrent use and
// is to be handed on by pointer.
type Auth struct {
	// ID is opaque: equal if and only if the credentials are, "" for none. It
	// is made anew in each process and discloses nothing.
	ID string
	// Source says where the credentials come from, for messages:
	// `credentials[0] (url "https://git.example.com/acme/")` or "no credentials".
	Source string
	// Why says of an http(s) Auth without credentials why it has none, in one
	// clause: "no entry matches: …". It is "" for any other.
	Why string
	// Cure says, beside Why, how to give it some.
	Cure string
	// Keys names the keys of the secret that are in use, sorted.
	Keys []string
	// TLS is for http and https, nil for the system's defaults.
	TLS *TLS
	// SSH is set for ssh remotes and only for those.
	SSH *SSH

	// private is nil where there is nothing secret. It is a function because
	// fmt follows every other kind of value, whatever a Format method says, when
	// it comes upon it in an unexported field of somebody else's struct.
	private func() private
}

// private is the part of an Auth that must not be shown.
type private struct {
	header authorizer // nil for none
	logins []login    // beside those of the header
	texts  []string   // keys in PEM
}

func (a *Auth) hide(p private) { a.private = func() private { return p } }

// parts returns what hide was given.
func (a *Auth) parts() private {
	if a.private == nil {
		return private{}
	}
	return a.private()
}

// authorizer makes the Authorization header.
type authorizer interface {
	scheme() string
	// header returns the value to send. Errors are *fault.Error.
	header(ctx context.Context) (string, error)
	// renew is called after a server refused the value and reports whether
	// header has another one now.
	renew(ctx context.Context, rejected string) (bool, error)
	// secrets returns what must not be shown, as far as it is known by now.
	secrets() []login
}

// Header returns the value of the Authorization header, "Basic …" or "Bearer …",
// or "" when none is to be sent. Only for a GitHub App and a credential helper
// does it wait for anything; ctx bounds that. Errors are *fault.Error.
func (a *Auth) Header(ctx context.Context) (string, error) {
	h := a.parts().header
	if h == nil {
		return "", nil
	}
	return h.header(ctx)
}

// Renew is to be called after the server answered 401 to the header rejected. It
// reports whether Header now returns another value that is worth one more try,
// which is so only for a GitHub App, and once per token. Errors are *fault.Error.
func (a *Auth) Renew(ctx context.Context, rejected string) (bool, error) {
	h := a.parts().header
	if h == nil {
		return false, nil
	}
	return h.renew(ctx, rejected)
}

// Scheme returns the authentication scheme of the header: "Basic", "Bearer" or "".
func (a *Auth) Scheme() string {
	h := a.parts().header
	if h == nil {
		return ""
	}
	return h.scheme()
}

// Format prints where the credentials come from: no verb prints a value.
func (a Auth) Format(w fmt.State, _ rune) {
	_, _ = fmt.Fprintf(w, "gitauth.Auth{source: %q, keys: %q}", a.Source, a.Keys)
}

// idKey makes the IDs of one process incomparable to those of another.
var idKey = sync.OnceValue(func() []byte {
	key := make([]byte, sha256.Size)
	_, _ = rand.Read(key) // never fails, see crypto/rand
	return key
})

// opaqueID returns a keyed hash over kind and parts, each with its length.
func opaqueID(kind string, parts ...string) string {
	mac := hmac.New(sha256.New, idKey())
	for _, part := range append([]string{kind}, parts...) {
		_ = binary.Write(mac, binary.BigEndian, uint64(len(part)))
		mac.Write([]byte(part))
	}
	return hex.EncodeToString(mac.Sum(nil)[:16])
}

// once computes a value when it is first asked for, and keeps it or its error.
type once[T any] struct {
	sync.Once
	value T
	err   error
}

func (o *once[T]) get(compute func() (T, error)) (T, error) {
	o.Do(func() { o.value, o.err = compute() })
	return o.value, o.err
}
