terraform {
  required_providers {
    gitpin = { source = "registry.terraform.io/gitpin/gitpin" }
  }
}
variable "proxy" {
  type = string
}
provider "gitpin" {
  proxy = { url = var.proxy }
}
resource "gitpin_pin" "aged" {
  url                 = "http://git.example.com/a.git"
  branch              = "main"
  triggers            = { release = "1" }
  min_observed_age    = "24h"
  freshness_threshold = "720h"
}
resource "gitpin_pin" "tag" {
  url          = "http://git.example.com/a.git"
  tag          = "v1.1.0"
  on_tag_moved = "hold"
}
resource "gitpin_pin" "missing" {
  url    = "http://git.example.com/a.git"
  branch = "foo"
}
resource "gitpin_pin" "semver" {
  url        = "http://git.example.com/s.git"
  semver     = ">=1.0"
  tag_filter = { pattern = "^v?(.*)$", extract = "$1" }
}
data "gitpin_ref" "strict" {
  url = "http://git.example.com/a.git"
  ref = "refs/heads/main"
}
resource "gitpin_pin" "strict" {
  observation      = data.gitpin_ref.strict.observation
  min_observed_age = "24h"
}
resource "gitpin_pin_set" "self" {
  pins = {
    main = { url = "http://git.example.com/a.git", branch = "main" }
    web  = { url = "http://git.example.com/s.git", semver = "1.x" }
  }
  min_observed_age = "24h"
}
data "gitpin_snapshot" "strict" {
  targets = {
    main = { url = "http://git.example.com/a.git", branch = "main" }
  }
}
resource "gitpin_pin_set" "strict" {
  observations = data.gitpin_snapshot.strict.observations
}
