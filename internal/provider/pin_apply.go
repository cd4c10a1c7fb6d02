package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// Create records what was planned.
func (r *pinResource) Create(ctx context.Context, req resource.CreateRequest, resp *resource.CreateResponse) {
	var c pinChange
	resp.Diagnostics.Append(req.Config.Get(ctx, &c.config)...)
	resp.Diagnostics.Append(req.Plan.Get(ctx, &c.plan)...)
	if resp.Diagnostics.HasError() {
		return
	}
	facts, diags := r.apply(ctx, &c)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &c.plan)...)
	resp.Diagnostics.Append(writePrivate(ctx, resp.Private, facts)...)
}

// Update records what was planned.
func (r *pinResource) Update(ctx context.Context, req resource.UpdateRequest, resp *resource.UpdateResponse) {
	c, diags := loadChange(ctx, req.Config, req.Plan, req.State, req.Private)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	facts, diags := r.apply(ctx, &c)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &c.plan)...)
	resp.Diagnostics.Append(writePrivate(ctx, resp.Private, facts)...)
}

// Delete forgets the pin: there is nothing elsewhere to delete.
func (r *pinResource) Delete(context.Context, resource.DeleteRequest, *resource.DeleteResponse) {}

// apply turns c.plan into the state to record, and refuses to record anything
// but what was planned (invariant I3).
func (r *pinResource) apply(ctx context.Context, c *pinChange) (pinning.Facts, diag.Diagnostics) {
	planned := c.plan
	now := r.services.now().UTC().Truncate(time.Second)
	change, diags := c.change(ctx)
	if diags.HasError() {
		return pinning.Facts{}, diags
	}
	out, more := change.settle(ctx, r.services, r.services.readOnce)
	diags.Append(more...)
	if diags.HasError() {
		return pinning.Facts{}, diags
	}
	diags.Append(out.refusal(now)...)
	if diags.HasError() {
		return pinning.Facts{}, diags
	}
	record := pinning.Apply(out.input, out.decision, now)
	if !planned.Commit.IsUnknown() && planned.Commit.ValueString() != record.Pin.Commit {
		diags.Append(planBroken(named(out.target, record.Pin.TrackingRef), planned.Commit.ValueString(), record.Pin.Commit))
		return pinning.Facts{}, diags
	}
	diags.Append(c.plan.fill(ctx, record)...)
	return record.Facts, diags
}
