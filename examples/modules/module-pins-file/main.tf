terraform {
  required_version = ">= 1.7" # provider functions: Terraform 1.8 or OpenTofu 1.7
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

data "gitpin_snapshot" "this" {
  targets = {
    for name, module in var.modules : name => {
      url                 = module.url
      branch              = module.branch
      tag                 = module.tag
      ref                 = module.ref
      semver              = module.semver
      tag_filter          = module.tag_filter
      include_prereleases = module.include_prereleases
    }
  }
}

# All or none: a set of modules that were tested together stays together.
resource "gitpin_pin_set" "this" {
  observations = data.gitpin_snapshot.this.observations
  triggers     = var.triggers
  update       = var.update
}

locals {
  sources = {
    for name, module in var.modules :
    name => provider::gitpin::module_source(module.url, gitpin_pin_set.this.commits[name], module.subdir)
  }
}
