terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "git_secret" {
  description = "The data of the Flux Secret, decoded: the same keys serve the cluster and the plan."
  type        = map(string)
  sensitive   = true
}

variable "release" {
  description = "Change it to move the pin."
  type        = string
  default     = "1"
}

provider "gitpin" {
  credentials = [{
    url    = "https://git.example.com/acme/"
    secret = var.git_secret
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
