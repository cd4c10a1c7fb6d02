package provider

import (
	"context"
	"net/url"
	"strings"

	"github.com/hashicorp/terraform-plugin-framework/function"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// moduleSourceFunction is provider::gitpin::module_source. It is pure.
type moduleSourceFunction struct{}

func newModuleSourceFunction() function.Function { return moduleSourceFunction{} }

func (moduleSourceFunction) Metadata(_ context.Context, _ function.MetadataRequest, resp *function.MetadataResponse) {
	resp.Name = "module_source"
}

func (moduleSourceFunction) Definition(_ context.Context, _ function.DefinitionRequest, resp *function.DefinitionResponse) {
	resp.Definition = function.Definition{
		Summary: "Makes a module source address that is pinned to a commit",
		MarkdownDescription: "Returns `git::<url>//<subdir>?ref=<commit>`, the [module source address](https://developer.hashicorp.com/terraform/language/modules/sources#generic-git-repository) of a commit. " +
			"A module's `source` must be a literal: write the result into a file (a `*.tf.json`, or a Terragrunt or CI variable) in one step and use it in the next. No request is made.",
		Parameters: []function.Parameter{
			function.StringParameter{Name: "url", MarkdownDescription: "The remote, in any form that the data sources take."},
			function.StringParameter{Name: "commit", MarkdownDescription: "The full commit id: 40 or 64 hex digits."},
			function.StringParameter{Name: "subdir", AllowNullValue: true, MarkdownDescription: "Folder of the module inside the repository; `\"\"` for the root (on Terraform also null, which OpenTofu cannot hand to a function)."},
		},
		Return: function.StringReturn{},
	}
}

func (moduleSourceFunction) Run(ctx context.Context, req function.RunRequest, resp *function.RunResponse) {
	var remoteText, commit string
	var subdir *string
	if resp.Error = req.Arguments.Get(ctx, &remoteText, &commit, &subdir); resp.Error != nil {
		return
	}
	if subdir == nil {
		subdir = new(string)
	}
	source, err := moduleSource(remoteText, commit, *subdir)
	if err != nil {
		resp.Error = err
		return
	}
	resp.Error = resp.Result.Set(ctx, source)
}

// moduleSource builds the address. Errors carry no argument position where the
// argument may hold a secret: core would quote it.
func moduleSource(remoteText, commit, subdir string) (string, *function.FuncError) {
	remote, err := giturl.Parse(remoteText)
	if err != nil {
		return "", functionError(err)
	}
	if strings.Contains(strings.TrimPrefix(remote.Path, "/"), "//") {
		return "", function.NewFuncError("the path of the url holds \"//\", which divides the repository from the folder in a module source: write it with single slashes")
	}
	if !gitref.IsID(commit) {
		return "", function.NewArgumentFuncError(1, "commit must be a full commit id: 40 or 64 lower-case hex digits. Abbreviated ids and names can move")
	}
	subdir = strings.Trim(subdir, "/")
	for _, segment := range strings.Split(subdir, "/") {
		if segment == ".." || segment == "." || (segment == "" && subdir != "") {
			return "", function.NewArgumentFuncError(2, "subdir must be a plain path inside the repository, without empty segments, \".\" or \"..\"")
		}
	}
	address := "git::" + sourceURL(remote)
	if subdir != "" {
		address += "//" + (&url.URL{Path: subdir}).EscapedPath()
	}
	return address + "?ref=" + commit, nil
}

// sourceURL returns the URL form that the CLI's module installer takes. It
// reads no scp form behind "git::" reliably, so that becomes ssh://, as the
// installer itself does with one.
func sourceURL(remote giturl.Remote) string {
	if remote.Scheme != giturl.SSH {
		return remote.Canonical()
	}
	u := url.URL{Scheme: "ssh", Host: strings.TrimSuffix(remote.Address(), ":22"), Path: "/" + strings.TrimPrefix(remote.Path, "/")}
	if remote.User != "" {
		u.User = url.User(remote.User)
	}
	return u.String()
}

// functionError is the error of a function. It names no argument: core would
// quote it, and it may hold a secret. Core adds the full stop.
func functionError(err error) *function.FuncError {
	return function.NewFuncError(strings.TrimSuffix(err.Error(), "."))
}
