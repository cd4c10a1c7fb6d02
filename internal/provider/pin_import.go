package provider

import (
	"context"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// ImportState takes "<url> <full ref>". It records no commit: the Read that
// core calls next observes the tip.
func (r *pinResource) ImportState(ctx context.Context, req resource.ImportStateRequest, resp *resource.ImportStateResponse) {
	model, diags := importedPin(ctx, req.ID)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// importedPin parses an import id into the natural spelling: branch for
// refs/heads/, tag for refs/tags/, else ref. The id is split at its last space:
// no ref name holds one, a local path may.
func importedPin(ctx context.Context, id string) (pinModel, diag.Diagnostics) {
	var diags diag.Diagnostics
	at := strings.LastIndex(id, " ")
	if at < 0 {
		// The id may hold a URL with a secret: it is not repeated.
		diags.AddError("Invalid import id", "The id has no space in it. It must be the url, one space and a full ref name: "+
			"\"https://git.example.com/acme/app.git refs/heads/main\". A semver pin cannot be imported.")
		return pinModel{}, diags
	}
	url, full := id[:at], id[at+1:]
	if err := gitref.CheckFull(full); err != nil {
		diags.AddError("Invalid import id", "The part behind the last space must be a full ref name: "+err.Error())
		return pinModel{}, diags
	}
	m := pinModel{
		selectorModel: selectorModel{URL: types.StringValue(url), TagFilter: types.ObjectNull(tagFilterTypes)},
		policyModel: policyModel{
			Update:     types.StringValue(string(pinning.UpdateHold)),
			OnTagMoved: types.StringValue(string(pinning.TagMovedError)),
			OnMissing:  types.StringValue(string(pinning.MissingHold)),
			Triggers:   types.MapNull(types.StringType),
		},
		Observation: types.ObjectNull(observationTypes),
		recordModel: recordModel{Latest: types.ObjectNull(latestTypes)},
	}
	switch kind, name := gitref.Natural(full); kind {
	case "branch":
		m.Branch = types.StringValue(name)
	case "tag":
		m.Tag = types.StringValue(name)
	default:
		m.Ref = types.StringValue(name)
	}
	diags.Append(m.selectorModel.validate(ctx)...)
	return m, diags
}
