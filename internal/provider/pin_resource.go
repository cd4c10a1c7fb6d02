package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema/stringdefault"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// pinResource is resource "gitpin_pin": it records one commit.
type pinResource struct{ services *services }

var (
	_ resource.ResourceWithConfigure      = (*pinResource)(nil)
	_ resource.ResourceWithValidateConfig = (*pinResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*pinResource)(nil)
	_ resource.ResourceWithImportState    = (*pinResource)(nil)
)

func newPinResource() resource.Resource { return &pinResource{} }

func (r *pinResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_pin"
}

func (r *pinResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.services, _ = req.ProviderData.(*services)
}

func (r *pinResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	attributes := resourceSelector()
	maps.Copy(attributes, policySchema())
	maps.Copy(attributes, recordSchema())
	attributes["observation"] = schema.ObjectAttribute{
		Optional: true, AttributeTypes: observationTypes,
		MarkdownDescription: "The `observation` of a `gitpin_ref`, as it is: the strict form. The reading travels inside the plan file, so apply records the commit that the plan showed even when the ref has moved since. " +
			"Excludes `url` and the selectors. In state it stays the first one of its url and selector; what is pinned is in `commit`. Its checksum guards against accidental edits; it is no security boundary.",
	}
	resp.Schema = schema.Schema{
		MarkdownDescription: "Records the commit of a git ref in state, and moves only through a plan that shows it. Feed it an `observation` (the strict form) or a `url` and a selector (self-observing).",
		Attributes:          attributes,
	}
}

// recordSchema returns the attributes that show a pinning.Record.
func recordSchema() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"commit":          recorded("The pinned commit: the peeled id. Known in the plan."),
		"object":          recorded("The id that the ref itself named: the tag object for an annotated tag."),
		"tracking_ref":    recorded("Full name of the ref that the selector resolved to."),
		"version":         recorded("The version that `semver` chose; null otherwise."),
		"previous_commit": recorded("The commit pinned before this one; null if there was none."),
		"pinned_at":       recorded("When the pin was recorded (RFC 3339, UTC)."),
		"latest": schema.SingleNestedAttribute{
			Computed:            true,
			MarkdownDescription: "The newest observation, whatever the policies say. It changes only when the remote moves.",
			Attributes: map[string]schema.Attribute{
				"commit":       recorded("The peeled id."),
				"object":       recorded("The id that the ref itself names."),
				"tracking_ref": recorded("Full name of the ref."),
				"version":      recorded("The version, for `semver`; null otherwise."),
				"observed_at":  recorded("When it was first seen (RFC 3339, UTC)."),
			},
		},
		"update_available": schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether there is a candidate, the newest observation that the policies let the pin move to, and it differs from the pin."},
		"ready":            schema.BoolAttribute{Computed: true, MarkdownDescription: "Whether the pin can be trusted; `reason` says why. Meant for `check` blocks."},
		"reason":           recorded("A fixed code, in the order in which they are checked: `tag_moved`, `never_read` and `stale` (not ready); `ref_missing` and `ok` (ready)."),
	}
}

// recorded is a computed text. ModifyPlan sets each one itself, so none needs a
// plan modifier.
func recorded(doc string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: doc}
}

// policySchema returns the attributes of policyModel.
func policySchema() map[string]schema.Attribute {
	return map[string]schema.Attribute{
		"update": choice(string(pinning.UpdateHold),
			"When the pin moves: `\"hold\"` (default) stays until `triggers` changes; `\"follow\"` proposes the candidate in every plan.",
			string(pinning.UpdateFollow)),
		"triggers": schema.MapAttribute{
			Optional: true, ElementType: types.StringType,
			MarkdownDescription: "Map of strings; any change re-pins to the candidate, in place. Change a committed value: what is given by `-var` once changes back in the next plan. Null equals `{}`. The first triggers of an imported pin are recorded, not obeyed.",
		},
		"on_tag_moved": choice(string(pinning.TagMovedError),
			"When a pinned tag names another object: `\"error\"` (default), `\"hold\"` (warn, keep) or `\"follow\"` (the tag is treated like a branch: `update` decides).",
			string(pinning.TagMovedHold), string(pinning.TagMovedFollow)),
		"on_missing": choice(string(pinning.MissingHold),
			"When a reachable remote no longer has the ref: `\"hold\"` (default, warn) or `\"error\"`. A `semver` pin that may move takes another match.",
			string(pinning.MissingError)),
		"min_observed_age": schema.StringAttribute{
			Optional: true, Validators: []validator.String{notNegative()},
			MarkdownDescription: "A new commit becomes the candidate only once this provider has seen it for so long (a Go duration). The first reading pins the tip. " +
				"Sightings are remembered when a refresh is recorded: a pipeline that applies only when there are changes must schedule `terraform apply -refresh-only`. A changed age counts from the next refresh on.",
		},
		"freshness_threshold": schema.StringAttribute{
			Optional: true, Validators: []validator.String{positive()},
			MarkdownDescription: "The plan fails when the last successful reading is older (a Go duration). Default: never. " +
				"Successes are remembered when a refresh is recorded: a pipeline that applies only when there are changes must schedule `terraform apply -refresh-only`.",
		},
	}
}

// choice is an optional attribute with a default and other values.
func choice(byDefault, doc string, others ...string) schema.Attribute {
	return schema.StringAttribute{
		Optional: true, Computed: true, MarkdownDescription: doc,
		Default:    stringdefault.StaticString(byDefault),
		Validators: []validator.String{stringvalidator.OneOf(append(others, byDefault)...)},
	}
}

func (r *pinResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config pinModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.validateFeed(ctx)...)
	}
}
