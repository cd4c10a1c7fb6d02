terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "release" {
  description = "Change the default to move the pin."
  type        = string
  default     = "1"
}

locals {
  url = "https://git.example.com/acme/deploy.git"
}

data "gitpin_ref" "deploy" {
  url    = local.url
  semver = "1.x"
}

resource "gitpin_pin" "deploy" {
  observation = data.gitpin_ref.deploy.observation
  triggers    = { release = var.release }
}

output "application" {
  value = yamlencode({
    apiVersion = "argoproj.io/v1alpha1"
    kind       = "Application"
    metadata = {
      name      = "app"
      namespace = "argocd"
      annotations = {
        # What a person wants to read; the commit decides.
        "example.com/version" = gitpin_pin.deploy.version
      }
    }
    spec = {
      project = "default"
      source = {
        repoURL        = local.url
        targetRevision = gitpin_pin.deploy.commit
        path           = "overlays/production"
      }
      destination = {
        server    = "https://kubernetes.default.svc"
        namespace = "app"
      }
    }
  })
}
