terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

# The same keys that a Flux Git secret has. Ephemeral values (Terraform 1.10,
# OpenTofu 1.11) are in neither plan nor state.
variable "git_password" {
  type      = string
  sensitive = true
}

provider "gitpin" {
  credentials = [
    {
      url = "https://git.example.com/acme/"
      secret = {
        username = "acme-bot"
        password = var.git_password
      }
    },
  ]
}
