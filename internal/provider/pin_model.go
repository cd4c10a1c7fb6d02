package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
)

// pinModel is the resource in HCL and in state.
type pinModel struct {
	selectorModel
	policyModel
	recordModel
	Observation types.Object `tfsdk:"observation"`
}

// strict reports whether the pin is fed an observation.
func (m pinModel) strict() bool { return !m.Observation.IsNull() }

// validateFeed checks that the pin is fed in exactly one of the two ways. What
// is unknown may still turn out to be null, and is judged once it is known.
func (m pinModel) validateFeed(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	switch {
	case isSet(m.Observation) && m.selectorModel.set():
		diags.AddError("A pin is fed in one way only",
			"Both observation and a url or selector are set. Use observation (the strict form: apply records what the plan showed), "+
				"or url with one of branch, tag, ref and semver (self-observing), not both.")
	case m.Observation.IsNull() && m.selectorModel.absent():
		diags.AddError("A pin needs an observation or a url",
			"The observation is null or missing, and there is no url either. Set observation = data.gitpin_ref.NAME.observation "+
				"(it is never null, even where the reading failed), or url with one of branch, tag, ref and semver.")
	case isSet(m.Observation) && !wholly(ctx, m.Observation):
		diags.Append(forgedObservation())
	case m.Observation.IsNull():
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
