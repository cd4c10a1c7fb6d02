package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/tfsdk"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// Create records what was planned.
func (r *pinResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var c pinChange
	resp.Diagnostics.Append(req.Config.Get(ctx, &c.config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	r.record(ctx, &c, &resp.State, resp.Private, &resp.Diagnostics)
}

// Update records what was planned.
func (r *pinResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	c, diags := loadChange(ctx, req.Config, req.Plan, req.State, req.Private)
	resp.Diagnostics.Append(diags...)
	r.record(ctx, &c, &resp.State, resp.Private, &resp.Diagnostics)
}

// record makes the state and the private state of c what was planned, unless
// diags holds an error by then.
func (r *pinResource) record(ctx context.Context, c *pinChange, state *tfsdk.State, private privateState, diags *diag.Diagnostics) {
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

// Delete forgets the pin: there is nothing elsewhere to delete.
func (r *pinResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// apply turns c.plan into the state to record. The inputs are those of the plan:
// core hands the raw configuration to an apply, without regard to
// ignore_changes.
func (r *pinResource) apply(ctx context.Context, c *pinChange) (pinning.Facts, diag.Diagnostics) {
	change, diags := c.changeOf(ctx, c.plan)
	if diags.HasError() {
		return pinning.Facts{}, diags
	}
	offered := change.offered
	switch {
	case change.needsReading():
		plumbing, err := change.target.Plumbing()
		if err == nil {
			offered, err = r.services.readOnce(ctx, change.target, plumbing)
		}
		if err != nil {
			diags.Append(nothingObserved(err))
			return pinning.Facts{}, diags
		}
	case change.strict && isSet(c.config.Observation):
		offered = newerOf(ctx, offered, c.config.Observation)
	}
	var facts pinning.Facts
	var more diag.Diagnostics
	c.plan.recordModel, facts, more = change.written(ctx, c.plan.recordModel, offered, r.services.now().UTC().Truncate(time.Second))
	return facts, append(diags, more...)
}

// newerOf returns the configured observation if it is of the same plumbing as
// the planned one, which may be an older one on record. It tells when the remote
// was last read.
func newerOf(ctx context.Context, planned gitpoll.Observation, configured types.Object) gitpoll.Observation {
	o, diags := genuineObservation(ctx, configured)
	own, err := planned.Plumbing()
	other, otherErr := o.Plumbing()
	if diags.HasError() || err != nil || otherErr != nil || own != other || o.Error != "" {
		return planned
	}
	return o
}
