package provider

import (
	"context"

	"github.com/hashicorp/terraform-plugin-framework-validators/int64validator"
	"github.com/hashicorp/terraform-plugin-framework-validators/stringvalidator"
	"github.com/hashicorp/terraform-plugin-framework/provider"
	"github.com/hashicorp/terraform-plugin-framework/provider/schema"
	"github.com/hashicorp/terraform-plugin-framework/schema/validator"
	"github.com/hashicorp/terraform-plugin-framework/types"
)

func (p *gitpin) Schema(_ context.Context, _ provider.SchemaRequest, resp *provider.SchemaResponse) {
	resp.Schema = schema.Schema{
		MarkdownDescription: "Pins git refs: reads a remote's ref advertisement, as `git ls-remote` does (no clone, no checkout), and records the commit in state until a plan that shows the change is applied.",
		Attributes: map[string]schema.Attribute{
			"credentials": credentialsSchema(),
			"per_host_concurrency": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "How many readings run on one host at a time. Default `4`. Hosts themselves are read in parallel.",
				Validators:          []validator.Int64{int64validator.AtLeast(1)},
			},
			"max_age": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "How long one reading may be shared within a run, as a Go duration. Default `\"90s\"`. `\"0s\"` reads every time.",
				Validators:          []validator.String{notNegative()},
			},
			"timeout": schema.StringAttribute{
				Optional:            true,
				MarkdownDescription: "Bound on one reading, retries included, as a Go duration. Default `\"60s\"`. Waiting for a free place (`per_host_concurrency`) does not count.",
				Validators:          []validator.String{positive()},
			},
			"retry": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "How a transient failure (connection reset, HTTP 429 and 5xx) is tried again, within `timeout`; `Retry-After` is honoured. 401, 403 and 404 are tried once.",
				Attributes: map[string]schema.Attribute{
					"max_attempts": schema.Int64Attribute{
						Optional: true, MarkdownDescription: "Attempts in all, the first one included. Default `4`; `1` never retries.",
						Validators: []validator.Int64{int64validator.Between(1, 100)},
					},
					"min_wait": schema.StringAttribute{
						Optional: true, MarkdownDescription: "Pause before the first retry, doubled for each further one. Default `\"500ms\"`.",
						Validators: []validator.String{positive()},
					},
					"max_wait": schema.StringAttribute{
						Optional: true, MarkdownDescription: "Longest pause. Default `\"15s\"`.",
						Validators: []validator.String{positive()},
					},
				},
			},
			"proxy": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Proxy for http(s) remotes and, with `ssh = true`, for ssh remotes. Without it, the standard environment variables count (`HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY`, `NO_PROXY`), for http(s) only. `git://` remotes, local paths and loopback addresses are always reached directly.",
				Attributes: map[string]schema.Attribute{
					"url": schema.StringAttribute{
						Required: true, MarkdownDescription: "`http://`, `https://` or `socks5://` URL of the proxy, without credentials.",
						Validators: []validator.String{stringvalidator.LengthAtLeast(1)},
					},
					"username": schema.StringAttribute{Optional: true, MarkdownDescription: "User name for the proxy."},
					"password": schema.StringAttribute{Optional: true, Sensitive: true, MarkdownDescription: "Password for the proxy."},
					"no_proxy": schema.StringAttribute{Optional: true, MarkdownDescription: "Hosts to reach directly, separated by commas: host names, `.suffix`, IP addresses, CIDR ranges, each with an optional port."},
					"ssh":      schema.BoolAttribute{Optional: true, MarkdownDescription: "Reach ssh remotes through this proxy too. An http(s) proxy must allow `CONNECT` to their port, which many do for 443 only. Default `false`."},
				},
			},
			"max_advertisement_bytes": schema.Int64Attribute{
				Optional:            true,
				MarkdownDescription: "Bound on one reading in bytes after decompression. Default 268435456 (256 MiB). Past it the reading fails; memory stays bounded.",
				Validators:          []validator.Int64{int64validator.AtLeast(1024)},
			},
			"ambient": schema.SingleNestedAttribute{
				Optional:            true,
				MarkdownDescription: "Credentials of the machine that runs Terraform. All are off unless asked for, so that a plan is the same everywhere; meant for people at a laptop. They count only where no `credentials` entry matches.",
				Attributes: map[string]schema.Attribute{
					"git_credential_helper": schema.BoolAttribute{Optional: true, MarkdownDescription: "Ask `git credential fill` for http(s) remotes. It never prompts."},
					"ssh_agent":             schema.BoolAttribute{Optional: true, MarkdownDescription: "Use the keys of the agent behind `SSH_AUTH_SOCK` for ssh remotes."},
					"known_hosts_file":      schema.StringAttribute{Optional: true, MarkdownDescription: "Path of a `known_hosts` file to check ssh host keys against, for example `~/.ssh/known_hosts`."},
				},
			},
		},
	}
}

func credentialsSchema() schema.Attribute {
	return schema.ListNestedAttribute{
		Optional: true,
		MarkdownDescription: "Credentials by URL prefix; the longest match wins, whatever the order. Values may be ephemeral: they are never stored. " +
			"A remote without a match is read anonymously (https, http, git and file), or is an error (ssh).",
		NestedObject: schema.NestedAttributeObject{
			Attributes: map[string]schema.Attribute{
				"url": schema.StringAttribute{
					Required: true,
					MarkdownDescription: "URL prefix that the secret is for: `https://git.example.com/acme/`, `ssh://git@git.example.com`, `git@git.example.com:acme`. " +
						"Scheme, host, port and whole path segments must be equal. A user in the prefix must match; without one any user does.",
				},
				"secret": schema.MapAttribute{
					Required:    true,
					Sensitive:   true,
					ElementType: types.StringType,
					MarkdownDescription: "The keys of a Flux Git secret: `username` and `password`, or `bearerToken`, with `ca.crt`, `tls.crt` and `tls.key` where needed; " +
						"for ssh `identity`, `known_hosts` and, for an encrypted key, `password`; or the `githubApp…` keys. Parsed by the very function that Flux source-controller uses. A null element counts as absent.",
				},
				"allow_http": schema.BoolAttribute{
					Optional:            true,
					MarkdownDescription: "Let these credentials leave over plain `http://` to a host that is not loopback. Default `false`: then it is an error.",
				},
			},
		},
	}
}
