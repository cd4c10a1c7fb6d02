terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "git_username" {
  type = string
}

variable "git_password" {
  type      = string
  sensitive = true
  ephemeral = true # not in the plan file; Terraform 1.10, OpenTofu 1.11, or newer
}

variable "release" {
  description = "Change the default to move the pin."
  type        = string
  default     = "1"
}

provider "gitpin" {
  credentials = [{
    url = "https://git.example.com/acme/"
    secret = { # the keys of the Flux Secret
      username = var.git_username
      password = var.git_password
    }
  }]
}

locals {
  url = "https://git.example.com/acme/app.git"
}

data "gitpin_ref" "app" {
  url    = local.url
  branch = "main"
}

resource "gitpin_pin" "app" {
  observation = data.gitpin_ref.app.observation
  triggers    = { release = var.release }
}

output "git_repository" {
  value = yamlencode({
    apiVersion = "source.toolkit.fluxcd.io/v1"
    kind       = "GitRepository"
    metadata = {
      name      = "app"
      namespace = "flux-system"
    }
    spec = {
      url       = local.url
      interval  = "10m"
      ref       = { commit = gitpin_pin.app.commit }
      secretRef = { name = "acme-git" }
    }
  })
}
