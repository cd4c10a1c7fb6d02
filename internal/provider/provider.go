// Package provider is the Terraform wiring: schemas, models and diagnostics. It
// holds no protocol and no policy: readings come from package gitpoll, and
// package pinning decides.
package provider

import (
	"context"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/datasource"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/resource"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
)

// gitpin is the provider. One instance serves one provider block of one run.
type gitpin struct {
	version string
	now     func() time.Time
}

var (
	_ provider.ProviderWithFunctions      = (*gitpin)(nil)
	_ provider.ProviderWithValidateConfig = (*gitpin)(nil)
)

// New returns a factory for the provider. version is what `terraform version`
// and the HTTP user agent show. now is the clock; tests bring their own.
func New(version string, now func() time.Time) func() provider.Provider {
	return func() provider.Provider { return &gitpin{version: version, now: now} }
}

func (p *gitpin) Metadata(_ context.Context, _ provider.MetadataRequest, resp *provider.MetadataResponse) {
	resp.TypeName = "gitpin"
	resp.Version = p.version
}

// ValidateConfig judges what is known of the provider block, so that a wrong
// prefix or a misspelt key is found by validate.
func (p *gitpin) ValidateConfig(ctx context.Context, req provider.ValidateConfigRequest, resp *provider.ValidateConfigResponse) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	_, diags := config.keychain(ctx, gitauth.Options{})
	resp.Diagnostics.Append(diags...)
	if config.unknownSetting(ctx) == "" {
		_, diags = config.client(ctx, p.version, p.now)
		resp.Diagnostics.Append(diags...)
	}
}

func (p *gitpin) Configure(ctx context.Context, req provider.ConfigureRequest, resp *provider.ConfigureResponse) {
	var config providerModel
	resp.Diagnostics.Append(req.Config.Get(ctx, &config)...)
	if resp.Diagnostics.HasError() {
		return
	}
	s, diags := config.services(ctx, p.version, p.now)
	resp.Diagnostics.Append(diags...)
	if resp.Diagnostics.HasError() {
		return
	}
	resp.DataSourceData = s
	resp.ResourceData = s
}

func (p *gitpin) DataSources(context.Context) []func() datasource.DataSource {
	return []func() datasource.DataSource{newRefDataSource, newRefsDataSource, newSnapshotDataSource}
}

// Functions need Terraform 1.8 or OpenTofu 1.7; older CLIs ignore them.
func (p *gitpin) Functions(context.Context) []func() function.Function {
	return []func() function.Function{newModuleSourceFunction, newParseURLFunction}
}

func (p *gitpin) Resources(context.Context) []func() resource.Resource {
	return []func() resource.Resource{newPinResource, newPinSetResource}
}
