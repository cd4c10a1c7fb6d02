package provider

import (
	"context"
	"maps"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
)

// refDataSource is data "gitpin_ref": it observes one ref.
type refDataSource struct{ services *services }

var (
	_ datasource.DataSourceWithConfigure      = (*refDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*refDataSource)(nil)
)

func newRefDataSource() datasource.DataSource { return &refDataSource{} }

// refModel is the data source in HCL.
type refModel struct {
	selectorModel
	MaxAge       types.String `tfsdk:"max_age"`
	OnMissing    types.String `tfsdk:"on_missing"`
	OnError      types.String `tfsdk:"on_error"`
	Wait         types.Object `tfsdk:"wait"`
	Commit       types.String `tfsdk:"commit"`
	Object       types.String `tfsdk:"object"`
	TrackingRef  types.String `tfsdk:"tracking_ref"`
	SymrefTarget types.String `tfsdk:"symref_target"`
	Version      types.String `tfsdk:"version"`
	ObjectFormat types.String `tfsdk:"object_format"`
	ObservedAt   types.String `tfsdk:"observed_at"`
	Error        types.String `tfsdk:"error"`
	Observation  types.Object `tfsdk:"observation"`
}

type waitModel struct {
	Timeout  types.String `tfsdk:"timeout"`
	Interval types.String `tfsdk:"interval"`
}

func (d *refDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_ref"
}

func (d *refDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	attributes := dataSourceSelector()
	maps.Copy(attributes, map[string]schema.Attribute{
		"max_age": schema.StringAttribute{
			Optional: true, Validators: []validator.String{notNegative()},
			MarkdownDescription: "How old a shared reading of this run may be; default: the provider's `max_age`. Set `\"0s\"` where the data source depends on a resource that pushes.",
		},
		"on_missing": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.OneOf("error", "null")},
			MarkdownDescription: "What a ref that the remote does not advertise is: `\"error\"` (default, with near names), or `\"null\"`: `commit` and the other outputs are null.",
		},
		"on_error": schema.StringAttribute{
			Optional: true, Validators: []validator.String{stringvalidator.OneOf("error", "record")},
			MarkdownDescription: "What any failure is: `\"error\"` (default), or `\"record\"`: the outputs are null, `error` says why, and a pin that is fed the `observation` holds.",
		},
		"wait": schema.SingleNestedAttribute{
			Optional: true,
			MarkdownDescription: "Polls until the ref is advertised. Without `depends_on` this waits during the plan. " +
				"Put `depends_on` on the resource that pushes to wait during the apply instead.",
			Attributes: map[string]schema.Attribute{
				"timeout": schema.StringAttribute{
					Required: true, Validators: []validator.String{positive()},
					MarkdownDescription: "How long to wait in all, as a Go duration.",
				},
				"interval": schema.StringAttribute{
					Optional: true, Validators: []validator.String{positive()},
					MarkdownDescription: "Time between two readings. Default `\"5s\"`.",
				},
			},
		},
		"commit":        computedString("The peeled id: for an annotated tag the id that it leads to. An advertisement does not say an object's type: a tag may name a tree or a blob."),
		"object":        computedString(observationFields["object"]),
		"tracking_ref":  computedString(observationFields["tracking_ref"]),
		"symref_target": computedString("The ref that a symbolic ref (`HEAD`) points at; null otherwise."),
		"version":       computedString("The version that `semver` chose; null otherwise."),
		"object_format": computedString(observationFields["object_format"]),
		"observed_at":   computedString("When the reading was made (RFC 3339, UTC). It differs from run to run: do not feed it to what must not change."),
		"error":         computedString("Why the reading failed, with `on_error = \"record\"` or `on_missing = \"null\"`; null if it did not."),
		"observation": schema.SingleNestedAttribute{
			Computed: true, Attributes: observationAttributes(),
			MarkdownDescription: "All of it in one object, to hand to a `gitpin_pin` as it is. Never null; no field is null.",
		},
	})
	resp.Schema = schema.Schema{
		MarkdownDescription: "Observes one ref of a remote: reads the ref advertisement, as `git ls-remote` does, and returns the commit. Nothing is cloned and nothing is recorded; to keep the commit until you say otherwise, hand `observation` to a `gitpin_pin`.",
		Attributes:          attributes,
	}
}

func computedString(doc string) schema.Attribute {
	return schema.StringAttribute{Computed: true, MarkdownDescription: doc}
}

// observationAttributes describes an observation object.
func observationAttributes() map[string]schema.Attribute {
	fields := map[string]schema.Attribute{}
	for name, text := range observationFields {
		fields[name] = computedString(text)
	}
	fields["include_prereleases"] = schema.BoolAttribute{Computed: true, MarkdownDescription: observationFields["include_prereleases"]}
	return fields
}

func (d *refDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.services, _ = req.ProviderData.(*services)
}

func (d *refDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config refModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(config.validate(ctx)...)
	}
}

func (d *refDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model refModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	target, diags := model.target(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	observation, err := d.observe(ctx, model, target)
	if err != nil {
		if fault.KindOf(err) == fault.CredentialsUnknown && req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
			return
		}
		if !model.tolerates(err) {
			resp.Diagnostics.Append(failed(err))
			return
		}
		observation = gitpoll.Failed(target, err, d.services.now())
	}
	resp.Diagnostics.Append(model.fill(ctx, observation)...)
	resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
}

// observe makes the observation, waiting for the ref where that is asked for.
func (d *refDataSource) observe(ctx context.Context, model refModel, target gitpoll.Target) (gitpoll.Observation, error) {
	if !model.Wait.IsNull() {
		var w waitModel
		if diags := model.Wait.As(ctx, &w, basetypes.ObjectAsOptions{}); diags.HasError() {
			return gitpoll.Observation{}, &fault.Error{Kind: fault.Input, Happened: "wait cannot be read"}
		}
		return d.services.wait(ctx, target, duration(w.Timeout, 0), duration(w.Interval, 5*time.Second))
	}
	return d.services.observe(ctx, target, wantAge(model.MaxAge))
}

// tolerates reports whether the configuration asks to record err.
func (m refModel) tolerates(err error) bool {
	if neverRecorded(err) {
		return false
	}
	switch fault.KindOf(err) {
	case fault.RefNotFound, fault.EmptyRepository, fault.NoHead:
		return m.OnMissing.ValueString() == "null" || m.OnError.ValueString() == "record"
	}
	return m.OnError.ValueString() == "record"
}

// fill sets the outputs.
func (m *refModel) fill(ctx context.Context, o gitpoll.Observation) diag.Diagnostics {
	m.Commit, m.Object, m.TrackingRef = stringOrNull(o.Commit), stringOrNull(o.Object), stringOrNull(o.TrackingRef)
	m.SymrefTarget, m.Version, m.ObjectFormat = stringOrNull(o.SymrefTarget), stringOrNull(o.Version), stringOrNull(o.ObjectFormat)
	m.ObservedAt, m.Error = stringOrNull(gitpoll.FormatTime(o.ObservedAt)), stringOrNull(o.Error)
	var diags diag.Diagnostics
	m.Observation, diags = observationObject(ctx, o)
	return diags
}

func stringOrNull(s string) types.String {
	if s == "" {
		return types.StringNull()
	}
	return types.StringValue(s)
}
