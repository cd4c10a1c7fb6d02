package main

import (
	"context"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// interruptible is a provider server whose requests end when it was told to stop,
// or when until ends.
//
// Terraform tells its providers to stop when it is interrupted, but not while it
// plans as a part of apply: a silent host would hold it up until the timeout of
// the reading. A terminal sends the interrupt to this process as well. And the
// SDK stops the requests that it is serving; one that Terraform has sent by then
// and that arrives a moment later would go on.
type interruptible struct {
	tfprotov6.ProviderServer
	until context.Context
	stop  context.CancelFunc // ends until
}

// StopProvider ends the requests that are under way, and all that come later.
func (s interruptible) StopProvider(ctx context.Context, req *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	s.stop()
	return s.ProviderServer.StopProvider(ctx, req)
}

// bound returns ctx, ending with s.until too, and what must be called when the
// request is served.
func (s interruptible) bound(ctx context.Context) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	unbind := context.AfterFunc(s.until, cancel)
	return ctx, func() { unbind(); cancel() }
}

// ReadDataSource passes the request on. So do the methods below.
func (s interruptible) ReadDataSource(ctx context.Context, req *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	ctx, done := s.bound(ctx)
	defer done()
	return s.ProviderServer.ReadDataSource(ctx, req)
}

// ReadResource refreshes.
func (s interruptible) ReadResource(ctx context.Context, req *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	ctx, done := s.bound(ctx)
	defer done()
	return s.ProviderServer.ReadResource(ctx, req)
}

// PlanResourceChange may have to read what is new.
func (s interruptible) PlanResourceChange(ctx context.Context, req *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	ctx, done := s.bound(ctx)
	defer done()
	return s.ProviderServer.PlanResourceChange(ctx, req)
}

// ApplyResourceChange reads once more what a self-observing creation records.
func (s interruptible) ApplyResourceChange(ctx context.Context, req *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	ctx, done := s.bound(ctx)
	defer done()
	return s.ProviderServer.ApplyResourceChange(ctx, req)
}
