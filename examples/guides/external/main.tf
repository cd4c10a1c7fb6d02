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
