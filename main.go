// Command terraform-provider-gitpin is a Terraform provider that pins git refs.
package main

import (
	"context"
	"flag"
	"log"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"

	"github.com/gitpin/terraform-provider-gitpin/internal/provider"
)

// version is set at build time.
var version = "dev"

func main() {
	debug := flag.Bool("debug", false, "serve for a debugger: print the TF_REATTACH_PROVIDERS value and wait")
	flag.Parse()
	err := providerserver.Serve(context.Background(), provider.New(version, time.Now), providerserver.ServeOpts{
		Address:         "registry.terraform.io/gitpin/gitpin",
		Debug:           *debug,
		ProtocolVersion: 6,
	})
	if err != nil {
		log.Fatal(err)
	}
}
