package gitpoll

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/text/unicode/norm"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// Observation is what one reading showed of a target. A text that git has
// nothing for is "". A failed observation has its Target, Error, and as
// ObservedAt the time of the attempt; nothing else.
type Observation struct {
	Target
	// Commit is the peeled id, Object the id that the ref itself names.
	Commit, Object string
	// TrackingRef is the full name that the selector resolved to.
	TrackingRef string
	// Version is the SemVer text that a range chose, without a leading "v".
	Version string
	// SymrefTarget is the full name that a symbolic ref (HEAD) points at.
	SymrefTarget string
	// ObjectFormat is "sha1" or "sha256".
	ObjectFormat string
	// ObservedAt is when the reading began, FirstObservedAt when Commit was
	// first read in this run from this plumbing. UTC, whole seconds.
	ObservedAt, FirstObservedAt time.Time
	// Error is why the observation failed, "" for success. It holds no secret.
	Error string
}

// observed makes the Observation of a successful reading.
func observed(t Target, a *lsremote.Advertisement, p selection.Pick) Observation {
	at := a.ReadAt.UTC().Truncate(time.Second)
	return Observation{
		Target: t,
		Commit: p.Ref.Commit(), Object: p.Ref.ID,
		TrackingRef: p.Ref.Name, Version: p.Version, SymrefTarget: p.Ref.Target,
		ObjectFormat: a.ObjectFormat,
		ObservedAt:   at, FirstObservedAt: at,
	}
}

// Failed makes the Observation of a reading that failed with err at the time at.
func Failed(t Target, err error, at time.Time) Observation {
	return Observation{Target: t, ObservedAt: at.UTC().Truncate(time.Second), Error: err.Error()}
}

// checksumVersion begins every checksum. It changes with the encoding, so that
// an observation from another version of the provider is told from a forged
// one.
const checksumVersion = "v1:"

// Checksum returns a version prefix and the SHA-256 over every field. It
// guards against a hand-written or edited observation; it is no security
// boundary, as anyone can compute it.
func (o Observation) Checksum() string {
	hash := sha256.New()
	for _, field := range o.fields() {
		// Terraform hands every text on in Unicode's composed form: the sum
		// must be the same before and after that.
		field = norm.NFC.String(field)
		// The length keeps the end of one field apart from the next one's
		// beginning.
		fmt.Fprintf(hash, "%d:%s", len(field), field)
	}
	return checksumVersion + hex.EncodeToString(hash.Sum(nil))
}

// fields lists every field as text, always as many in the same order. No
// filter and an empty one are the same.
func (o Observation) fields() []string {
	filter := o.Spec.TagFilter
	if filter == nil {
		filter = &selection.TagFilter{}
	}
	return []string{
		o.URL, o.Spec.Branch, o.Spec.Tag, o.Spec.Ref, o.Spec.Semver,
		filter.Pattern, filter.Extract, strconv.FormatBool(o.Spec.IncludePrereleases),
		o.Commit, o.Object, o.TrackingRef, o.Version, o.SymrefTarget, o.ObjectFormat,
		FormatTime(o.ObservedAt), FormatTime(o.FirstObservedAt),
		o.Error,
	}
}

// FormatTime returns t as RFC 3339 in UTC to the second, "" for the zero time.
func FormatTime(t time.Time) string {
	if t.IsZero() {
		return ""
	}
	return t.UTC().Format(time.RFC3339)
}

// VerifyChecksum returns nil if sum is the checksum of o, else a *fault.Error
// of kind fault.Input that says whether the version or the content differs.
func (o Observation) VerifyChecksum(sum string) error {
	const advice = "Hand on the whole observation of a gitpin data source, e.g. observation = data.gitpin_ref.x.observation; to fix a commit by hand, write it where it is used, without a pin."
	switch {
	case sum == o.Checksum():
		return nil
	case !strings.HasPrefix(sum, checksumVersion):
		return &fault.Error{Kind: fault.Input, Asked: "observation",
			Happened: "its checksum is not of the kind that this version of the provider makes (" + checksumVersion + "…)",
			Advice:   advice}
	default:
		return &fault.Error{Kind: fault.Input, Asked: "observation",
			Happened: "its checksum does not fit its fields: it was written or edited by hand",
			Advice:   advice}
	}
}
