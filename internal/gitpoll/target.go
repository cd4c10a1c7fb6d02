// Package gitpoll observes targets: one (Observer.Observe), many at once
// (Observer.Sweep), or again and again (Poller, Observer.Wait). An Observation
// belongs to the plumbing it was made against, that is to one remote and one
// selector, and to no other (invariant I2).
package gitpoll

import (
	"fmt"

	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// Target is what is observed, as the user wrote it.
type Target struct {
	// URL is the remote's.
	URL string
	// Spec is the selector.
	Spec selection.Spec
}

// Parse checks the target. The error is a *fault.Error of kind fault.Input.
func (t Target) Parse() (giturl.Remote, selection.Selector, error) {
	remote, err := giturl.Parse(t.URL)
	if err != nil {
		return giturl.Remote{}, selection.Selector{}, err
	}
	selector, err := selection.New(t.Spec)
	if err != nil {
		return giturl.Remote{}, selection.Selector{}, err
	}
	return remote, selector, nil
}

// Plumbing returns a text that is equal for two targets exactly when they have
// the same plumbing: canonical URL, user, and full ref name (for a range: the
// range, filter and pre-release flag). The error is that of Parse.
func (t Target) Plumbing() (string, error) {
	remote, selector, err := t.Parse()
	if err != nil {
		return "", err
	}
	return repository(remote) + " " + selector.Key(), nil
}

// clone returns a copy that shares nothing with t.
func (t Target) clone() Target {
	if t.Spec.TagFilter != nil {
		filter := *t.Spec.TagFilter
		t.Spec.TagFilter = &filter
	}
	return t
}

// repository is equal for two remotes exactly when they are one repository
// read as one user.
func repository(remote giturl.Remote) string {
	return fmt.Sprintf("%q as %q", remote.Canonical(), remote.User)
}
