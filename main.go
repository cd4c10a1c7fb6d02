// Command terraform-provider-gitpin is a Terraform provider that pins git refs.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"runtime"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6/tf6server"

	"github.com/gitpin/terraform-provider-gitpin/internal/provider"
)

// version is set at build time.
var version = "dev"

// address is the provider's name in the registry.
const address = "registry.terraform.io/gitpin/gitpin"

func main() {
	// net/http hands what a misbehaving server sends to this logger. Nothing of a
	// server's text belongs into Terraform's log.
	log.SetOutput(io.Discard)
	debug := flag.Bool("debug", false, "serve for a debugger: print the TF_REATTACH_PROVIDERS value and wait")
	flag.Parse()
	if !*debug && !mayLog(os.Environ()) {
		for _, name := range sdkLogs {
			_ = os.Setenv(name, "off")
		}
	}
	if err := serve(*debug); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// serve speaks protocol 6 with Terraform until that ends it.
func serve(debug bool) error {
	reserved := make([]byte, ballast)
	defer runtime.KeepAlive(reserved)
	until, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	var options []tf6server.ServeOpt
	if debug {
		options = append(options, tf6server.WithManagedDebug())
	}
	return tf6server.Serve(address, func() tfprotov6.ProviderServer {
		return interruptible{providerserver.NewProtocol6(provider.New(version, time.Now)())(), until, stop}
	}, options...)
}
