package provider

import (
	"context"
	"maps"
	"regexp"
	"slices"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework-validators/listvalidator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"golang.org/x/text/unicode/norm"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// refsDataSource is data "gitpin_refs": it lists the refs of a remote.
type refsDataSource struct{ services *services }

var (
	_ datasource.DataSourceWithConfigure      = (*refsDataSource)(nil)
	_ datasource.DataSourceWithValidateConfig = (*refsDataSource)(nil)
)

func newRefsDataSource() datasource.DataSource { return &refsDataSource{} }

type refsModel struct {
	URL           types.String `tfsdk:"url"`
	Prefixes      types.List   `tfsdk:"prefixes"`
	Pattern       types.String `tfsdk:"pattern"`
	MaxAge        types.String `tfsdk:"max_age"`
	Refs          types.Map    `tfsdk:"refs"`
	Names         types.List   `tfsdk:"names"`
	DefaultBranch types.String `tfsdk:"default_branch"`
	ObjectFormat  types.String `tfsdk:"object_format"`
}

var refTypes = map[string]attr.Type{"commit": types.StringType, "object": types.StringType, "symref_target": types.StringType}

func (d *refsDataSource) Metadata(_ context.Context, req datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = req.ProviderTypeName + "_refs"
}

func (d *refsDataSource) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Lists the refs that a remote advertises, by full name. Nothing is cloned and nothing is recorded.",
		Attributes: map[string]schema.Attribute{
			"url": schema.StringAttribute{Required: true, MarkdownDescription: urlDoc},
			"prefixes": schema.ListAttribute{
				Optional: true, ElementType: types.StringType,
				Validators: []validator.List{listvalidator.SizeAtLeast(1), listvalidator.NoNullValues(), listvalidator.ValueStringsAre(
					stringvalidator.RegexMatches(regexp.MustCompile(`^(HEAD$|refs/)`), "must be HEAD or begin with refs/, such as refs/tags/v1: it is compared with full ref names"))},
				MarkdownDescription: "Prefixes of full ref names, such as `refs/tags/` or `refs/heads/release-`. They are sent to the server, which then sends no more than that. Default: everything, `HEAD` included.",
			},
			"pattern": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Regular expression (RE2) that the full name must match; anchor it with `^` and `$` where the whole name is meant. Applied here, after `prefixes`.",
			},
			"max_age": schema.StringAttribute{
				Optional: true, Validators: []validator.String{notNegative()},
				MarkdownDescription: "How old a shared reading of this run may be; default: the provider's `max_age`.",
			},
			"refs": schema.MapNestedAttribute{
				Computed: true, MarkdownDescription: "The refs by full name. Empty for an empty repository.",
				NestedObject: schema.NestedAttributeObject{Attributes: map[string]schema.Attribute{
					"commit":        computedString("The peeled id."),
					"object":        computedString(observationFields["object"]),
					"symref_target": computedString("The ref that a symbolic ref (`HEAD`) points at; null otherwise."),
				}},
			},
			"names":          schema.ListAttribute{Computed: true, ElementType: types.StringType, MarkdownDescription: "The full names, sorted byte by byte."},
			"default_branch": computedString("Short name of the branch that `HEAD` points at, whether or not `HEAD` is listed; null if it is detached or the remote does not say."),
			"object_format":  computedString(observationFields["object_format"]),
		},
	}
}

func (d *refsDataSource) Configure(_ context.Context, req datasource.ConfigureRequest, _ *datasource.ConfigureResponse) {
	d.services, _ = req.ProviderData.(*services)
}

func (d *refsDataSource) ValidateConfig(ctx context.Context, req datasource.ValidateConfigRequest, resp *datasource.ValidateConfigResponse) {
	var config refsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	if !config.URL.IsUnknown() {
		resp.Diagnostics.Append(checkURL(config.URL.ValueString())...)
	}
	if _, err := regexp.Compile(config.Pattern.ValueString()); err != nil {
		resp.Diagnostics.AddAttributeError(path.Root("pattern"), "Invalid pattern", "The pattern is not a regular expression in RE2 syntax: "+err.Error()+".")
	}
}

func (d *refsDataSource) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var model refsModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &model)...)
	if resp.Diagnostics.HasError() {
		return
	}
	var prefixes []string
	resp.Diagnostics.Append(model.Prefixes.ElementsAs(ctx, &prefixes, false)...)
	if resp.Diagnostics.HasError() {
		return
	}
	query := lsremote.Everything()
	if len(prefixes) > 0 {
		query = lsremote.Query{Prefixes: prefixes}
	}
	ad, err := d.services.list(ctx, model.URL.ValueString(), query, model.MaxAge)
	if err != nil {
		if fault.KindOf(err) == fault.CredentialsUnknown && req.ClientCapabilities.DeferralAllowed {
			resp.Deferred = &datasource.Deferred{Reason: datasource.DeferredReasonProviderConfigUnknown}
			return
		}
		resp.Diagnostics.Append(failed(err))
		return
	}
	resp.Diagnostics.Append(model.fill(ctx, ad, query)...)
	if !resp.Diagnostics.HasError() {
		resp.Diagnostics.Append(resp.State.Set(ctx, &model)...)
	}
}

// list reads all refs that query wants and HEAD, which tells the default
// branch.
func (s *services) list(ctx context.Context, url string, query lsremote.Query, maxAge types.String) (*lsremote.Advertisement, error) {
	if err := s.ready(); err != nil {
		return nil, err
	}
	remote, err := giturl.Parse(url)
	if err != nil {
		return nil, err
	}
	return s.reader.Read(ctx, remote, lsremote.Query{Refs: []string{"HEAD"}, Prefixes: query.Prefixes}, wantAge(maxAge))
}

// wantAge is what a data source's max_age asks of a reading.
func wantAge(maxAge types.String) reading.Want {
	if maxAge.IsNull() {
		return reading.Want{}
	}
	age := duration(maxAge, 0)
	return reading.Want{MaxAge: &age}
}

// fill sets the outputs.
func (m *refsModel) fill(ctx context.Context, ad *lsremote.Advertisement, query lsremote.Query) diag.Diagnostics {
	var diags diag.Diagnostics
	pattern, err := regexp.Compile(m.Pattern.ValueString())
	if err != nil {
		diags.AddError("Invalid pattern", err.Error())
		return diags
	}
	refs := map[string]attr.Value{}
	spelling := map[string]string{}
	for _, ref := range ad.Refs {
		if !query.Wants(ref.Name) || !pattern.MatchString(ref.Name) {
			continue
		}
		// Terraform turns every text into Unicode's composed form: two names
		// that differ in form alone would become one key.
		key := norm.NFC.String(ref.Name)
		if other, twice := spelling[key]; twice {
			diags.Append(sameInUnicode(other, ref.Name))
			continue
		}
		spelling[key] = ref.Name
		refs[key] = types.ObjectValueMust(refTypes, map[string]attr.Value{
			"commit": types.StringValue(ref.Commit()), "object": types.StringValue(ref.ID), "symref_target": stringOrNull(ref.Target),
		})
	}
	m.Refs = types.MapValueMust(types.ObjectType{AttrTypes: refTypes}, refs)
	if ad.Skipped > 0 {
		diags.Append(skippedRefs(ad.Skipped))
	}
	// Not nil where there is none: that would be null, and an empty repository
	// has an empty list.
	sorted := append([]string{}, slices.Sorted(maps.Keys(refs))...)
	names, more := types.ListValueFrom(ctx, types.StringType, sorted)
	diags.Append(more...)
	m.Names = names
	m.DefaultBranch, m.ObjectFormat = stringOrNull(defaultBranch(ad)), stringOrNull(ad.ObjectFormat)
	return diags
}

// defaultBranch returns the short name of the branch that HEAD points at.
func defaultBranch(ad *lsremote.Advertisement) string {
	target := ad.UnbornHead
	if head, there := ad.Lookup("HEAD"); there {
		target = head.Target
	}
	short, isBranch := strings.CutPrefix(target, "refs/heads/")
	if !isBranch {
		return ""
	}
	return short
}
