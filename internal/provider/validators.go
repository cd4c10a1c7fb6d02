package provider

import (
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// durationValidator accepts Go durations from a least value on.
type durationValidator struct {
	least time.Duration
	words string
}

func notNegative() validator.String { return durationValidator{0, "0s or more"} }

func positive() validator.String { return durationValidator{1, "more than 0s"} }

func (v durationValidator) Description(context.Context) string {
	return fmt.Sprintf("a Go duration such as \"90s\", \"15m\" or \"24h\", %s", v.words)
}

func (v durationValidator) MarkdownDescription(ctx context.Context) string { return v.Description(ctx) }

func (v durationValidator) ValidateString(ctx context.Context, req validator.StringRequest, resp *validator.StringResponse) {
	if req.ConfigValue.IsNull() || req.ConfigValue.IsUnknown() {
		return
	}
	text := req.ConfigValue.ValueString()
	if d, err := time.ParseDuration(text); err != nil || d < v.least {
		hint := "There is no unit for days: write \"168h\" for a week."
		if _, err := strconv.Atoi(text); err == nil {
			hint = fmt.Sprintf("A number needs its unit: %q for seconds.", text+"s")
		}
		resp.Diagnostics.AddAttributeError(req.Path, "Invalid duration", fmt.Sprintf("%q is not %s. %s", text, v.Description(ctx), hint))
	}
}

// duration returns a validated duration, or otherwise when v is null.
func duration(v types.String, otherwise time.Duration) time.Duration {
	if v.IsNull() {
		return otherwise
	}
	// The validator has parsed it already; an unknown value never comes here.
	d, err := time.ParseDuration(v.ValueString())
	if err != nil {
		return otherwise
	}
	return d
}
