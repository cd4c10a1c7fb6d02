package provider

import (
	"context"
	"maps"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/resource/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// pinSetResource is resource "gitpin_pin_set": many pins that move together or
// not at all.
type pinSetResource struct{ services *services }

var (
	_ resource.ResourceWithConfigure      = (*pinSetResource)(nil)
	_ resource.ResourceWithValidateConfig = (*pinSetResource)(nil)
	_ resource.ResourceWithModifyPlan     = (*pinSetResource)(nil)
)

func newPinSetResource() resource.Resource { return &pinSetResource{} }

func (r *pinSetResource) Metadata(_ context.Context, req resource.MetadataRequest, resp *resource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_pin_set"
}

func (r *pinSetResource) Configure(_ context.Context, req resource.ConfigureRequest, _ *resource.ConfigureResponse) {
	r.services, _ = req.ProviderData.(*services)
}

func (r *pinSetResource) Schema(_ context.Context, _ resource.SchemaRequest, resp *resource.SchemaResponse) {
	member := resourceSelector()
	member["url"] = schema.StringAttribute{Required: true, MarkdownDescription: urlDoc}
	attributes := policySchema()
	maps.Copy(attributes, map[string]schema.Attribute{
		"pins": schema.MapNestedAttribute{
			Optional:            true,
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1)},
			MarkdownDescription: "The members, each a url and a selector: the self-observing form. Excludes `observations`. A renamed key with the same url and selector keeps its pin.",
			NestedObject:        schema.NestedAttributeObject{Attributes: member},
		},
		"observations": schema.MapAttribute{
			Optional: true, ElementType: types.ObjectType{AttrTypes: observationTypes},
			Validators:          []validator.Map{mapvalidator.SizeAtLeast(1)},
			MarkdownDescription: "The `observations` of a `gitpin_snapshot`, or a map of `observation` objects of `gitpin_ref`: the strict form. Excludes `pins`.",
		},
		"commits": schema.MapAttribute{
			Computed: true, ElementType: types.StringType,
			MarkdownDescription: "The pinned commits by name. Known in the plan.",
		},
		"members": schema.MapNestedAttribute{
			Computed: true, MarkdownDescription: "Each pin by name, with the attributes of `gitpin_pin`.",
			NestedObject: schema.NestedAttributeObject{Attributes: recordSchema()},
		},
		"pins_json": recorded("The commits as canonical JSON, `{\"name\":\"commit\",…}` sorted by name: made to be written into a file such as `pins.auto.tfvars.json`."),
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "Records the commits of many refs, all or none: if one member cannot be observed, no member moves. Adding a member needs only that member's reading, removing one needs none, and the others' commits stay known and unchanged in the plan.",
		Attributes:          attributes,
	}
}

func (r *pinSetResource) ValidateConfig(ctx context.Context, req resource.ValidateConfigRequest, resp *resource.ValidateConfigResponse) {
	var config pinSetModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.validateFeed(ctx)...)
	}
}
