package provider

import (
	"context"
	"fmt"
	"sort"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/diag"
	"github.com/hashicorp/terraform-plugin-framework/path"
	"github.com/hashicorp/terraform-plugin-framework/types"
	"github.com/hashicorp/terraform-plugin-framework/types/basetypes"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// The defaults of the provider block, as documented in its schema.
const (
	defaultMaxAge   = 90 * time.Second
	defaultTimeout  = 60 * time.Second
	defaultPerHost  = 4
	defaultMaxBytes = 256 << 20
	defaultAttempts = 4
	defaultMinWait  = 500 * time.Millisecond
	defaultMaxWait  = 15 * time.Second
)

// providerModel is the provider block.
type providerModel struct {
	Credentials           types.List   `tfsdk:"credentials"`
	PerHostConcurrency    types.Int64  `tfsdk:"per_host_concurrency"`
	MaxAge                types.String `tfsdk:"max_age"`
	Timeout               types.String `tfsdk:"timeout"`
	Retry                 types.Object `tfsdk:"retry"`
	Proxy                 types.Object `tfsdk:"proxy"`
	MaxAdvertisementBytes types.Int64  `tfsdk:"max_advertisement_bytes"`
	Ambient               types.Object `tfsdk:"ambient"`
}

type credentialModel struct {
	URL       types.String `tfsdk:"url"`
	Secret    types.Map    `tfsdk:"secret"`
	AllowHTTP types.Bool   `tfsdk:"allow_http"`
}

type retryModel struct {
	MaxAttempts types.Int64  `tfsdk:"max_attempts"`
	MinWait     types.String `tfsdk:"min_wait"`
	MaxWait     types.String `tfsdk:"max_wait"`
}

type proxyModel struct {
	URL      types.String `tfsdk:"url"`
	Username types.String `tfsdk:"username"`
	Password types.String `tfsdk:"password"`
	NoProxy  types.String `tfsdk:"no_proxy"`
	SSH      types.Bool   `tfsdk:"ssh"`
}

type ambientModel struct {
	GitCredentialHelper types.Bool   `tfsdk:"git_credential_helper"`
	SSHAgent            types.Bool   `tfsdk:"ssh_agent"`
	KnownHostsFile      types.String `tfsdk:"known_hosts_file"`
}

// unknownSetting returns the name of a provider attribute, other than
// credentials, that is not known yet, or "". A reading must not be made with a
// guessed setting: through no proxy, say, where one was meant.
func (m providerModel) unknownSetting(ctx context.Context) string {
	settings := map[string]attr.Value{
		"per_host_concurrency": m.PerHostConcurrency, "max_age": m.MaxAge, "timeout": m.Timeout,
		"retry": m.Retry, "proxy": m.Proxy, "max_advertisement_bytes": m.MaxAdvertisementBytes, "ambient": m.Ambient,
	}
	var unknown []string
	for name, v := range settings {
		if !wholly(ctx, v) {
			unknown = append(unknown, name)
		}
	}
	sort.Strings(unknown)
	if len(unknown) == 0 {
		return ""
	}
	return unknown[0]
}

// client returns the configuration of the reading client. Its values must be
// known.
func (m providerModel) client(ctx context.Context, version string, now func() time.Time) (lsremote.Config, diag.Diagnostics) {
	var diags diag.Diagnostics
	c := lsremote.Config{
		Timeout:   duration(m.Timeout, defaultTimeout),
		Retry:     lsremote.Retry{MaxAttempts: defaultAttempts, MinWait: defaultMinWait, MaxWait: defaultMaxWait},
		MaxBytes:  int64Or(m.MaxAdvertisementBytes, defaultMaxBytes),
		PerHost:   int(int64Or(m.PerHostConcurrency, defaultPerHost)),
		UserAgent: "git/gitpin-" + version,
		Now:       now,
		Log:       logReading,
	}
	if !m.Retry.IsNull() {
		var r retryModel
		diags.Append(m.Retry.As(ctx, &r, basetypes.ObjectAsOptions{})...)
		c.Retry.MaxAttempts = int(int64Or(r.MaxAttempts, defaultAttempts))
		c.Retry.MinWait = duration(r.MinWait, defaultMinWait)
		c.Retry.MaxWait = duration(r.MaxWait, max(defaultMaxWait, c.Retry.MinWait))
		if c.Retry.MaxWait < c.Retry.MinWait {
			diags.AddAttributeError(path.Root("retry"), "Invalid retry", fmt.Sprintf("max_wait (%s) is shorter than min_wait (%s). Raise max_wait or lower min_wait.", c.Retry.MaxWait, c.Retry.MinWait))
		}
	}
	if !m.Proxy.IsNull() {
		var p proxyModel
		diags.Append(m.Proxy.As(ctx, &p, basetypes.ObjectAsOptions{})...)
		c.Proxy = &lsremote.Proxy{URL: p.URL.ValueString(), Username: p.Username.ValueString(),
			Password: p.Password.ValueString(), NoProxy: p.NoProxy.ValueString(), SSH: p.SSH.ValueBool()}
	}
	return c, diags
}

// keychain returns the credentials. Unknown values are passed on as such: they
// fail the readings that need them, and nothing else.
func (m providerModel) keychain(ctx context.Context, options gitauth.Options) (*gitauth.Keychain, diag.Diagnostics) {
	var diags diag.Diagnostics
	options.ListUnknown, options.AmbientUnknown = m.Credentials.IsUnknown(), !wholly(ctx, m.Ambient)
	if !m.Ambient.IsNull() && !options.AmbientUnknown {
		var a ambientModel
		diags.Append(m.Ambient.As(ctx, &a, basetypes.ObjectAsOptions{})...)
		options.Ambient = gitauth.Ambient{CredentialHelper: a.GitCredentialHelper.ValueBool(),
			SSHAgent: a.SSHAgent.ValueBool(), KnownHostsFile: a.KnownHostsFile.ValueString()}
	}
	var entries []gitauth.Entry
	for i, element := range m.Credentials.Elements() {
		object, ok := element.(types.Object)
		if !ok || object.IsNull() {
			diags.Append(badCredentials(fmt.Sprintf("credentials[%d] is null.", i)))
			continue
		}
		if object.IsUnknown() {
			entries = append(entries, gitauth.Entry{URLUnknown: true, SecretUnknown: true})
			continue
		}
		var c credentialModel
		diags.Append(object.As(ctx, &c, basetypes.ObjectAsOptions{})...)
		entries = append(entries, c.entry(ctx))
	}
	if diags.HasError() {
		return nil, diags
	}
	k, err := gitauth.NewKeychain(entries, options)
	if err != nil {
		diags.Append(badCredentials(err.Error()))
	}
	return k, diags
}

// entry passes on one entry. A null element of the secret counts as absent; one
// unknown element makes the secret unknown, since it could be any key's value.
func (c credentialModel) entry(ctx context.Context) gitauth.Entry {
	e := gitauth.Entry{
		URL: c.URL.ValueString(), URLUnknown: c.URL.IsUnknown(),
		SecretUnknown: !wholly(ctx, c.Secret) || c.AllowHTTP.IsUnknown(),
		AllowHTTP:     c.AllowHTTP.ValueBool(),
		Secret:        map[string]string{},
	}
	for key, v := range c.Secret.Elements() {
		if s, ok := v.(types.String); ok && !s.IsNull() {
			e.Secret[key] = s.ValueString()
		}
	}
	return e
}

func int64Or(v types.Int64, otherwise int64) int64 {
	if v.IsNull() {
		return otherwise
	}
	return v.ValueInt64()
}
