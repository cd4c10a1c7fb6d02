package lsremote

import (
	"cmp"
	"slices"
	"time"
)

// Ref is one advertised ref. All ids are lower-case hex, 40 digits for sha1
// and 64 for sha256.
type Ref struct {
	// Name is the full name, valid UTF-8: "refs/heads/main", "HEAD". It never
	// ends in "^{}".
	Name string
	// ID is what the ref itself names; for an annotated tag the tag object.
	ID string
	// Peeled is what an annotated tag leads to, all levels at once; "" for
	// everything else. An advertisement does not say an object's type: it may
	// be a tree or a blob.
	Peeled string
	// Target is the full name that a symbolic ref points at; "" for an
	// ordinary ref, for a detached HEAD, and where the server does not tell.
	Target string
}

// Commit returns the peeled id where there is one, else the id.
func (r Ref) Commit() string {
	if r.Peeled != "" {
		return r.Peeled
	}
	return r.ID
}

// Advertisement is what a remote answered to one Query. It is shared by all
// who asked and must not be changed.
type Advertisement struct {
	// Refs are the wanted refs that the remote advertises, sorted by Name,
	// each name once.
	Refs []Ref
	// UnbornHead is the branch that a HEAD without a commit points at, if HEAD
	// was wanted and the server told.
	UnbornHead string
	// ObjectFormat is "sha1" or "sha256". It is "sha1" too where an empty
	// repository does not tell.
	ObjectFormat string
	// Protocol is the version of git's wire protocol that was spoken: 0, 1, 2.
	Protocol int
	// Empty is true only if the remote is known to advertise no ref at all.
	// An answer to a narrow Query does not show that in protocol 2.
	Empty bool
	// Skipped counts wanted refs that are left out because no Terraform string
	// can hold their names: git allows bytes that are no UTF-8.
	Skipped int
	// ReadAt is when the reading began.
	ReadAt time.Time
}

// Lookup returns the ref with the full name. A name that the Query did not
// want is not found either.
func (a *Advertisement) Lookup(full string) (Ref, bool) {
	i, ok := slices.BinarySearchFunc(a.Refs, full, func(r Ref, name string) int { return cmp.Compare(r.Name, name) })
	if !ok {
		return Ref{}, false
	}
	return a.Refs[i], true
}
