package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// Create records what was planned.
func (r *pinSetResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var c setChange
	resp.Diagnostics.Append(req.Config.Get(ctx, &c.config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	r.record(ctx, &c, &resp.State, resp.Private, &resp.Diagnostics)
}

// Update records what was planned.
func (r *pinSetResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	c, diags := loadSetChange(ctx, req.Config, req.Plan, req.State, req.Private)
	resp.Diagnostics.Append(diags...)
	r.record(ctx, &c, &resp.State, resp.Private, &resp.Diagnostics)
}

// record makes the state and the private state of c what was planned, unless
// diags holds an error by then.
func (r *pinSetResource) record(ctx context.Context, c *setChange, state *tfsdk.State, private privateState, diags *diag.Diagnostics) {
	if diags.HasError() {
		return
	}
	facts, more := r.apply(ctx, c)
	diags.Append(more...)
	if diags.HasError() {
		return
	}
	diags.Append(state.Set(ctx, &c.plan)...)
	diags.Append(writePrivate(ctx, private, facts)...)
}

// Delete forgets the pins: there is nothing elsewhere to delete.
func (r *pinSetResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {
}

// apply turns c.plan into the state to record, from the inputs of the plan; see
// pinResource.apply.
func (r *pinSetResource) apply(ctx context.Context, c *setChange) (map[string]pinning.Facts, diag.Diagnostics) {
	members, diags := c.membersOf(ctx, c.plan, false)
	planned, more := c.plan.records(ctx)
	diags.Append(more...)
	if diags.HasError() {
		return nil, diags
	}
	now := r.services.now().UTC().Truncate(time.Second)
	results := r.services.sweepOnce(ctx, needReading(members))
	configured := c.config.Observations.Elements()
	records, facts := map[string]recordModel{}, map[string]pinning.Facts{}
	for _, m := range members {
		offered := m.change.offered
		if result, there := results[m.name]; there {
			if result.Err != nil {
				diags.Append(forMember(m.name, diag.Diagnostics{nothingObserved(result.Err)})...)
				continue
			}
			offered = result.Observation
		} else if object, ok := configured[m.name].(types.Object); ok && m.change.strict && isSet(object) {
			offered = newerOf(ctx, offered, object)
		}
		var more diag.Diagnostics
		records[m.name], facts[m.name], more = m.change.written(ctx, planned[m.name], offered, now)
		diags.Append(forMember(m.name, more)...)
	}
	if diags.HasError() {
		return nil, diags
	}
	return facts, c.plan.setRecords(ctx, records)
}

// Read refreshes what is known of all members by one sweep, all or none: if one
// of them cannot be read, what is on record of the others stays too, so that no
// plan moves a part of the set.
func (r *pinSetResource) Read(ctx context.Context, req resource.ReadRequest, resp *resource.ReadResponse) {
	var state pinSetModel
	resp.Diagnostics.Append(req.State.Get(ctx, &state)...)
	facts, diags := readSetFacts(ctx, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	members, diags := state.recordedMembers(ctx, facts)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	facts, diags = r.refresh(ctx, &state, members)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() || facts == nil {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &state)...)
	resp.Diagnostics.Append(writePrivate(ctx, resp.Private, facts)...)
}

// refresh returns nil facts, and leaves the state alone, if it was interrupted.
func (r *pinSetResource) refresh(ctx context.Context, state *pinSetModel, members []recordedMember) (map[string]pinning.Facts, diag.Diagnostics) {
	var diags diag.Diagnostics
	now := r.services.now().UTC().Truncate(time.Second)
	ads, failures := r.services.sweepRecorded(ctx, members)
	for _, m := range members {
		plumbing, err := m.target.Plumbing()
		if err != nil {
			continue
		}
		r.services.memory.update(plumbing, func(rem *remembered) {
			rem.failure = failures[m.name]
			if rem.failure == nil {
				rem.succeeded = now
			}
		})
	}
	policy, facts, records := state.policy(), map[string]pinning.Facts{}, map[string]recordModel{}
	for _, m := range members {
		remote, selector, err := m.target.Parse()
		record := m.record
		switch failure := failures[m.name]; {
		case fault.KindOf(failure) == fault.Canceled:
			return nil, diags
		case err != nil:
			record = pinning.AbsorbFailure(record, policy, now)
		case failure != nil:
			record = pinning.AbsorbFailure(record, policy, now)
			diags.Append(forMember(m.name, diag.Diagnostics{holding(remote, failure)})...)
		default:
			absorb := pinning.Absorb
			if len(failures) > 0 {
				absorb = pinning.AbsorbBeside
			}
			record = absorb(record, policy, readingOf(ads[m.name], selector), now)
			diags.Append(forMember(m.name, observedWarnings(named(m.target, record.Pin.TrackingRef), record, policy))...)
		}
		var model recordModel
		diags.Append(model.fill(ctx, record)...)
		records[m.name], facts[m.name] = model, record.Facts
	}
	diags.Append(state.setRecords(ctx, records)...)
	return facts, diags
}

// sweepRecorded reads what is on record, by one sweep. That the selector finds
// nothing or that a pinned ref is gone is no failure here.
func (s *services) sweepRecorded(ctx context.Context, members []recordedMember) (ads map[string]*lsremote.Advertisement, failures map[string]error) {
	ads, failures = map[string]*lsremote.Advertisement{}, map[string]error{}
	targets := map[string]gitpoll.Target{}
	for _, m := range members {
		targets[m.name] = m.target
		if err := s.ready(); err != nil {
			failures[m.name] = err
		}
	}
	if len(failures) > 0 {
		return ads, failures
	}
	results := s.observer.Sweep(ctx, targets, reading.Want{}, false)
	for _, m := range members {
		r := results[m.name]
		ad, err := r.Advertisement, r.Err
		if ad != nil {
			err = nil
			if _, there := ad.Lookup(m.record.Pin.TrackingRef); !there {
				// "Gone" must be the word of a new reading.
				_, selector, _ := m.target.Parse() // it was swept, so it parses
				ad, err = s.advertisement(ctx, m.target, selector, m.record.Pin.TrackingRef)
			}
		}
		if err != nil {
			failures[m.name] = err
			continue
		}
		ads[m.name] = ad
	}
	return ads, failures
}
