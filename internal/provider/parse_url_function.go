package provider

import (
	"context"
	"net"
	"strconv"

	"github.com/hashicorp/terraform-plugin-framework/attr"
	"github.com/hashicorp/terraform-plugin-framework/function"
	"github.com/hashicorp/terraform-plugin-framework/types"

	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// parseURLFunction is provider::gitpin::parse_url. It is pure.
type parseURLFunction struct{}

func newParseURLFunction() function.Function { return parseURLFunction{} }

type parsedURL struct {
	Scheme    types.String `tfsdk:"scheme"`
	User      types.String `tfsdk:"user"`
	Host      types.String `tfsdk:"host"`
	Port      types.Int64  `tfsdk:"port"`
	Path      types.String `tfsdk:"path"`
	Canonical types.String `tfsdk:"canonical"`
}

func (parseURLFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "parse_url"
}

func (parseURLFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Takes a git remote's URL apart",
		MarkdownDescription: "Takes a git remote's URL apart as git does: `https://`, `ssh://`, the scp form (`git@git.example.com:acme/app.git`), `git://`, `file://` and absolute local paths. " +
			"Returns an object with `scheme`, `user` (null if none), `host` (null for a local path), `port` (the scheme's default where none is written; null for a local path), `path` and `canonical`. " +
			"Two URLs with the same `canonical` are the same remote to this provider. No request is made; a URL that holds a password is an error.",
		Parameters: []function.Parameter{function.StringParameter{Name: "url", MarkdownDescription: "The URL."}},
		Return: function.ObjectReturn{AttributeTypes: map[string]attr.Type{
			"scheme": types.StringType, "user": types.StringType, "host": types.StringType,
			"port": types.Int64Type, "path": types.StringType, "canonical": types.StringType,
		}},
	}
}

func (parseURLFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var text string
	if resp.Error = req.Arguments.Get(ctx, &text); resp.Error != nil {
		return
	}
	remote, err := giturl.Parse(text)
	if err != nil {
		resp.Error = functionError(err)
		return
	}
	port := types.Int64Null()
	if _, written, err := net.SplitHostPort(remote.Address()); err == nil {
		n, _ := strconv.ParseInt(written, 10, 64) // Parse has checked it
		port = types.Int64Value(n)
	}
	resp.Error = resp.Result.Set(ctx, parsedURL{
		Scheme: types.StringValue(string(remote.Scheme)), User: stringOrNull(remote.User), Host: stringOrNull(remote.Host),
		Port: port, Path: types.StringValue(remote.Path), Canonical: types.StringValue(remote.Canonical()),
	})
}
