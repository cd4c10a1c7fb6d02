variable "release" {
  type    = string
  default = "1"
}

# The strict form: fed by one sweep, whose readings travel in the plan file.
data "gitpin_snapshot" "platform" {
  targets = {
    api = { url = "https://git.example.com/acme/api.git", branch = "main" }
    web = { url = "https://git.example.com/acme/web.git", branch = "main" }
  }
}

resource "gitpin_pin_set" "platform" {
  observations = data.gitpin_snapshot.platform.observations

  # All members move together, when this changes. Change the default of release,
  # not -var.
  triggers = { release = var.release }
}

output "api_commit" {
  value = gitpin_pin_set.platform.commits["api"]
}

output "has_updates" {
  value = [for name, pin in gitpin_pin_set.platform.members : name if pin.update_available]
}

# The self-observing form.
resource "gitpin_pin_set" "modules" {
  pins = {
    network = {
      url    = "https://git.example.com/acme/modules.git"
      semver = "1.x"
      tag_filter = {
        pattern = "^network/(?P<version>v.+)$"
        extract = "$version"
      }
    }
    database = {
      url = "https://git.example.com/acme/modules.git"
      tag = "database/v2.0.1"
    }
  }
}

# terraform output -raw pins_json > pins.auto.tfvars.json
output "pins_json" {
  value = gitpin_pin_set.modules.pins_json
}
