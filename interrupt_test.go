package main

import (
	"context"
	"testing"

	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
)

// waiting is a server that answers when the context of a request ends.
type waiting struct {
	tfprotov6.ProviderServer
	began chan struct{}
}

func (s waiting) wait(ctx context.Context) error {
	s.began <- struct{}{}
	<-ctx.Done()
	return ctx.Err()
}

func (s waiting) StopProvider(context.Context, *tfprotov6.StopProviderRequest) (*tfprotov6.StopProviderResponse, error) {
	return &tfprotov6.StopProviderResponse{}, nil
}

func (s waiting) ReadDataSource(ctx context.Context, _ *tfprotov6.ReadDataSourceRequest) (*tfprotov6.ReadDataSourceResponse, error) {
	return nil, s.wait(ctx)
}

func (s waiting) ReadResource(ctx context.Context, _ *tfprotov6.ReadResourceRequest) (*tfprotov6.ReadResourceResponse, error) {
	return nil, s.wait(ctx)
}

func (s waiting) PlanResourceChange(ctx context.Context, _ *tfprotov6.PlanResourceChangeRequest) (*tfprotov6.PlanResourceChangeResponse, error) {
	return nil, s.wait(ctx)
}

func (s waiting) ApplyResourceChange(ctx context.Context, _ *tfprotov6.ApplyResourceChangeRequest) (*tfprotov6.ApplyResourceChangeResponse, error) {
	return nil, s.wait(ctx)
}

// Each request that may read ends with the stop: the one that is under way, and
// one that arrives after it.
func TestStopEndsRequests(t *testing.T) {
	for name, call := range map[string]func(context.Context, tfprotov6.ProviderServer) error{
		"ReadDataSource": func(ctx context.Context, s tfprotov6.ProviderServer) error {
			_, err := s.ReadDataSource(ctx, nil)
			return err
		},
		"ReadResource": func(ctx context.Context, s tfprotov6.ProviderServer) error {
			_, err := s.ReadResource(ctx, nil)
			return err
		},
		"PlanResourceChange": func(ctx context.Context, s tfprotov6.ProviderServer) error {
			_, err := s.PlanResourceChange(ctx, nil)
			return err
		},
		"ApplyResourceChange": func(ctx context.Context, s tfprotov6.ProviderServer) error {
			_, err := s.ApplyResourceChange(ctx, nil)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			until, stop := context.WithCancel(t.Context())
			defer stop()
			s := interruptible{waiting{began: make(chan struct{}, 2)}, until, stop}
			ended := make(chan error, 1)
			go func() { ended <- call(t.Context(), s) }()
			<-s.ProviderServer.(waiting).began
			if _, err := s.StopProvider(t.Context(), nil); err != nil {
				t.Fatal(err)
			}
			if err := <-ended; err == nil {
				t.Error("the request under way did not end with the stop")
			}
			if err := call(t.Context(), s); err == nil {
				t.Error("the request after the stop did not end")
			}
		})
	}
}
