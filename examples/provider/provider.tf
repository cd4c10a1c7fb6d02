terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "git_password" {
  type      = string
  sensitive = true
  ephemeral = true # in neither plan nor state; Terraform 1.10, OpenTofu 1.11, or newer
}

provider "gitpin" {
  credentials = [
    {
      url = "https://git.example.com/acme/"
      secret = { # the keys of a Flux Git secret
        username = "acme-bot"
        password = var.git_password
      }
    },
  ]
}

data "gitpin_ref" "app" { # observes
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
}

resource "gitpin_pin" "app" { # records
  observation = data.gitpin_ref.app.observation
  triggers    = { release = "1" } # a change moves the pin
}

output "commit" {
  value = gitpin_pin.app.commit
}
