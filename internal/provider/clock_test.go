package provider

import (
	"context"
	"encoding/json"
	"sync"
	"testing"
	"time"

	"github.com/hashicorp/go-plugin"
	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"
)

// clock is a clock that stands still until it is moved.
type clock struct {
	mu  sync.Mutex
	now time.Time
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now = c.now.Add(d)
}

// newClockWorkspace is a workspace whose provider runs inside the test, with a
// clock of the test's own. Each command configures it anew, as a new process
// would.
func newClockWorkspace(t *testing.T) (*workspace, *clock) {
	t.Helper()
	w := newWorkspace(t)
	c := &clock{now: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
	ctx, cancel := context.WithCancel(context.Background())
	configs, closed := make(chan *plugin.ReattachConfig, 1), make(chan struct{})
	serve := func() tfprotov6.ProviderServer { return providerserver.NewProtocol6(New("test", c.Now)())() }
	go func() {
		if err := tf6server.Serve("registry.terraform.io/gitpin/gitpin", serve, tf6server.WithDebug(ctx, configs, closed), tf6server.WithLoggingSink(t)); err != nil {
			t.Error(err)
		}
	}()
	t.Cleanup(func() {
		cancel()
		<-closed
	})
	config := <-configs
	reattach, err := json.Marshal(map[string]any{"registry.terraform.io/gitpin/gitpin": map[string]any{
		"Protocol": config.Protocol, "ProtocolVersion": config.ProtocolVersion, "Pid": config.Pid, "Test": true,
		"Addr": map[string]string{"Network": config.Addr.Network(), "String": config.Addr.String()},
	}})
	if err != nil {
		t.Fatal(err)
	}
	w.env = append(w.env, "TF_REATTACH_PROVIDERS="+string(reattach))
	return w, c
}
