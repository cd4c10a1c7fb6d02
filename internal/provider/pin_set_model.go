package provider

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
)

// pinSetModel is the resource in HCL and in state.
type pinSetModel struct {
	policyModel
	Pins         types.Map    `tfsdk:"pins"`
	Observations types.Map    `tfsdk:"observations"`
	Commits      types.Map    `tfsdk:"commits"`
	Members      types.Map    `tfsdk:"members"`
	PinsJSON     types.String `tfsdk:"pins_json"`
}

// strict reports whether the set is fed observations.
func (m pinSetModel) strict() bool { return !m.Observations.IsNull() }

// feed is the map that the members come from.
func (m pinSetModel) feed() types.Map {
	if m.strict() {
		return m.Observations
	}
	return m.Pins
}

// sortedNames returns the names of members or targets in a fixed order. It takes
// what Elements of a map has returned, which is a copy each time.
func sortedNames(elements map[string]attr.Value) []string { return slices.Sorted(maps.Keys(elements)) }

// validateFeed checks that the set is fed in exactly one of the two ways, and
// each member's selector.
func (m pinSetModel) validateFeed(ctx context.Context) diag.Diagnostics {
	var diags diag.Diagnostics
	switch {
	case isSet(m.Observations) && isSet(m.Pins):
		diags.AddError("A pin set is fed in one way only", "Both observations and pins are set. Use observations (the strict form: apply records what the plan showed) or pins (self-observing), not both.")
	case m.Observations.IsNull() && m.Pins.IsNull():
		diags.AddError("A pin set needs observations or pins", "The observations are null or missing, and there are no pins either. Set observations = data.gitpin_snapshot.NAME.observations, or pins = { name = { url = …, branch = … } }.")
	}
	if diags.HasError() || m.Observations.IsUnknown() || m.Pins.IsUnknown() {
		return diags // what is unknown may still turn out to be null
	}
	elements := m.feed().Elements()
	for _, name := range sortedNames(elements) {
		element := elements[name]
		switch {
		case element.IsNull():
			diags.AddError("A member of the pin set is null", fmt.Sprintf("The member %q is null. Leave it out of the map, or give it a value.", name))
		case element.IsUnknown():
		case m.strict() && !wholly(ctx, element):
			diags.Append(forMember(name, diag.Diagnostics{forgedObservation()})...)
		case !m.strict():
			s, more := selectorOf(ctx, element)
			diags.Append(more...)
			diags.Append(forMember(name, s.validate(ctx))...)
		}
	}
	return diags
}

// selectorOf reads one member of pins.
func selectorOf(ctx context.Context, element attr.Value) (selectorModel, diag.Diagnostics) {
	var s selectorModel
	var diags diag.Diagnostics
	if object, ok := element.(types.Object); ok {
		diags = object.As(ctx, &s, basetypes.ObjectAsOptions{})
	}
	return s, diags
}

// target returns what a member asks for and, in the strict form, what it is
// handed. The element must be known and not null. genuine demands a checksum
// that fits; what a state has recorded was checked when it was a configuration.
func (m pinSetModel) target(ctx context.Context, element attr.Value, genuine bool) (gitpoll.Target, gitpoll.Observation, diag.Diagnostics) {
	if !m.strict() {
		s, diags := selectorOf(ctx, element)
		if diags.HasError() {
			return gitpoll.Target{}, gitpoll.Observation{}, diags
		}
		t, diags := s.target(ctx)
		return t, gitpoll.Observation{}, diags
	}
	object, ok := element.(types.Object)
	if !ok {
		return gitpoll.Target{}, gitpoll.Observation{}, diag.Diagnostics{forgedObservation()}
	}
	if genuine {
		o, diags := genuineObservation(ctx, object)
		return o.Target, o, diags
	}
	o, _, diags := observationFrom(ctx, object)
	return o.Target, o, diags
}

// records returns the members' records in HCL, by name.
func (m pinSetModel) records(ctx context.Context) (map[string]recordModel, diag.Diagnostics) {
	records := map[string]recordModel{}
	diags := m.Members.ElementsAs(ctx, &records, false)
	return records, diags
}

// setRecords sets the computed attributes from the members' records.
func (m *pinSetModel) setRecords(ctx context.Context, records map[string]recordModel) diag.Diagnostics {
	commits, known := map[string]attr.Value{}, true
	plain := map[string]string{}
	for name, r := range records {
		commits[name] = r.Commit
		plain[name] = r.Commit.ValueString()
		known = known && !r.Commit.IsUnknown()
	}
	var diags, more diag.Diagnostics
	m.Commits, diags = types.MapValue(types.StringType, commits)
	m.Members, more = types.MapValueFrom(ctx, types.ObjectType{AttrTypes: recordTypes}, records)
	diags.Append(more...)
	m.PinsJSON = types.StringUnknown()
	if known {
		// encoding/json sorts the keys of a map.
		text, err := json.Marshal(plain)
		if err != nil {
			diags.AddError("The pins cannot be written as JSON", err.Error())
		}
		m.PinsJSON = types.StringValue(string(text))
	}
	return diags
}

// unknown makes every computed attribute unknown.
func (m *pinSetModel) unknown() {
	m.Commits = types.MapUnknown(types.StringType)
	m.Members = types.MapUnknown(types.ObjectType{AttrTypes: recordTypes})
	m.PinsJSON = types.StringUnknown()
}

// forMember says in each diagnostic which member of a pin set, or target of a
// snapshot, it is about.
func forMember(name string, diags diag.Diagnostics) diag.Diagnostics {
	var out diag.Diagnostics
	for _, d := range diags {
		text := fmt.Sprintf("For %q: %s", name, d.Detail())
		if d.Severity() == diag.SeverityError {
			out.AddError(d.Summary(), text)
		} else {
			out.AddWarning(d.Summary(), text)
		}
	}
	return out
}
