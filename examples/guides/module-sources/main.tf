terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "release" {
  description = "Change the default to move the pins."
  type        = string
  default     = "1"
}

locals {
  modules = {
    network = {
      url    = "https://git.example.com/acme/modules.git"
      tags   = "^network/(?P<version>v.+)$"
      range  = "1.x"
      subdir = "network"
    }
    database = {
      url    = "https://git.example.com/acme/modules.git"
      tags   = "^database/(?P<version>v.+)$"
      range  = "~2.1"
      subdir = "database"
    }
  }
}

data "gitpin_snapshot" "modules" {
  targets = {
    for name, module in local.modules : name => {
      url    = module.url
      semver = module.range
      tag_filter = {
        pattern = module.tags
        extract = "$version"
      }
    }
  }
}

resource "gitpin_pin_set" "modules" {
  observations = data.gitpin_snapshot.modules.observations
  triggers     = { release = var.release }
}

# terraform output -raw pins_override > ../infrastructure/pins_override.tf.json
output "pins_override" {
  value = jsonencode({
    module = {
      for name, module in local.modules : name => {
        source = provider::gitpin::module_source(
          module.url, gitpin_pin_set.modules.commits[name], module.subdir
        )
      }
    }
  })
}

# terraform output -raw pins_tfvars > ../other/pins.auto.tfvars.json
output "pins_tfvars" {
  value = jsonencode({ pins = gitpin_pin_set.modules.commits })
}
