package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// pinModel is the resource in HCL and in state.
type pinModel struct {
	selectorModel
	policyModel
	Observation     types.Object `tfsdk:"observation"`
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

// policyModel is the part of a pin that says how it may move.
type policyModel struct {
	Update             types.String `tfsdk:"update"`
	Triggers           types.Map    `tfsdk:"triggers"`
	OnTagMoved         types.String `tfsdk:"on_tag_moved"`
	OnMissing          types.String `tfsdk:"on_missing"`
	MinObservedAge     types.String `tfsdk:"min_observed_age"`
	FreshnessThreshold types.String `tfsdk:"freshness_threshold"`
}

// policy returns the policy. The values must be known.
func (m policyModel) policy() pinning.Policy {
	return pinning.Policy{
		Update:             pinning.Update(m.Update.ValueString()),
		OnTagMoved:         pinning.TagMoved(m.OnTagMoved.ValueString()),
		OnMissing:          pinning.Missing(m.OnMissing.ValueString()),
		MinObservedAge:     duration(m.MinObservedAge, 0),
		FreshnessThreshold: duration(m.FreshnessThreshold, 0),
	}
}

// known reports whether the policy and the triggers are known.
func (m policyModel) known(ctx context.Context) bool {
	for _, v := range []attr.Value{m.Update, m.Triggers, m.OnTagMoved, m.OnMissing, m.MinObservedAge, m.FreshnessThreshold} {
		if !wholly(ctx, v) {
			return false
		}
	}
	return true
}

func (m policyModel) equal(o policyModel) bool {
	return m.Update.Equal(o.Update) && m.Triggers.Equal(o.Triggers) && m.OnTagMoved.Equal(o.OnTagMoved) &&
		m.OnMissing.Equal(o.OnMissing) && m.MinObservedAge.Equal(o.MinObservedAge) && m.FreshnessThreshold.Equal(o.FreshnessThreshold)
}

// triggersChanged compares with what is on record; null equals an empty map.
func (m policyModel) triggersChanged(prior policyModel) bool {
	if len(m.Triggers.Elements()) == 0 && len(prior.Triggers.Elements()) == 0 {
		return false
	}
	return !m.Triggers.Equal(prior.Triggers)
}

// strict reports whether the pin is fed an observation.
func (m pinModel) strict() bool { return !m.Observation.IsNull() }

// validateFeed checks that the pin is fed in exactly one of the two ways.
func (m pinModel) validateFeed(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	switch {
	case m.strict() && !m.selectorModel.absent():
		diags.AddError("A pin is fed in one way only",
			"Both observation and a url or selector are set. Use observation (the strict form: apply records what the plan showed), "+
				"or url with one of branch, tag, ref and semver (self-observing), not both.")
	case !m.strict() && m.selectorModel.absent():
		diags.AddError("A pin needs an observation or a url",
			"The observation is null or missing, and there is no url either. Set observation = data.gitpin_ref.NAME.observation "+
				"(it is never null, even where the reading failed), or url with one of branch, tag, ref and semver.")
	case !m.strict():
		diags.Append(m.selectorModel.validate(ctx)...)
	}
	return diags
}

// recordedTarget returns the plumbing that a state is about.
func (m pinModel) recordedTarget(ctx context.Context) (gitpoll.Target, diag.Diagnostics) {
	if !m.strict() {
		return m.selectorModel.target(ctx)
	}
	o, _, diags := observationFrom(ctx, m.Observation)
	return o.Target, diags
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

// record returns what the state remembers. facts come from private state.
func (m pinModel) record(ctx context.Context, facts pinning.Facts) (pinning.Record, diag.Diagnostics) {
	var diags diag.Diagnostics
	rec := pinning.Record{
		Pin: pinning.Seen{Commit: m.Commit.ValueString(), Object: m.Object.ValueString(),
			TrackingRef: m.TrackingRef.ValueString(), Version: m.Version.ValueString()},
		Previous:        m.PreviousCommit.ValueString(),
		UpdateAvailable: m.UpdateAvailable.ValueBool(),
		Ready:           m.Ready.ValueBool(),
		Reason:          pinning.Reason(m.Reason.ValueString()),
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
func (m *pinModel) fill(ctx context.Context, rec pinning.Record) diag.Diagnostics {
	m.Commit, m.Object = types.StringValue(rec.Pin.Commit), types.StringValue(rec.Pin.Object)
	m.TrackingRef, m.Version = types.StringValue(rec.Pin.TrackingRef), stringOrNull(rec.Pin.Version)
	m.PreviousCommit = stringOrNull(rec.Previous)
	m.PinnedAt = types.StringValue(gitpoll.FormatTime(rec.Pin.At))
	m.UpdateAvailable, m.Ready = types.BoolValue(rec.UpdateAvailable), types.BoolValue(rec.Ready)
	m.Reason = types.StringValue(string(rec.Reason))
	return m.fillLatest(ctx, rec.Latest, types.StringValue(gitpoll.FormatTime(rec.Latest.At)))
}

func (m *pinModel) fillLatest(ctx context.Context, latest pinning.Seen, at types.String) diag.Diagnostics {
	var diags diag.Diagnostics
	m.Latest, diags = types.ObjectValueFrom(ctx, latestTypes, latestModel{
		Commit: types.StringValue(latest.Commit), Object: types.StringValue(latest.Object),
		TrackingRef: types.StringValue(latest.TrackingRef), Version: stringOrNull(latest.Version), ObservedAt: at,
	})
	return diags
}

// unknown makes every computed attribute unknown: an input is not known yet,
// and it is resolved once, at apply.
func (m *pinModel) unknown() {
	m.Commit, m.Object, m.TrackingRef, m.Version = types.StringUnknown(), types.StringUnknown(), types.StringUnknown(), types.StringUnknown()
	m.PreviousCommit, m.PinnedAt = types.StringUnknown(), types.StringUnknown()
	m.unknownState()
}

// unknownState makes unknown what a later reading may still change, and leaves
// the pin itself alone.
func (m *pinModel) unknownState() {
	m.Latest = types.ObjectUnknown(latestTypes)
	m.UpdateAvailable, m.Ready, m.Reason = types.BoolUnknown(), types.BoolUnknown(), types.StringUnknown()
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
	return trackingRef + " of " + t.URL
}
