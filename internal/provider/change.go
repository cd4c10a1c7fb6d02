package provider

import (
	"cmp"
	"context"
	"errors"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// change is one pin in a plan: what is configured beside what is recorded. All
// of it is known. ModifyPlan settles it, and Create or Update does once more,
// so that what is written is decided by the same code as what was planned.
type change struct {
	target          gitpoll.Target
	strict          bool
	offered         gitpoll.Observation // of a strict pin
	policy          pinning.Policy
	triggersChanged bool
	prior           *pinning.Record // nil on creation
	priorTarget     gitpoll.Target
	priorPolicy     pinning.Policy
	// unread is why another member of the same set could not be refreshed in
	// this process, nil otherwise. Like a pin's own failure, it may only turn a
	// plan into an error.
	unread error
}

// settled is what a change comes to.
type settled struct {
	input    pinning.Input
	decision pinning.Decision
	target   gitpoll.Target
	// fresh is true when the commit was read from the remote for this very
	// plan: the second plan, during apply, reads again.
	fresh bool
	// cause is why there was nothing to offer, if so.
	cause error
	// lastSuccess is the newest successful reading that counts against
	// freshness_threshold.
	lastSuccess time.Time
}

// source makes the one reading that a creation or a plumbing change of a
// self-observing pin needs.
type source func(ctx context.Context, t gitpoll.Target, plumbing string) (gitpoll.Observation, error)

// samePlumbing reports whether what is recorded was read from what is
// configured. A recorded target that can no longer be parsed is another.
func (c change) samePlumbing(plumbing string) bool {
	recorded, err := c.priorTarget.Plumbing()
	return c.prior != nil && err == nil && recorded == plumbing
}

// needsReading reports whether the change must be read from the remote first.
func (c change) needsReading() bool {
	plumbing, err := c.target.Plumbing()
	return err == nil && !c.strict && !c.samePlumbing(plumbing)
}

// settle gathers what the decision depends on and decides.
func (c change) settle(ctx context.Context, s *services, read source) (settled, diag.Diagnostics) {
	var diags diag.Diagnostics
	out := settled{target: c.target, input: pinning.Input{
		Prior: c.prior, Policy: c.policy, PriorPolicy: c.priorPolicy, TriggersChanged: c.triggersChanged, Strict: c.strict,
	}}
	plumbing, err := c.target.Plumbing()
	if err != nil {
		diags.Append(badTarget(err))
		return out, diags
	}
	out.input.SamePlumbing = c.samePlumbing(plumbing)
	if c.prior != nil {
		out.lastSuccess = c.prior.Facts.LastSuccess
	}
	offered, remembered := c.offered, s.memory.of(plumbing)
	unread := cmp.Or(remembered.failure, c.unread)
	out.input.ReadFailed = unread != nil
	switch {
	case c.strict && offered.Error != "":
		out.cause = errors.New(offered.Error)
	case c.strict:
	case !out.input.SamePlumbing:
		out.fresh = true
		offered, out.cause = read(ctx, c.target, plumbing)
	case out.input.ReadFailed:
		out.cause = unread
	}
	out.lastSuccess = latestOf(out.lastSuccess, remembered.succeeded)
	if out.cause == nil && offered.Commit != "" {
		seen := seenOf(offered)
		out.input.Offered = &seen
		out.lastSuccess = latestOf(out.lastSuccess, offered.ObservedAt)
	}
	_, out.input.Stale = c.policy.Stale(out.lastSuccess, s.now())
	out.decision = pinning.Decide(out.input)
	return out, diags
}

// written returns what an apply records of a change that was planned so: the
// planned values, with the times that no plan could know. offered is the reading
// that a self-observing creation or plumbing change was planned from. Nothing is
// recorded but what was planned (invariant I3).
func (c change) written(ctx context.Context, planned recordModel, offered gitpoll.Observation, now time.Time) (recordModel, pinning.Facts, diag.Diagnostics) {
	target, diags := planned.record(ctx, pinning.Facts{}, c.strict)
	plumbing, err := c.target.Plumbing()
	if err != nil || planned.Commit.IsUnknown() {
		diags.Append(notPlanned(named(c.target, "")))
	}
	in := pinning.Input{Prior: c.prior, Policy: c.policy, PriorPolicy: c.priorPolicy, Strict: c.strict, SamePlumbing: c.samePlumbing(plumbing)}
	if offered.Commit != "" {
		seen := seenOf(offered)
		in.Offered = &seen
		if !c.strict && !in.SamePlumbing && !seen.Same(target.Pin) {
			diags.Append(planBroken(named(c.target, target.Pin.TrackingRef), target.Pin.Commit, seen.Commit))
		}
	}
	if diags.HasError() {
		return planned, pinning.Facts{}, diags
	}
	// The plan left this time unknown exactly where the pin moves.
	moves := planned.PinnedAt.IsUnknown()
	record := pinning.Apply(in, pinning.Decision{Move: moves, To: target.Pin}, now)
	if moves {
		planned.PinnedAt = types.StringValue(gitpoll.FormatTime(now))
	}
	if !wholly(ctx, planned.Latest) {
		diags.Append(planned.fillLatest(ctx, target.Latest, types.StringValue(gitpoll.FormatTime(record.Latest.At)))...)
	}
	return planned, record.Facts, diags
}

// refusal returns the error of a plan that must fail, if it must.
func (o settled) refusal(now time.Time) diag.Diagnostics {
	var diags diag.Diagnostics
	what := named(o.target, "")
	if o.input.Prior != nil && o.input.SamePlumbing {
		what = named(o.target, o.input.Prior.Pin.TrackingRef)
	}
	switch o.decision.Refusal {
	case pinning.RefusedNothingObserved:
		diags.Append(nothingObserved(o.cause))
	case pinning.RefusedTagMoved:
		diags.Append(refusedMoved(what, o.input.Prior.Pin, *o.decision.Conflict))
	case pinning.RefusedStale:
		age, _ := o.input.Policy.Stale(o.lastSuccess, now)
		diags.Append(refusedStale(what, age, o.input.Policy.FreshnessThreshold, o.lastSuccess.IsZero(), o.cause))
	case pinning.RefusedRefMissing:
		diags.Append(refusedMissing(what))
	case pinning.RefusedTriggerMissing:
		diags.Append(refusedTriggerMissing(what))
	case pinning.RefusedTriggerUnread:
		diags.Append(refusedTriggerUnread(o.cause))
	case pinning.RefusedFollowUnread:
		diags.Append(refusedFollowUnread(what, o.cause))
	}
	return diags
}

// readNow makes the reading of a plan and remembers it for the apply that may
// follow in the same process.
func (s *services) readNow(ctx context.Context, t gitpoll.Target, plumbing string) (gitpoll.Observation, error) {
	o, err := s.observe(ctx, t, reading.Want{})
	if err == nil {
		s.memory.update(plumbing, func(r *remembered) { r.observation, r.succeeded = o, o.ObservedAt })
	}
	return o, err
}

// readOnce returns the reading that the plan in this process was made from: an
// apply must record exactly that. Only if there is none does it read.
func (s *services) readOnce(ctx context.Context, t gitpoll.Target, plumbing string) (gitpoll.Observation, error) {
	if o := s.memory.of(plumbing).observation; o.Commit != "" {
		return o, nil
	}
	return s.readNow(ctx, t, plumbing)
}

func latestOf(times ...time.Time) time.Time {
	var latest time.Time
	for _, t := range times {
		if t.After(latest) {
			latest = t
		}
	}
	return latest
}
