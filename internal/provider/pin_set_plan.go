package provider

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
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
	if c.unchanged(ctx) {
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
	if !c.plan.policyModel.known(ctx) || c.config.Pins.IsUnknown() || c.config.Observations.IsUnknown() {
		return c.planUnknown(ctx)
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
	priors, more := c.priorRecords(ctx)
	diags.Append(more...)
	records, fresh := map[string]recordModel{}, false
	for _, m := range members {
		var record recordModel
		switch out := outs[m.name]; {
		case !m.known && c.holds(ctx) && isRecorded(priors, m.name):
			record.keep(priors[m.name])
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
	c.keepObservations(ctx)
	diags.Append(c.plan.setRecords(ctx, records)...)
	if fresh {
		diags.Append(freshReading())
	}
	return diags
}

// holds reports whether the members of a strict set stay where they are,
// whatever their observations turn out to be.
func (c setChange) holds(ctx context.Context) bool {
	return c.prior != nil && c.config.Pins.IsNull() && c.plan.policyModel.known(ctx) &&
		c.plan.policy().Update == pinning.UpdateHold && !c.config.triggersChanged(c.prior.policyModel)
}

func (c setChange) priorRecords(ctx context.Context) (map[string]recordModel, diag.Diagnostics) {
	if c.prior == nil {
		return nil, nil
	}
	return c.prior.records(ctx)
}

func isRecorded(records map[string]recordModel, name string) bool {
	_, there := records[name]
	return there
}

// planUnknown plans with a policy or a map that is not known yet. A held set
// whose observations alone are unknown keeps its commits known.
func (c *setChange) planUnknown(ctx context.Context) diag.Diagnostics {
	if !c.holds(ctx) || !c.config.Observations.IsUnknown() {
		c.plan.unknown()
		c.keepObservations(ctx)
		return nil
	}
	records, diags := c.prior.records(ctx)
	for name, record := range records {
		record.keep(record)
		records[name] = record
	}
	if c.prior.strict() {
		c.plan.Observations = c.prior.Observations
	}
	diags.Append(c.plan.setRecords(ctx, records)...)
	return diags
}

// keepObservations plans the observations on record in place of others of the
// same names and plumbings; see pinChange.keepObservation. A member that is not
// known yet is taken for one of the same plumbing.
func (c *setChange) keepObservations(ctx context.Context) {
	if c.prior == nil || !c.prior.strict() || !isSet(c.config.Observations) {
		return
	}
	configured, recorded := c.config.Observations.Elements(), c.prior.Observations.Elements()
	if len(configured) != len(recorded) {
		return
	}
	for name, element := range configured {
		old, there := recorded[name]
		if !there || (wholly(ctx, element) && !samePlumbing(ctx, element, old)) {
			return
		}
	}
	c.plan.Observations = c.prior.Observations
}

// samePlumbing compares two observations.
func samePlumbing(ctx context.Context, one, other attr.Value) bool {
	a, b := plumbingOf(ctx, one), plumbingOf(ctx, other)
	return a == b && a != ""
}

// plumbingOf returns the plumbing of an observation, "" if it has none.
func plumbingOf(ctx context.Context, v attr.Value) string {
	object, ok := v.(types.Object)
	if !ok || object.IsNull() {
		return ""
	}
	o, _, diags := observationFrom(ctx, object)
	plumbing, err := o.Plumbing()
	if diags.HasError() || err != nil {
		return ""
	}
	return plumbing
}

// unchanged reports whether the plan is what is on record.
func (c setChange) unchanged(ctx context.Context) bool {
	if c.prior == nil || !c.plan.policyModel.equal(c.prior.policyModel) || !c.plan.Pins.Equal(c.prior.Pins) ||
		!c.plan.Observations.Equal(c.prior.Observations) || c.plan.Members.IsUnknown() {
		return false
	}
	planned, diags := c.plan.records(ctx)
	recorded, more := c.prior.records(ctx)
	if diags.HasError() || more.HasError() {
		return false
	}
	return maps.EqualFunc(planned, recorded, recordModel.samePin)
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
