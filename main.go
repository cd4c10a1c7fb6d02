// Command terraform-provider-gitpin is a Terraform provider that pins git refs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"runtime"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/gitpin/terraform-provider-gitpin/internal/provider"
)

// version is set at build time.
var version = "dev"

func main() {
	// net/http hands what a misbehaving server sends to this logger. Nothing of a
	// server's text belongs into Terraform's log.
	log.SetOutput(io.Discard)
	debug := flag.Bool("debug", false, "serve for a debugger: print the TF_REATTACH_PROVIDERS value and wait")
	flag.Parse()
	if !*debug && !mayLog(os.Environ()) {
		_ = os.Setenv(sdkLog, "off")
	}
	reserved := make([]byte, ballast)
	err := providerserver.Serve(context.Background(), provider.New(version, time.Now), providerserver.ServeOpts{
		Address:         "registry.terraform.io/gitpin/gitpin",
		Debug:           *debug,
		ProtocolVersion: 6,
	})
	runtime.KeepAlive(reserved)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
