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
	out, more := c.changeOf(ctx, c.config)
	diags.Append(more...)
	if out.strict {
		_, more = genuineObservation(ctx, c.config.Observation)
		diags.Append(more...)
	}
	return out, diags
}

// changeOf returns the change to what feed asks for.
func (c pinChange) changeOf(ctx context.Context, feed pinModel) (change, diag.Diagnostics) {
	out := change{strict: feed.strict(), policy: c.plan.policy()}
	var diags, more diag.Diagnostics
	if out.strict {
		out.offered, _, diags = observationFrom(ctx, feed.Observation)
		out.target = out.offered.Target
	} else {
		out.target, diags = feed.selectorModel.target(ctx)
	}
	if c.prior == nil {
		return out, diags
	}
	record, more := c.prior.record(ctx, c.facts, c.prior.strict())
	diags.Append(more...)
	out.prior, out.priorPolicy = &record, c.prior.policy()
	out.priorTarget, more = c.prior.recordedTarget(ctx)
	diags.Append(more...)
	out.triggersChanged = feed.triggersChanged(c.prior.policyModel)
	return out, diags
}

// plan fills c.plan.
func (r *pinResource) plan(ctx context.Context, c *pinChange) diag.Diagnostics {
	if !c.known(ctx) {
		return c.planUnknown(ctx)
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
	c.keepObservation(change)
	diags.Append(c.plan.recordModel.plan(ctx, out, pinning.Apply(out.input, out.decision, time.Time{}))...)
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
func (c *pinChange) planUnknown(ctx context.Context) diag.Diagnostics {
	held := c.prior != nil && c.config.Observation.IsUnknown() && c.config.selectorModel.absent() && c.plan.policyModel.known(ctx) &&
		c.plan.policy().Update == pinning.UpdateHold && !c.config.triggersChanged(c.prior.policyModel)
	if held {
		c.plan.keep(c.prior.recordModel)
		if c.prior.strict() {
			c.plan.Observation = c.prior.Observation
		}
		return nil
	}
	c.plan.unknown()
	if !c.config.strict() || !wholly(ctx, c.config.Observation) {
		return nil
	}
	change, diags := c.change(ctx)
	if !diags.HasError() {
		c.keepObservation(change)
	}
	return diags
}

// keepObservation plans the observation on record in place of another one of
// the same plumbing. The state needs it for the plumbing only, a held pin would
// show a difference in every plan, and the rule must not ask whether the pin
// moves: while an input is unknown, the first plan cannot know that and the
// second, during apply, can.
func (c *pinChange) keepObservation(change change) {
	plumbing, err := change.target.Plumbing()
	if err == nil && change.strict && c.prior != nil && c.prior.strict() && change.samePlumbing(plumbing) {
		c.plan.Observation = c.prior.Observation
	}
}

// sameInputs reports whether nothing that is configured differs.
func (m pinModel) sameInputs(o pinModel) bool {
	return m.selectorModel.equal(o.selectorModel) && m.policyModel.equal(o.policyModel) && m.Observation.Equal(o.Observation)
}
