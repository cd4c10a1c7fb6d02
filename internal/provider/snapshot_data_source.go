package provider

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/hashicorp/terraform-plugin-framework-validators/mapvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
)

// snapshotDataSource is data "gitpin_snapshot": one sweep over many targets.
type snapshotDataSource struct{ services *services }

var (
	_ datasource.DataSourceWithConfigure      = (*snapshotDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*snapshotDataSource)(nil)
)

func newSnapshotDataSource() datasource.DataSource { return &snapshotDataSource{} }

type snapshotModel struct {
	Targets      types.Map    `tfsdk:"targets"`
	MaxAge       types.String `tfsdk:"max_age"`
	OnError      types.String `tfsdk:"on_error"`
	Observations types.Map    `tfsdk:"observations"`
	Errors       types.Map    `tfsdk:"errors"`
	SweptAt      types.String `tfsdk:"swept_at"`
}

func (d *snapshotDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_snapshot"
}

func (d *snapshotDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Observes many refs in one sweep: hosts in parallel, at most `per_host_concurrency` readings at a time on one host, one reading for all targets on one repository. All results are of this sweep.",
		Attributes: map[string]schema.Attribute{
			"targets": schema.MapNestedAttribute{
				Required: true, MarkdownDescription: "What to observe: a url and a selector each, as in `gitpin_ref`.",
				Validators:   []validator.Map{mapvalidator.SizeAtLeast(1)},
				NestedObject: schema.NestedAttributeObject{Attributes: dataSourceSelector()},
			},
			"max_age": schema.StringAttribute{
				Optional: true, Validators: []validator.String{notNegative()},
				MarkdownDescription: "How old a shared reading of this run may be; default: the provider's `max_age`.",
			},
			"on_error": schema.StringAttribute{
				Optional: true, Validators: []validator.String{stringvalidator.OneOf("fail", "record")},
				MarkdownDescription: "What a target that cannot be observed is: `\"fail\"` (default): an error that lists all of them; or `\"record\"`: its observation holds the error and no commit, and a pin that is fed it holds.",
			},
			"observations": schema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "An observation for every target, to hand to a `gitpin_pin_set` or, one by one, to a `gitpin_pin`.",
				NestedObject: schema.NestedAttributeObject{Attributes: observationAttributes()},
			},
			"errors":   schema.MapAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "Why, for the targets that could not be observed; empty if there are none."},
			"swept_at": computedString("When the sweep began (RFC 3339, UTC). It differs from run to run."),
		},
	}
}

func (d *snapshotDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.services, _ = req.ProviderData.(*services)
}

func (d *snapshotDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config snapshotModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	_, diags := config.parse(ctx)
	resp.Diagnostics.Append(diags...)
}

// parse returns the targets that are known, and judges all of them.
func (m snapshotModel) parse(ctx context.Context) (map[string]gitpoll.Target, diag.Diagnostics) {
	var diags diag.Diagnostics
	targets := map[string]gitpoll.Target{}
	elements := m.Targets.Elements()
	for _, name := range sortedNames(elements) {
		if elements[name].IsNull() {
			diags.AddError("A target is null", fmt.Sprintf("The target %q is null. Leave it out of the map, or give it a value.", name))
			continue
		}
		if elements[name].IsUnknown() {
			continue
		}
		s, more := selectorOf(ctx, elements[name])
		diags.Append(more...)
		own := s.validate(ctx)
		if !own.HasError() && s.known(ctx) {
			target, more := s.target(ctx)
			own.Append(more...)
			targets[name] = target
		}
		diags.Append(forMember(name, own)...)
	}
	return targets, diags
}

func (d *snapshotDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model snapshotModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	targets, diags := model.parse(ctx)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	if err := d.services.ready(); err != nil {
		if req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
			return
		}
		resp.Diagnostics.Append(failed(err))
		return
	}
	began := d.services.now()
	results := d.services.observer.Sweep(ctx, targets, wantAge(model.MaxAge), true)
	resp.Diagnostics.Append(model.fill(ctx, results, began)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

// fill sets the outputs. The errors list every target that failed, unless they
// are to be recorded.
func (m *snapshotModel) fill(ctx context.Context, results map[string]gitpoll.Result, began time.Time) diag.Diagnostics {
	var diags diag.Diagnostics
	observations, failures := map[string]attr.Value{}, map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(results)) {
		r := results[name]
		object, more := observationObject(ctx, r.Observation)
		diags.Append(more...)
		observations[name] = object
		if r.Err == nil {
			continue
		}
		failures[name] = r.Err.Error()
		if m.OnError.ValueString() != "record" || neverRecorded(r.Err) {
			diags.Append(forMember(name, diag.Diagnostics{failed(r.Err)})...)
		}
	}
	var more diag.Diagnostics
	m.Observations = types.MapValueMust(types.ObjectType{AttrTypes: observationTypes}, observations)
	m.Errors, more = types.MapValueFrom(ctx, types.StringType, failures)
	m.SweptAt = types.StringValue(gitpoll.FormatTime(began))
	return append(diags, more...)
}

// neverRecorded reports whether err is no fact about the remote: an interrupt, a
// wrong configuration, a provider value that is not known yet.
func neverRecorded(err error) bool {
	switch fault.KindOf(err) {
	case fault.Canceled, fault.Input, fault.CredentialsUnknown:
		return true
	}
	return false
}
