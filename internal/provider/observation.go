package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// observationModel is one observation as an HCL object. No field is ever null:
// "" stands where git has nothing to say.
type observationModel struct {
	URL                types.String `tfsdk:"url"`
	Branch             types.String `tfsdk:"branch"`
	Tag                types.String `tfsdk:"tag"`
	Ref                types.String `tfsdk:"ref"`
	Semver             types.String `tfsdk:"semver"`
	TagFilterPattern   types.String `tfsdk:"tag_filter_pattern"`
	TagFilterExtract   types.String `tfsdk:"tag_filter_extract"`
	IncludePrereleases types.Bool   `tfsdk:"include_prereleases"`
	Commit             types.String `tfsdk:"commit"`
	Object             types.String `tfsdk:"object"`
	TrackingRef        types.String `tfsdk:"tracking_ref"`
	Version            types.String `tfsdk:"version"`
	SymrefTarget       types.String `tfsdk:"symref_target"`
	ObjectFormat       types.String `tfsdk:"object_format"`
	ObservedAt         types.String `tfsdk:"observed_at"`
	FirstObservedAt    types.String `tfsdk:"first_observed_at"`
	Error              types.String `tfsdk:"error"`
	Checksum           types.String `tfsdk:"checksum"`
}

// observationFields describes each field, in the words of the docs.
var observationFields = map[string]string{
	"url":                 "The remote, as it was written.",
	"branch":              "The selector, if it was `branch`; else empty.",
	"tag":                 "The selector, if it was `tag`; else empty.",
	"ref":                 "The selector, if it was `ref`; else empty.",
	"semver":              "The selector, if it was `semver`; else empty.",
	"tag_filter_pattern":  "The `pattern` of `tag_filter`; else empty.",
	"tag_filter_extract":  "The `extract` of `tag_filter`; else empty.",
	"include_prereleases": "Whether pre-releases counted.",
	"commit":              "The peeled id; empty if the reading failed.",
	"object":              "The id that the ref itself names: the tag object for an annotated tag.",
	"tracking_ref":        "The full name of the ref that the selector resolved to.",
	"version":             "The version that `semver` chose; else empty.",
	"symref_target":       "The ref that a symbolic ref (`HEAD`) points at; else empty.",
	"object_format":       "`sha1` or `sha256`.",
	"observed_at":         "When the reading was made (RFC 3339, UTC).",
	"first_observed_at":   "When this commit was first read in this run (RFC 3339, UTC). A pin keeps its own record across runs.",
	"error":               "Why the reading failed; empty if it did not.",
	"checksum":            "Guards against accidental edits: a pin refuses an observation whose checksum does not fit.",
}

// observationTypes are the attribute types of an observation object.
var observationTypes = func() map[string]attr.Type {
	t := map[string]attr.Type{}
	for name := range observationFields {
		t[name] = types.StringType
	}
	t["include_prereleases"] = types.BoolType
	return t
}()

// observationObject turns an observation into its HCL object.
func observationObject(ctx context.Context, o gitpoll.Observation) (types.Object, diag.Diagnostics) {
	m := observationModel{
		URL:                types.StringValue(o.URL),
		Branch:             types.StringValue(o.Spec.Branch),
		Tag:                types.StringValue(o.Spec.Tag),
		Ref:                types.StringValue(o.Spec.Ref),
		Semver:             types.StringValue(o.Spec.Semver),
		IncludePrereleases: types.BoolValue(o.Spec.IncludePrereleases),
		Commit:             types.StringValue(o.Commit),
		Object:             types.StringValue(o.Object),
		TrackingRef:        types.StringValue(o.TrackingRef),
		Version:            types.StringValue(o.Version),
		SymrefTarget:       types.StringValue(o.SymrefTarget),
		ObjectFormat:       types.StringValue(o.ObjectFormat),
		ObservedAt:         types.StringValue(gitpoll.FormatTime(o.ObservedAt)),
		FirstObservedAt:    types.StringValue(gitpoll.FormatTime(o.FirstObservedAt)),
		Error:              types.StringValue(o.Error),
		Checksum:           types.StringValue(o.Checksum()),
		TagFilterPattern:   types.StringValue(""),
		TagFilterExtract:   types.StringValue(""),
	}
	if f := o.Spec.TagFilter; f != nil {
		m.TagFilterPattern, m.TagFilterExtract = types.StringValue(f.Pattern), types.StringValue(f.Extract)
	}
	return types.ObjectValueFrom(ctx, observationTypes, m)
}

// observationFrom reads an observation object back. The object must be wholly
// known and not null.
func observationFrom(ctx context.Context, v types.Object) (o gitpoll.Observation, checksum string, diags diag.Diagnostics) {
	var m observationModel
	diags = v.As(ctx, &m, basetypes.ObjectAsOptions{})
	o = gitpoll.Observation{
		Target: gitpoll.Target{URL: m.URL.ValueString(), Spec: selection.Spec{
			Branch: m.Branch.ValueString(), Tag: m.Tag.ValueString(), Ref: m.Ref.ValueString(),
			Semver: m.Semver.ValueString(), IncludePrereleases: m.IncludePrereleases.ValueBool(),
		}},
		Commit: m.Commit.ValueString(), Object: m.Object.ValueString(),
		TrackingRef: m.TrackingRef.ValueString(), Version: m.Version.ValueString(),
		SymrefTarget: m.SymrefTarget.ValueString(), ObjectFormat: m.ObjectFormat.ValueString(),
		Error: m.Error.ValueString(),
	}
	if m.TagFilterPattern.ValueString() != "" {
		o.Spec.TagFilter = &selection.TagFilter{Pattern: m.TagFilterPattern.ValueString(), Extract: m.TagFilterExtract.ValueString()}
	}
	// A time that cannot be parsed stays zero, and the checksum does not fit.
	o.ObservedAt = parseTime(m.ObservedAt.ValueString())
	o.FirstObservedAt = parseTime(m.FirstObservedAt.ValueString())
	return o, m.Checksum.ValueString(), diags
}

// genuineObservation is observationFrom for an observation that stands in a
// configuration: its checksum must fit (invariant I1).
func genuineObservation(ctx context.Context, v types.Object) (gitpoll.Observation, diag.Diagnostics) {
	o, checksum, diags := observationFrom(ctx, v)
	if !diags.HasError() && (hasNull(v) || o.VerifyChecksum(checksum) != nil) {
		diags.Append(forgedObservation())
	}
	return o, diags
}

// hasNull reports whether a field of the object is null: an observation that a
// data source made has none.
func hasNull(v types.Object) bool {
	for _, field := range v.Attributes() {
		if field.IsNull() {
			return true
		}
	}
	return false
}

// wholly reports whether v and everything in it is known.
func wholly(ctx context.Context, v attr.Value) bool {
	tv, err := v.ToTerraformValue(ctx)
	return err == nil && tv.IsFullyKnown()
}

// parseTime reads what gitpoll.FormatTime wrote; anything else is the zero time.
func parseTime(text string) time.Time {
	t, err := time.Parse(time.RFC3339, text)
	if err != nil {
		return time.Time{}
	}
	return t
}
