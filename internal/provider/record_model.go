package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// recordModel shows a pinning.Record: the computed attributes of a pin and of a
// member of a pin set.
type recordModel struct {
	Commit          types.String `tfsdk:"commit"`
	Object          types.String `tfsdk:"object"`
	TrackingRef     types.String `tfsdk:"tracking_ref"`
	Version         types.String `tfsdk:"version"`
	PreviousCommit  types.String `tfsdk:"previous_commit"`
	PinnedAt        types.String `tfsdk:"pinned_at"`
	Latest          types.Object `tfsdk:"latest"`
	UpdateAvailable types.Bool   `tfsdk:"update_available"`
	Ready           types.Bool   `tfsdk:"ready"`
	Reason          types.String `tfsdk:"reason"`
}

var recordTypes = map[string]attr.Type{
	"commit": types.StringType, "object": types.StringType, "tracking_ref": types.StringType,
	"version": types.StringType, "previous_commit": types.StringType, "pinned_at": types.StringType,
	"latest": types.ObjectType{AttrTypes: latestTypes}, "update_available": types.BoolType,
	"ready": types.BoolType, "reason": types.StringType,
}

type latestModel struct {
	Commit      types.String `tfsdk:"commit"`
	Object      types.String `tfsdk:"object"`
	TrackingRef types.String `tfsdk:"tracking_ref"`
	Version     types.String `tfsdk:"version"`
	ObservedAt  types.String `tfsdk:"observed_at"`
}

var latestTypes = map[string]attr.Type{
	"commit": types.StringType, "object": types.StringType, "tracking_ref": types.StringType,
	"version": types.StringType, "observed_at": types.StringType,
}

// record returns what the state remembers of a pin in the strict form or the
// other. facts come from private state.
func (m recordModel) record(ctx context.Context, facts pinning.Facts, strict bool) (pinning.Record, diag.Diagnostics) {
	var diags diag.Diagnostics
	rec := pinning.Record{
		Pin: pinning.Seen{Commit: m.Commit.ValueString(), Object: m.Object.ValueString(),
			TrackingRef: m.TrackingRef.ValueString(), Version: m.Version.ValueString()},
		Previous:        m.PreviousCommit.ValueString(),
		UpdateAvailable: m.UpdateAvailable.ValueBool(),
		Ready:           m.Ready.ValueBool(),
		Reason:          pinning.Reason(m.Reason.ValueString()),
		Strict:          strict,
		Facts:           facts,
	}
	rec.Pin.At = parseTime(m.PinnedAt.ValueString())
	if !m.Latest.IsNull() {
		var l latestModel
		diags.Append(m.Latest.As(ctx, &l, basetypes.ObjectAsOptions{})...)
		rec.Latest = pinning.Seen{Commit: l.Commit.ValueString(), Object: l.Object.ValueString(),
			TrackingRef: l.TrackingRef.ValueString(), Version: l.Version.ValueString()}
		rec.Latest.At = parseTime(l.ObservedAt.ValueString())
	}
	return rec, diags
}

// fill sets the computed attributes from a record.
func (m *recordModel) fill(ctx context.Context, rec pinning.Record) diag.Diagnostics {
	m.Commit, m.Object = types.StringValue(rec.Pin.Commit), types.StringValue(rec.Pin.Object)
	m.TrackingRef, m.Version = types.StringValue(rec.Pin.TrackingRef), stringOrNull(rec.Pin.Version)
	m.PreviousCommit = stringOrNull(rec.Previous)
	m.PinnedAt = types.StringValue(gitpoll.FormatTime(rec.Pin.At))
	m.UpdateAvailable, m.Ready = types.BoolValue(rec.UpdateAvailable), types.BoolValue(rec.Ready)
	m.Reason = types.StringValue(string(rec.Reason))
	return m.fillLatest(ctx, rec.Latest, types.StringValue(gitpoll.FormatTime(rec.Latest.At)))
}

func (m *recordModel) fillLatest(ctx context.Context, latest pinning.Seen, at types.String) diag.Diagnostics {
	var diags diag.Diagnostics
	m.Latest, diags = types.ObjectValueFrom(ctx, latestTypes, latestModel{
		Commit: types.StringValue(latest.Commit), Object: types.StringValue(latest.Object),
		TrackingRef: types.StringValue(latest.TrackingRef), Version: stringOrNull(latest.Version), ObservedAt: at,
	})
	return diags
}

// unknown makes every computed attribute unknown: an input is not known yet,
// and it is resolved once, at apply.
func (m *recordModel) unknown() {
	m.Commit, m.Object, m.TrackingRef, m.Version = types.StringUnknown(), types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
	m.PreviousCommit, m.PinnedAt = types.StringUnknown(), types.StringUnknown()
	m.unknownState()
}

// unknownState makes unknown what a later reading may still change, and leaves
// the pin itself alone.
func (m *recordModel) unknownState() {
	m.Latest = types.ObjectUnknown(latestTypes)
	m.UpdateAvailable, m.Ready, m.Reason = types.BoolUnknown(), types.BoolUnknown(), types.StringUnknown()
}

// plan shows a record whose times are not known yet: pinned_at of a pin that
// moves, and what a fresh reading will have seen, since the second plan, during
// apply, reads at another time.
func (m *recordModel) plan(ctx context.Context, out settled, record pinning.Record) diag.Diagnostics {
	diags := m.fill(ctx, record)
	if out.decision.Move {
		m.PinnedAt = types.StringUnknown()
	}
	if out.fresh {
		diags.Append(m.fillLatest(ctx, record.Latest, types.StringUnknown())...)
	}
	return diags
}

// samePin reports whether both pin the same thing.
func (m recordModel) samePin(o recordModel) bool {
	return m.Commit.Equal(o.Commit) && m.Object.Equal(o.Object) && m.TrackingRef.Equal(o.TrackingRef) && m.Version.Equal(o.Version)
}

// keep takes over the pin itself from a prior state, and leaves unknown what a
// later reading may still change.
func (m *recordModel) keep(prior recordModel) {
	*m = prior
	m.unknownState()
}

// seenOf is an observation as package pinning sees it.
func seenOf(o gitpoll.Observation) pinning.Seen {
	return pinning.Seen{Commit: o.Commit, Object: o.Object, TrackingRef: o.TrackingRef, Version: o.Version, At: o.ObservedAt}
}

// named says which ref of which remote, for diagnostics.
func named(t gitpoll.Target, trackingRef string) string {
	if trackingRef == "" {
		return t.URL
	}
	return gitref.Shown(trackingRef) + " of " + t.URL
}
