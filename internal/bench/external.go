package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/datasource/schema"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-framework/resource"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

// The pattern that the provider replaces is a data source that runs a script
// with "git ls-remote" in it: data "external" of hashicorp/external. That
// provider cannot be built from a Go module proxy, so this is the part of it
// that the pattern needs. The bench program is that provider when it is
// started under a provider's name.

// externalSource is where the CLI finds it.
const externalSource = "bench/external"

// isExternal tells whether a CLI has started this process as the provider.
func isExternal() bool {
	return strings.HasPrefix(filepath.Base(os.Args[0]), "terraform-provider-external")
}

func serveExternal(ctx context.Context) error {
	return providerserver.Serve(ctx, func() provider.Provider { return external{} },
		providerserver.ServeOpts{Address: "registry.terraform.io/" + externalSource, ProtocolVersion: 6})
}

type external struct{}

func (external) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "external"
}
func (external) Schema(context.Context, provider.SchemaRequest, *provider.SchemaResponse)          {}
func (external) Configure(context.Context, provider.ConfigureRequest, *provider.ConfigureResponse) {}
func (external) Resources(context.Context) []func() resource.Resource                              { return nil }
func (external) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{func() datasource.DataSource { return script{} }}
}

// script runs a program that prints a JSON object of strings.
type script struct{}

type scriptModel struct {
	Program types.List `tfsdk:"program"`
	Result  types.Map  `tfsdk:"result"`
}

func (script) Metadata(_ context.Context, _ datasource.MetadataRequest, resp *datasource.MetadataResponse) {
	resp.TypeName = "external"
}

func (script) Schema(_ context.Context, _ datasource.SchemaRequest, resp *datasource.SchemaResponse) {
	resp.Schema = schema.Schema{Attributes: map[string]schema.Attribute{
		"program": schema.ListAttribute{ElementType: types.StringType, Required: true},
		"result":  schema.MapAttribute{ElementType: types.StringType, Computed: true},
	}}
}

func (script) Read(ctx context.Context, req datasource.ReadRequest, resp *datasource.ReadResponse) {
	var m scriptModel
	var program []string
	resp.Diagnostics.Append(req.Config.Get(ctx, &m)...)
	resp.Diagnostics.Append(m.Program.ElementsAs(ctx, &program, false)...)
	if resp.Diagnostics.HasError() {
		return
	}
	result, err := runScript(ctx, program)
	if err != nil {
		resp.Diagnostics.AddError("The program failed", err.Error())
		return
	}
	m.Result, resp.Diagnostics = types.MapValueFrom(ctx, types.StringType, result)
	resp.Diagnostics.Append(resp.State.Set(ctx, &m)...)
}

func runScript(ctx context.Context, program []string) (map[string]string, error) {
	cmd := exec.CommandContext(ctx, program[0], program[1:]...)
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, &stderr)
	}
	var result map[string]string
	if err := json.Unmarshal(out, &result); err != nil {
		return nil, err
	}
	if len(result["commit"]) != 40 {
		return nil, fmt.Errorf("the script has found no commit: %s", out)
	}
	return result, nil
}

// lsRemoteScript is what people write.
const lsRemoteScript = `id=$(git ls-remote "$1" "$2^{}" | cut -f 1) && printf '{"commit":"%s"}' "$id"`

// lsRemoteEach is the body of such a data source for each URL.
func lsRemoteEach(ref string) string {
	return fmt.Sprintf(`program = ["sh", "-c", %s, "sh", each.value, %s]`, quote(lsRemoteScript), quote(ref))
}
