package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// Read refreshes what is known of a pin, with the plumbing and the policy on
// record. It never moves the pin and, once there is a pin, never fails: a
// remote that cannot be read leaves everything as it is, with a warning.
func (r *pinResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state pinModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	facts, diags := readFacts(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	target, diags := state.recordedTarget(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if state.Commit.IsNull() {
		facts, diags = r.firstRead(ctx, &state, target)
	} else {
		facts, diags = r.refresh(ctx, &state, target, facts)
	}
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(writePrivate(ctx, resp.Private, facts)...)
}

// firstRead observes the tip for an import. There is no pin to protect yet, so
// a failure is an error.
func (r *pinResource) firstRead(ctx context.Context, state *pinModel, target gitpoll.Target) (pinning.Facts, diag.Diagnostics) {
	var diags diag.Diagnostics
	observation, err := r.services.observe(ctx, target, reading.Want{})
	if err != nil {
		diags.Append(failed(err))
		return pinning.Facts{}, diags
	}
	seen := seenOf(observation)
	in := pinning.Input{Policy: state.policy(), Offered: &seen}
	record := pinning.Apply(in, pinning.Decide(in), r.services.now().UTC().Truncate(time.Second))
	record.Facts.Imported = true
	return record.Facts, state.fill(ctx, record)
}

// refresh reads the remote and absorbs what it says.
func (r *pinResource) refresh(ctx context.Context, state *pinModel, target gitpoll.Target, facts pinning.Facts) (pinning.Facts, diag.Diagnostics) {
	record, diags := state.record(ctx, facts, state.strict())
	remote, selector, err := target.Parse()
	if diags.HasError() || err != nil {
		// Not even the URL on record makes sense to this version: keep it.
		return facts, diags
	}
	now := r.services.now().UTC().Truncate(time.Second)
	plumbing, _ := target.Plumbing() // it parses, so it has one
	ad, err := r.services.advertisement(ctx, target, selector, record.Pin.TrackingRef)
	r.services.memory.update(plumbing, func(m *remembered) {
		m.failure = err
		if err == nil {
			m.succeeded = now
		}
	})
	policy := state.policy()
	switch {
	case fault.KindOf(err) == fault.Canceled:
		return facts, diags
	case err != nil:
		record = pinning.AbsorbFailure(record, policy, now)
		diags.Append(holding(remote, err))
	default:
		record = pinning.Absorb(record, policy, readingOf(ad, selector), now)
		diags.Append(observedWarnings(named(target, record.Pin.TrackingRef), record, policy)...)
	}
	diags.Append(state.fill(ctx, record)...)
	return record.Facts, diags
}

// observedWarnings are the warnings of a refresh that succeeded. A plan turns
// some of them into errors.
func observedWarnings(what string, record pinning.Record, policy pinning.Policy) diag.Diagnostics {
	var diags diag.Diagnostics
	if record.Facts.Moved != nil && policy.OnTagMoved != pinning.TagMovedFollow {
		diags.Append(movedWarning(what, record.Pin, *record.Facts.Moved))
	}
	if record.Facts.Gone {
		diags.Append(goneWarning(what))
	}
	return diags
}

// advertisement reads what a refresh needs. That the selector finds nothing, or
// that the pinned ref is gone, must be the word of a new reading (invariant I4).
func (s *services) advertisement(ctx context.Context, t gitpoll.Target, selector selection.Selector, trackingRef string) (*lsremote.Advertisement, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	return s.observer.Advertisement(ctx, t, reading.Want{Present: func(ad *lsremote.Advertisement) bool {
		_, err := selector.Pick(ad)
		_, there := ad.Lookup(trackingRef)
		return err == nil && there
	}})
}

// readingOf is an advertisement as package pinning sees it.
func readingOf(ad *lsremote.Advertisement, selector selection.Selector) pinning.Reading {
	out := pinning.Reading{Lookup: func(trackingRef string) (pinning.Seen, bool) {
		ref, there := ad.Lookup(trackingRef)
		return pinning.Seen{Commit: ref.Commit(), Object: ref.ID, TrackingRef: ref.Name, At: ad.ReadAt}, there
	}}
	if pick, err := selector.Pick(ad); err == nil {
		out.Newest = &pinning.Seen{Commit: pick.Ref.Commit(), Object: pick.Ref.ID, TrackingRef: pick.Ref.Name, Version: pick.Version, At: ad.ReadAt}
	}
	return out
}
