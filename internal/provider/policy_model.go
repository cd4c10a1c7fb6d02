package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

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
