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
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// ModifyPlan decides what a plan shows for all members together. What it must
// not depend on is said at pinResource.ModifyPlan.
func (r *pinSetResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return // a destroy needs no decision
	}
	c, diags := loadSetChange(ctx, req.Config, req.Plan, req.State, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.plan(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if c.unchanged() {
		resp.Plan.Raw = req.State.Raw
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &c.plan)...)
}

// setChange is the models of one change of a pin set.
type setChange struct {
	config pinSetModel
	plan   pinSetModel
	prior  *pinSetModel
	facts  map[string]pinning.Facts
}

func loadSetChange(ctx context.Context, config tfsdk.Config, plan tfsdk.Plan, state tfsdk.State, private privateState) (setChange, diag.Diagnostics) {
	var c setChange
	diags := config.Get(ctx, &c.config)
	diags.Append(plan.Get(ctx, &c.plan)...)
	if state.Raw.IsNull() {
		return c, diags
	}
	c.prior = &pinSetModel{}
	diags.Append(state.Get(ctx, c.prior)...)
	var more diag.Diagnostics
	c.facts, more = readSetFacts(ctx, private)
	diags.Append(more...)
	return c, diags
}

// plan fills c.plan.
func (r *pinSetResource) plan(ctx context.Context, c *setChange) diag.Diagnostics {
	if c.prior != nil && !c.config.Triggers.IsUnknown() && !c.config.triggersChanged(c.prior.policyModel) {
		// Null equals an empty map: the spelling on record stays.
		c.plan.Triggers = c.prior.Triggers
	}
	if !c.plan.policyModel.known(ctx) || c.config.feed().IsUnknown() {
		c.planUnknown(ctx)
		return nil
	}
	members, diags := c.members(ctx)
	if diags.HasError() {
		return diags
	}
	outs, more := r.services.settleAll(ctx, members, r.services.sweepNow)
	diags.Append(more...)
	if diags.HasError() {
		return diags
	}
	records, fresh := map[string]recordModel{}, false
	for _, m := range members {
		var record recordModel
		switch out := outs[m.name]; {
		case !m.known, out.fresh && fault.KindOf(out.cause) == fault.CredentialsUnknown:
			record.unknown() // resolved at apply, once
		default:
			diags.Append(forMember(m.name, out.refusal(r.services.now()))...)
			if out.decision.Note != "" {
				diags.Append(forMember(m.name, diag.Diagnostics{noted(out.decision.Note, out.cause)})...)
			}
			diags.Append(record.plan(ctx, out, pinning.Apply(out.input, out.decision, time.Time{}))...)
			fresh = fresh || out.fresh
		}
		records[m.name] = record
	}
	if diags.HasError() {
		return diags
	}
	if c.keepsObservations(members, outs) {
		c.plan.Observations = c.prior.Observations
	}
	diags.Append(c.plan.setRecords(ctx, records)...)
	if fresh {
		diags.Append(freshReading())
	}
	return diags
}

// planUnknown plans with a policy or a map that is not known yet. A held set
// whose observations alone are unknown keeps its commits known.
func (c *setChange) planUnknown(ctx context.Context) {
	held := c.prior != nil && c.config.Observations.IsUnknown() && c.plan.policyModel.known(ctx) &&
		c.plan.policy().Update == pinning.UpdateHold && !c.config.triggersChanged(c.prior.policyModel)
	if !held {
		c.plan.unknown()
		return
	}
	c.plan.Commits, c.plan.Members, c.plan.PinsJSON = c.prior.Commits, c.prior.Members, c.prior.PinsJSON
	if c.prior.strict() {
		c.plan.Observations = c.prior.Observations
	}
	if !c.unchanged() {
		c.plan.Members = types.MapUnknown(types.ObjectType{AttrTypes: recordTypes})
	}
}

// keepsObservations reports whether nothing moves, comes or goes: then newer
// observations of the same plumbing are no change.
func (c setChange) keepsObservations(members []setMember, outs map[string]settled) bool {
	if c.prior == nil || !c.prior.strict() || !c.config.strict() || len(members) != len(c.prior.names()) {
		return false
	}
	for _, m := range members {
		if _, same := c.prior.Observations.Elements()[m.name]; !same || !m.known || outs[m.name].decision.Move || !outs[m.name].input.SamePlumbing {
			return false
		}
	}
	return true
}

// unchanged reports whether the plan is what is on record.
func (c setChange) unchanged() bool {
	return c.prior != nil && c.plan.policyModel.equal(c.prior.policyModel) && c.plan.Pins.Equal(c.prior.Pins) &&
		c.plan.Observations.Equal(c.prior.Observations) && c.plan.Commits.Equal(c.prior.Commits)
}

// sweepNow makes the readings of a plan, all at once, and remembers them for
// the apply that may follow in the same process.
func (s *services) sweepNow(ctx context.Context, targets map[string]gitpoll.Target) map[string]gitpoll.Result {
	results := map[string]gitpoll.Result{}
	if err := s.ready(); err != nil {
		for name := range targets {
			results[name] = gitpoll.Result{Err: err}
		}
		return results
	}
	results = s.observer.Sweep(ctx, targets, reading.Want{}, true)
	for name, r := range results {
		if plumbing, err := targets[name].Plumbing(); err == nil && r.Err == nil {
			s.memory.update(plumbing, func(m *remembered) { m.observation, m.succeeded = r.Observation, r.Observation.ObservedAt })
		}
	}
	return results
}

// sweepOnce returns the readings that the plan in this process was made from,
// and makes only those that there are none of.
func (s *services) sweepOnce(ctx context.Context, targets map[string]gitpoll.Target) map[string]gitpoll.Result {
	results, missing := map[string]gitpoll.Result{}, map[string]gitpoll.Target{}
	for name, t := range targets {
		plumbing, err := t.Plumbing()
		if o := s.memory.of(plumbing).observation; err == nil && o.Commit != "" {
			results[name] = gitpoll.Result{Observation: o}
		} else {
			missing[name] = t
		}
	}
	if len(missing) > 0 {
		for name, r := range s.sweepNow(ctx, missing) {
			results[name] = r
		}
	}
	return results
}
