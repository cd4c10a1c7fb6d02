package provider

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/hashicorp/terraform-plugin-framework/diag"

	"github.com/gitpin/terraform-provider-gitpin/internal/pinning"
)

// factsKey is the key of pinning.Facts in the resource's private state.
const factsKey = "facts"

// privateState is the part of the framework's private state that is used here;
// its own type is internal to the framework.
type privateState interface {
	GetKey(ctx context.Context, key string) ([]byte, diag.Diagnostics)
	SetKey(ctx context.Context, key string, value []byte) diag.Diagnostics
}

// readFacts returns what earlier refreshes of a pin have stored; nothing stored
// is no error.
func readFacts(ctx context.Context, private privateState) (pinning.Facts, diag.Diagnostics) {
	var facts pinning.Facts
	diags := readPrivate(ctx, private, &facts)
	return facts, diags
}

// readSetFacts is readFacts for the members of a pin set, by name.
func readSetFacts(ctx context.Context, private privateState) (map[string]pinning.Facts, diag.Diagnostics) {
	var facts map[string]pinning.Facts
	diags := readPrivate(ctx, private, &facts)
	return facts, diags
}

func readPrivate(ctx context.Context, private privateState, into any) diag.Diagnostics {
	raw, diags := private.GetKey(ctx, factsKey)
	if diags.HasError() || len(raw) == 0 {
		return diags
	}
	if err := json.Unmarshal(raw, into); err != nil {
		diags.AddError("The private state of the pin cannot be read",
			"It was written by a newer version of the provider, or damaged: "+err.Error()+". Use the version that wrote it, or restore the state from a backup.")
	}
	return diags
}

// writePrivate stores facts, and touches nothing if they are stored already: a
// changed private state alone makes `plan -refresh-only -detailed-exitcode`
// report a change (invariant I7).
func writePrivate(ctx context.Context, private privateState, facts any) diag.Diagnostics {
	old, diags := private.GetKey(ctx, factsKey)
	raw, err := json.Marshal(facts)
	if err != nil {
		diags.AddError("The private state of the pin cannot be written", err.Error())
	}
	if diags.HasError() || bytes.Equal(old, raw) {
		return diags
	}
	return private.SetKey(ctx, factsKey, raw)
}
