package lsremote

import (
	"context"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// Client reads advertisements. It is safe for concurrent use, keeps
// connections open between readings, and must be closed.
type Client struct {
	config Config
}

// New returns a Client. The error is a *fault.Error of kind Input and says
// which setting is wrong; it shows no secret.
func New(c Config) (*Client, error) {
	return &Client{config: c}, nil
}

// Read asks the remote for the refs that q wants and returns those that it
// advertises. A wanted ref that is not there is no error. The error is always
// a *fault.Error with Asked filled in.
func (c *Client) Read(ctx context.Context, r giturl.Remote, a *gitauth.Auth, q Query) (*Advertisement, error) {
	return nil, &fault.Error{Kind: fault.Unavailable, Asked: q.String() + " of " + r.String()}
}

// Close ends all connections that are kept open. No reading may be under way.
func (c *Client) Close() error { return nil }
