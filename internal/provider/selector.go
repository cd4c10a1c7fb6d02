package provider

import (
	"context"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// The descriptions of the selector, shared by all that take one.
const (
	urlDoc = "The remote: `https://git.example.com/acme/app.git`, `ssh://git@git.example.com/acme/app.git`, `git@git.example.com:acme/app.git`, " +
		"`git://…`, `file:///…` or an absolute local path. It must hold no password or token: credentials belong in the provider block."
	branchDoc = "Short name of a branch (`main`, `feature/x`), taken literally: it means `refs/heads/…` and nothing else."
	tagDoc    = "Short name of a tag (`v1.2.3`), taken literally: it means `refs/tags/…` and nothing else."
	refDoc    = "Full ref name (`refs/heads/main`, `refs/pull/7/head`) or `HEAD`. A short name is refused."
	semverDoc = "Range over the version tags, in [Masterminds syntax](https://github.com/Masterminds/semver#checking-version-constraints) as Flux uses it: `1.x`, `~1.4`, `>=1.2.0 <2.0.0`. " +
		"It is not Terraform's syntax: `~> 1.0` means `~1.0` here (`>= 1.0.0, < 1.1.0`). For what Terraform's `~> 1.0` means write `^1.0` or `>= 1.0, < 2.0`. " +
		"Tags must be strict SemVer with an optional leading `v`."
	tagFilterDoc = "Takes only some tags into account, as Flux's `filterTags`. Needs `semver`."
	patternDoc   = "Regular expression (RE2) that the tag must match."
	extractDoc   = "Template that makes the version from the match, such as `$version`. Default: the whole tag."
	prereleases  = "Whether pre-release versions count although the range does not name one. Default `false`."
)

// selectorModel is a URL and a selector as they stand in HCL.
type selectorModel struct {
	URL                types.String `tfsdk:"url"`
	Branch             types.String `tfsdk:"branch"`
	Tag                types.String `tfsdk:"tag"`
	Ref                types.String `tfsdk:"ref"`
	Semver             types.String `tfsdk:"semver"`
	TagFilter          types.Object `tfsdk:"tag_filter"`
	IncludePrereleases types.Bool   `tfsdk:"include_prereleases"`
}

type tagFilterModel struct {
	Pattern types.String `tfsdk:"pattern"`
	Extract types.String `tfsdk:"extract"`
}

var tagFilterTypes = map[string]attr.Type{"pattern": types.StringType, "extract": types.StringType}

func (m selectorModel) values() []attr.Value {
	return []attr.Value{m.URL, m.Branch, m.Tag, m.Ref, m.Semver, m.TagFilter, m.IncludePrereleases}
}

// known reports whether every value is known.
func (m selectorModel) known(ctx context.Context) bool {
	for _, v := range m.values() {
		if !wholly(ctx, v) {
			return false
		}
	}
	return true
}

// absent reports whether nothing of it is set.
func (m selectorModel) absent() bool {
	for _, v := range m.values() {
		if !v.IsNull() {
			return false
		}
	}
	return true
}

// set reports whether something of it is known to be set.
func (m selectorModel) set() bool { return slices.ContainsFunc(m.values(), isSet) }

// isSet reports whether a value is known not to be null.
func isSet(v attr.Value) bool { return !v.IsNull() && !v.IsUnknown() }

// equal reports whether both are written alike.
func (m selectorModel) equal(o selectorModel) bool {
	mine, theirs := m.values(), o.values()
	for i := range mine {
		if !mine[i].Equal(theirs[i]) {
			return false
		}
	}
	return true
}

// target returns what is asked for. The values must be known.
func (m selectorModel) target(ctx context.Context) (gitpoll.Target, diag.Diagnostics) {
	t := gitpoll.Target{URL: m.URL.ValueString(), Spec: selection.Spec{
		Branch: m.Branch.ValueString(), Tag: m.Tag.ValueString(), Ref: m.Ref.ValueString(), Semver: m.Semver.ValueString(),
		IncludePrereleases: m.IncludePrereleases.ValueBool(),
	}}
	if m.TagFilter.IsNull() {
		return t, nil
	}
	var f tagFilterModel
	diags := m.TagFilter.As(ctx, &f, basetypes.ObjectAsOptions{})
	t.Spec.TagFilter = &selection.TagFilter{Pattern: f.Pattern.ValueString(), Extract: f.Extract.ValueString()}
	return t, diags
}

// validate judges what is known: each value by the parser that will use it, and
// the selectors together once all of them are known.
func (m selectorModel) validate(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	if empty := m.emptyText(); empty != "" {
		diags.Append(badSelector("The " + empty + " is an empty string. Leave it out, or give it a value."))
		return diags
	}
	set, unknown := m.selectors()
	if m.URL.IsNull() {
		diags.Append(badSelector("There is no url. Give the remote to read, for example url = \"https://git.example.com/acme/app.git\"."))
	}
	if len(set) > 1 || (len(set) == 0 && !unknown) {
		diags.Append(wrongSelectorCount(set))
	}
	if diags.HasError() || !m.known(ctx) {
		if !diags.HasError() && !m.URL.IsUnknown() {
			// The URL can be judged although the rest is not known.
			diags.Append(checkURL(m.URL.ValueString())...)
		}
		return diags
	}
	target, more := m.target(ctx)
	diags.Append(more...)
	if _, _, err := target.Parse(); err != nil {
		diags.Append(badTarget(err))
	}
	return diags
}

// selectors returns the names of those that are set, and whether one of them
// may still become set.
func (m selectorModel) selectors() (set []string, unknown bool) {
	for _, s := range []struct {
		name  string
		value types.String
	}{{"branch", m.Branch}, {"tag", m.Tag}, {"ref", m.Ref}, {"semver", m.Semver}} {
		switch {
		case s.value.IsUnknown():
			unknown = true
		case !s.value.IsNull():
			set = append(set, s.name)
		}
	}
	return set, unknown
}

// emptyText names an attribute that is set to "": in git that would mean HEAD
// here and the remote's root there, never what was meant.
func (m selectorModel) emptyText() string {
	for _, s := range []struct {
		name  string
		value types.String
	}{{"url", m.URL}, {"branch", m.Branch}, {"tag", m.Tag}, {"ref", m.Ref}, {"semver", m.Semver}} {
		if !s.value.IsNull() && !s.value.IsUnknown() && s.value.ValueString() == "" {
			return s.name
		}
	}
	return ""
}
