package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// ModifyPlan decides what a plan shows. Core calls it a second time during the
// apply, in another process, with config, prior state and prior private state
// and nothing else: whatever is planned must follow from those, from the one
// fresh reading of a creation or plumbing change, and from no clock.
func (r *pinResource) ModifyPlan(ctx context.Context, req resource.ModifyPlanRequest, resp *resource.ModifyPlanResponse) {
	if req.Plan.Raw.IsNull() {
		return // a destroy needs no decision
	}
	c, diags := loadChange(ctx, req.Config, req.Plan, req.State, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(r.plan(ctx, &c)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if c.prior != nil && c.plan.sameInputs(*c.prior) && c.plan.samePin(c.prior.recordModel) {
		// Nothing changes: a computed attribute that a refresh changed is no
		// planned change, and must not become one here.
		resp.Plan.Raw = req.State.Raw
		return
	}
	resp.Diagnostics.Append(resp.Plan.Set(ctx, &c.plan)...)
}

// pinChange is the models of one change of a pin.
type pinChange struct {
	config pinModel  // what is configured
	plan   pinModel  // config with defaults and planned values
	prior  *pinModel // nil on creation
	facts  pinning.Facts
}

// loadChange reads the models of one change.
func loadChange(ctx context.Context, config tfsdk.Config, plan tfsdk.Plan, state tfsdk.State, private privateState) (pinChange, diag.Diagnostics) {
	var c pinChange
	diags := config.Get(ctx, &c.config)
	diags.Append(plan.Get(ctx, &c.plan)...)
	if state.Raw.IsNull() {
		return c, diags
	}
	c.prior = &pinModel{}
	diags.Append(state.Get(ctx, c.prior)...)
	facts, more := readFacts(ctx, private)
	diags.Append(more...)
	c.facts = facts
	return c, diags
}

// change returns what is to be settled. All inputs must be known.
func (c pinChange) change(ctx context.Context) (change, diag.Diagnostics) {
	// Values that were unknown at validation are judged here.
	diags := c.config.validateFeed(ctx)
	if diags.HasError() {
		return change{}, diags
	}
	out := change{strict: c.config.strict(), policy: c.plan.policy()}
	var more diag.Diagnostics
	if out.strict {
		out.offered, more = genuineObservation(ctx, c.config.Observation)
		out.target = out.offered.Target
	} else {
		out.target, more = c.config.selectorModel.target(ctx)
	}
	diags.Append(more...)
	if c.prior == nil {
		return out, diags
	}
	record, more := c.prior.record(ctx, c.facts, c.prior.strict())
	diags.Append(more...)
	out.prior, out.priorPolicy = &record, c.prior.policy()
	out.priorTarget, more = c.prior.recordedTarget(ctx)
	diags.Append(more...)
	out.triggersChanged = c.config.triggersChanged(c.prior.policyModel)
	return out, diags
}

// plan fills c.plan.
func (r *pinResource) plan(ctx context.Context, c *pinChange) diag.Diagnostics {
	if c.prior != nil && !c.config.Triggers.IsUnknown() && !c.config.triggersChanged(c.prior.policyModel) {
		// Null equals an empty map: the spelling on record stays.
		c.plan.Triggers = c.prior.Triggers
	}
	if !c.known(ctx) {
		c.planUnknown(ctx)
		return nil
	}
	change, diags := c.change(ctx)
	if diags.HasError() {
		return diags
	}
	out, more := change.settle(ctx, r.services, r.services.readNow)
	diags.Append(more...)
	if diags.HasError() {
		return diags
	}
	if out.fresh && fault.KindOf(out.cause) == fault.CredentialsUnknown {
		// Known at apply: resolved there, once.
		c.plan.unknown()
		return diags
	}
	diags.Append(out.refusal(r.services.now())...)
	if diags.HasError() {
		return diags
	}
	if out.decision.Note != "" {
		diags.Append(noted(out.decision.Note, out.cause))
	}
	diags.Append(c.fillPlan(ctx, out)...)
	if out.fresh {
		diags.Append(freshReading())
	}
	return diags
}

// known reports whether all inputs are known.
func (c pinChange) known(ctx context.Context) bool {
	return c.config.selectorModel.known(ctx) && wholly(ctx, c.config.Observation) && c.plan.policyModel.known(ctx)
}

// planUnknown plans with an input that is not known yet. A held pin whose
// observation alone is unknown (its data source is read during apply) keeps its
// commit known, so that nothing downstream changes; everything else is resolved
// at apply.
func (c *pinChange) planUnknown(ctx context.Context) {
	held := c.prior != nil && c.config.Observation.IsUnknown() && c.plan.policyModel.known(ctx) &&
		c.plan.policy().Update == pinning.UpdateHold && !c.config.triggersChanged(c.prior.policyModel)
	if !held {
		c.plan.unknown()
		return
	}
	c.plan.keep(c.prior.recordModel)
	if c.prior.strict() {
		c.plan.Observation = c.prior.Observation
	}
}

// fillPlan sets the planned values from a decision.
func (c *pinChange) fillPlan(ctx context.Context, out settled) diag.Diagnostics {
	if !out.decision.Move && out.input.Strict && c.prior.strict() {
		// A held pin keeps the observation it was recorded from: a newer one of
		// the same plumbing is no change.
		c.plan.Observation = c.prior.Observation
	}
	return c.plan.recordModel.plan(ctx, out, pinning.Apply(out.input, out.decision, time.Time{}))
}

// sameInputs reports whether nothing that is configured differs.
func (m pinModel) sameInputs(o pinModel) bool {
	return m.selectorModel.equal(o.selectorModel) && m.policyModel.equal(o.policyModel) && m.Observation.Equal(o.Observation)
}
