terraform {
  required_version = ">= 1.5"
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

data "gitpin_ref" "this" {
  for_each = var.repositories

  url                 = each.value.url
  branch              = each.value.branch
  tag                 = each.value.tag
  ref                 = each.value.ref
  semver              = each.value.semver
  tag_filter          = each.value.tag_filter
  include_prereleases = each.value.include_prereleases

  # A repository that cannot be read holds its own pin and no other.
  on_error = "record"
}

resource "gitpin_pin" "this" {
  for_each = var.repositories

  observation      = data.gitpin_ref.this[each.key].observation
  triggers         = each.value.triggers
  update           = each.value.update
  min_observed_age = each.value.min_observed_age
}

locals {
  manifests = {
    for name, repository in var.repositories : name => yamlencode({
      apiVersion = "source.toolkit.fluxcd.io/v1"
      kind       = "GitRepository"
      metadata = {
        name      = name
        namespace = var.namespace
      }
      spec = merge(
        {
          url      = repository.url
          interval = repository.interval
          ref      = { commit = gitpin_pin.this[name].commit }
        },
        repository.secret_name == null ? {} : { secretRef = { name = repository.secret_name } },
      )
    })
  }
}
