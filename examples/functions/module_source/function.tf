terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

resource "gitpin_pin" "modules" {
  url = "https://git.example.com/acme/modules.git"
  tag = "v1.4.0"
}

# "git::https://git.example.com/acme/modules.git//network?ref=<commit>"
output "network_source" {
  value = provider::gitpin::module_source(
    gitpin_pin.modules.url, gitpin_pin.modules.commit, "network"
  )
}

# The scp form becomes ssh://, as a module source needs it; "" is the root.
output "root_source" {
  value = provider::gitpin::module_source(
    "git@git.example.com:acme/modules.git", gitpin_pin.modules.commit, ""
  )
}
