terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "git_identity" {
  description = "Private key, for example file(\"deploy_key\")."
  type        = string
  sensitive   = true
}

variable "git_known_hosts" {
  description = "Output of ssh-keyscan git.example.com, after its fingerprint was checked."
  type        = string
}

provider "gitpin" {
  credentials = [{
    url = "ssh://git@git.example.com"
    secret = {
      identity    = var.git_identity
      known_hosts = var.git_known_hosts
    }
  }]
}

resource "gitpin_pin" "app" {
  url = "ssh://git@git.example.com/acme/app.git"
  tag = "v1.2.0"
}

output "commit" {
  value = gitpin_pin.app.commit
}
