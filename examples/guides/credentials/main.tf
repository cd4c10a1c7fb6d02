terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

# One string for each secret, set by TF_VAR_… in the environment. Terraform 1.10
# or OpenTofu 1.11, and newer, know ephemeral: such a value is in no plan file.
variable "https_token" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "bearer_token" {
  type      = string
  sensitive = true
  ephemeral = true
}

variable "client_key" {
  description = "Private key of the client certificate, PEM."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "client_certificate" {
  description = "PEM."
  type        = string
}

variable "authority" {
  description = "Certificate of the private authority, PEM."
  type        = string
}

variable "deploy_key" {
  description = "Private key, PEM or OpenSSH."
  type        = string
  sensitive   = true
  ephemeral   = true
}

variable "deploy_key_passphrase" {
  type      = string
  default   = null
  sensitive = true
  ephemeral = true
}

variable "known_hosts" {
  description = "Output of ssh-keyscan, after its fingerprint was checked."
  type        = string
}

variable "github_app_key" {
  description = "Private key of the GitHub App, PEM."
  type        = string
  sensitive   = true
  ephemeral   = true
}

provider "gitpin" {
  credentials = [
    { # user name and password, or a token in its place
      url = "https://git.example.com/acme/"
      secret = {
        username = "ci"
        password = var.https_token
      }
    },
    { # a longer prefix wins: this repository takes a bearer token
      url = "https://git.example.com/acme/vault.git"
      secret = {
        bearerToken = var.bearer_token
      }
    },
    { # a client certificate, and an authority that the system does not know
      url = "https://internal.example.com"
      secret = {
        "tls.crt" = var.client_certificate
        "tls.key" = var.client_key
        "ca.crt"  = var.authority
      }
    },
    { # an ssh key; a null element counts as absent
      url = "ssh://git@ssh.example.com"
      secret = {
        identity    = var.deploy_key
        known_hosts = var.known_hosts
        password    = var.deploy_key_passphrase
      }
    },
    { # a GitHub App; githubAppBaseURL is for an Enterprise Server
      url = "https://github.example.com/acme/"
      secret = {
        githubAppID             = "123456"
        githubAppInstallationID = "7890123"
        githubAppPrivateKey     = var.github_app_key
        githubAppBaseURL        = "https://github.example.com/api/v3"
      }
    },
  ]
}
