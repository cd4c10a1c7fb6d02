package lsremote

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// Whatever comes of it, a port in the scp form went into the path.
func TestExplainsAPortInTheScpForm(t *testing.T) {
	for url, hint := range map[string]bool{
		"git@git.example.com:2222/acme/app.git":       true,
		"git@git.example.com:acme/app.git":            false,
		"ssh://git@git.example.com:2222/acme/app.git": false,
	} {
		remote, err := giturl.Parse(url)
		if err != nil {
			t.Fatal(err)
		}
		r := &reading{Client: &Client{proxies: &proxies{}}, remote: remote, auth: anonymous}
		got := r.explain(&fault.Error{Kind: fault.Unavailable, Happened: "x", Advice: "Check the port."}).Advice
		if strings.Contains(got, "write ssh://git@git.example.com:2222/acme/app.git.") != hint {
			t.Errorf("%s: %s", url, got)
		}
	}
}
