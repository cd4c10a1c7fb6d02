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
}

provider "gitpin" {
  credentials = [{
    url = "https://git.example.com/acme/"
    secret = {
      username = var.git_username
      password = var.git_password
    }
  }]
}

variable "release" {
  description = "Change the default to move the pin to the newest commit."
  type        = string
  default     = "1"
}

data "gitpin_ref" "app" {
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
}

resource "gitpin_pin" "app" {
  observation = data.gitpin_ref.app.observation
  triggers    = { release = var.release }
}

output "commit" {
  value = gitpin_pin.app.commit
}

check "app_is_current" { # a warning, not a change
  assert {
    condition     = !gitpin_pin.app.update_available
    error_message = "main has moved on to ${gitpin_pin.app.latest.commit}."
  }
}
