package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// pinAddress is the pin in the configuration that writeConfig writes.
const pinAddress = "gitpin_pin.app"

// configuration is what the demo's main.tf is about.
type configuration struct {
	url       string
	selector  string            // an HCL attribute, such as `branch = "main"`
	prefix    string            // url of the credentials; "" for none
	secret    map[string]string // reaches the provider by the environment only
	ephemeral bool
}

// write writes main.tf into the CLI's directory, prints it, and hands the
// secret over.
func (f configuration) write(c *cli) error {
	text := f.text()
	fmt.Printf("\nmain.tf:\n\n")
	for line := range strings.Lines(text) {
		fmt.Print("    " + line)
	}
	if f.prefix != "" {
		c.setenv("TF_VAR_secret", object(f.secret))
	}
	return os.WriteFile(filepath.Join(c.dir, "main.tf"), []byte(text), 0o600)
}

// text is the configuration in the strict form: the reading travels in the
// plan file from the data source to the pin.
func (f configuration) text() string {
	var b strings.Builder
	b.WriteString(`terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

`)
	if f.prefix == "" {
		b.WriteString("provider \"gitpin\" {}\n")
	} else {
		ephemeral := ""
		if f.ephemeral {
			ephemeral = "  ephemeral = true # in neither plan nor state\n"
		}
		fmt.Fprintf(&b, `variable "secret" {
  type      = map(string)
  sensitive = true
%s}

provider "gitpin" {
  credentials = [{
    url    = %s
    secret = var.secret
  }]
}
`, ephemeral, quote(f.prefix))
	}
	fmt.Fprintf(&b, `
variable "release" {
  type    = string
  default = "1"
}

data "gitpin_ref" "app" {
  url    = %s
  %s
}

resource "gitpin_pin" "app" {
  observation = data.gitpin_ref.app.observation
  triggers    = { release = var.release }
}

output "commit" {
  value = gitpin_pin.app.commit
}

output "update_available" {
  value = gitpin_pin.app.update_available
}
`, quote(f.url), f.selector)
	return b.String()
}

// object returns m as an HCL object. The CLIs parse the environment's value for a
// map as HCL, not as JSON: a password with "${" in it would be an expression.
func object(m map[string]string) string {
	var b strings.Builder
	b.WriteString("{")
	for i, key := range slices.Sorted(maps.Keys(m)) {
		if i > 0 {
			b.WriteString(", ")
		}
		b.WriteString(quote(key) + " = " + quote(m[key]))
	}
	b.WriteString("}")
	return b.String()
}

// quote returns text as an HCL string: a JSON string in which "${" and "%{"
// begin no template.
func quote(text string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	// A string builder refuses nothing and every string can be encoded.
	if err := e.Encode(text); err != nil {
		panic(err)
	}
	return strings.NewReplacer("${", "$${", "%{", "%%{").Replace(strings.TrimSuffix(b.String(), "\n"))
}
