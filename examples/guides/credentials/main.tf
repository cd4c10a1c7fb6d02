terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "https_token" {
  type      = string
  sensitive = true
}

variable "bearer_token" {
  type      = string
  sensitive = true
}

variable "client" {
  description = "Client certificate and private authority, all PEM."
  type = object({
    certificate = string
    key         = string
    authority   = string
  })
  sensitive = true
}

variable "deploy_key" {
  type = object({
    identity    = string # private key, PEM or OpenSSH
    known_hosts = string # ssh-keyscan, after its fingerprint was checked
    passphrase  = optional(string)
  })
  sensitive = true
}

variable "github_app" {
  type = object({
    id           = string
    installation = string
    private_key  = string
  })
  sensitive = true
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
        "tls.crt" = var.client.certificate
        "tls.key" = var.client.key
        "ca.crt"  = var.client.authority
      }
    },
    { # an ssh key; a null element counts as absent
      url = "ssh://git@ssh.example.com"
      secret = {
        identity    = var.deploy_key.identity
        known_hosts = var.deploy_key.known_hosts
        password    = var.deploy_key.passphrase
      }
    },
    { # a GitHub App; githubAppBaseURL is for an Enterprise Server
      url = "https://github.example.com/acme/"
      secret = {
        githubAppID             = var.github_app.id
        githubAppInstallationID = var.github_app.installation
        githubAppPrivateKey     = var.github_app.private_key
        githubAppBaseURL        = "https://github.example.com/api/v3"
      }
    },
  ]
}
