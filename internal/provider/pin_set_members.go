package provider

import (
	"context"
	"errors"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// setMember is one member of a set in a plan.
type setMember struct {
	name   string
	known  bool // whether its selector or observation is known
	change change
}

// sweep makes the readings that new members and changed plumbings need.
type sweep func(ctx context.Context, targets map[string]gitpoll.Target) map[string]gitpoll.Result

// members returns the configured members, sorted by name, each beside what is
// recorded of it.
func (c setChange) members(ctx context.Context) ([]setMember, diag.Diagnostics) {
	diags := c.config.validateFeed(ctx)
	if diags.HasError() {
		return nil, diags
	}
	return c.membersOf(ctx, c.config, true)
}

// membersOf returns the members that feed asks for. genuine demands checksums
// that fit.
func (c setChange) membersOf(ctx context.Context, feed pinSetModel, genuine bool) ([]setMember, diag.Diagnostics) {
	recorded, diags := c.recorded(ctx)
	var members []setMember
	elements := feed.feed().Elements()
	for _, name := range sortedNames(elements) {
		element := elements[name]
		m := setMember{name: name, known: wholly(ctx, element)}
		if m.known {
			target, offered, more := feed.target(ctx, element, genuine)
			diags.Append(forMember(name, more)...)
			m.change = change{target: target, strict: feed.strict(), offered: offered, policy: c.plan.policy()}
		}
		members = append(members, m)
	}
	if diags.HasError() || c.prior == nil {
		return members, diags
	}
	triggered := feed.triggersChanged(c.prior.policyModel)
	priors := matchPrior(members, recorded)
	for i := range members {
		if prior, there := priors[members[i].name]; there {
			members[i].change.prior, members[i].change.priorTarget = &prior.record, prior.target
			members[i].change.priorPolicy, members[i].change.triggersChanged = c.prior.policy(), triggered
		}
	}
	return members, diags
}

// recordedMember is what is on record of one member.
type recordedMember struct {
	name   string
	target gitpoll.Target
	record pinning.Record
}

// recorded returns the members on record, sorted by name.
func (c setChange) recorded(ctx context.Context) ([]recordedMember, diag.Diagnostics) {
	if c.prior == nil {
		return nil, nil
	}
	return c.prior.recordedMembers(ctx, c.facts)
}

func (m pinSetModel) recordedMembers(ctx context.Context, facts map[string]pinning.Facts) ([]recordedMember, diag.Diagnostics) {
	models, diags := m.records(ctx)
	var members []recordedMember
	elements := m.feed().Elements()
	for _, name := range sortedNames(elements) {
		model, there := models[name]
		if !there {
			continue
		}
		record, more := model.record(ctx, facts[name], m.strict())
		diags.Append(more...)
		target, _, more := m.target(ctx, elements[name], false)
		diags.Append(more...)
		members = append(members, recordedMember{name, target, record})
	}
	return members, diags
}

// matchPrior finds the record of each known member: first the one of the same
// name and plumbing, then one of the same plumbing whose name is gone (a
// renamed key keeps its pin), last the one of the same name, whose plumbing has
// changed. Each record is used once.
func matchPrior(members []setMember, recorded []recordedMember) map[string]recordedMember {
	byName, byPlumbing := map[string][]recordedMember{}, map[string][]recordedMember{}
	plumbings := map[string]string{} // of what is recorded, by name
	for _, r := range recorded {
		byName[r.name] = []recordedMember{r}
		if plumbing, err := r.target.Plumbing(); err == nil {
			plumbings[r.name] = plumbing
			byPlumbing[plumbing] = append(byPlumbing[plumbing], r)
		}
	}
	found, used := map[string]recordedMember{}, map[string]bool{}
	match := func(candidates func(name, plumbing string) []recordedMember) {
		for _, m := range members {
			if _, done := found[m.name]; done || !m.known {
				continue
			}
			plumbing, _ := m.change.target.Plumbing() // "" if it cannot be parsed
			for _, r := range candidates(m.name, plumbing) {
				if !used[r.name] {
					found[m.name], used[r.name] = r, true
					break
				}
			}
		}
	}
	match(func(name, plumbing string) []recordedMember {
		if plumbing == "" || plumbing != plumbings[name] {
			return nil
		}
		return byName[name]
	})
	match(func(_, plumbing string) []recordedMember { return byPlumbing[plumbing] })
	match(func(name, _ string) []recordedMember { return byName[name] })
	return found
}

// needReading returns the targets that must be read from the remote first.
func needReading(members []setMember) map[string]gitpoll.Target {
	targets := map[string]gitpoll.Target{}
	for _, m := range members {
		if m.known && m.change.needsReading() {
			targets[m.name] = m.change.target
		}
	}
	return targets
}

// settleAll settles all known members, with one sweep for those that need a
// reading. All or none: if one member could not be observed, no recorded member
// moves. A new member, or one whose plumbing has changed, stands for itself.
func (s *services) settleAll(ctx context.Context, members []setMember, read sweep) (map[string]settled, diag.Diagnostics) {
	targets := needReading(members)
	var results map[string]gitpoll.Result
	if len(targets) > 0 {
		results = read(ctx, targets)
	}
	var diags diag.Diagnostics
	outs, failed := map[string]settled{}, false
	unread := s.unreadMember(members)
	for _, m := range members {
		if !m.known {
			continue
		}
		m.change.unread = unread
		out, more := m.change.settle(ctx, s, func(context.Context, gitpoll.Target, string) (gitpoll.Observation, error) {
			r, there := results[m.name]
			if !there {
				return gitpoll.Observation{}, errors.New("the sweep has no result for this member")
			}
			return r.Observation, r.Err
		})
		diags.Append(forMember(m.name, more)...)
		// Only what is configured may hold a move back: a failed refresh is known
		// to this process alone, and the apply would decide otherwise.
		failed = failed || (out.input.Strict && out.cause != nil && out.input.SamePlumbing)
		outs[m.name] = out
	}
	for name, out := range outs {
		if failed && out.decision.Move && out.input.SamePlumbing {
			out.decision = pinning.Decision{}
			outs[name] = out
		}
	}
	return outs, diags
}

// unreadMember returns why a recorded self-observing member could not be
// refreshed in this process, nil if all could.
func (s *services) unreadMember(members []setMember) error {
	for _, m := range members {
		plumbing, err := m.change.target.Plumbing()
		if !m.known || err != nil || m.change.strict || !m.change.samePlumbing(plumbing) {
			continue
		}
		if failure := s.memory.of(plumbing).failure; failure != nil {
			return failure
		}
	}
	return nil
}
