# The strict form: the reading travels in the plan file, so apply records the
# commit that the plan showed even when the branch has moved since.
data "gitpin_ref" "app" {
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
}

variable "release" {
  type    = string
  default = "1"
}

resource "gitpin_pin" "app" {
  observation = data.gitpin_ref.app.observation

  # The pin stays until this changes. Change the default of release, not -var.
  triggers = { release = var.release }
}

# The self-observing form: no data source, and no network needed to plan while
# the inputs stay.
resource "gitpin_pin" "tools" {
  url = "https://git.example.com/acme/tools.git"
  tag = "v1.2.0"
}

# Follows the branch: every plan proposes the newest commit.
resource "gitpin_pin" "edge" {
  observation = data.gitpin_ref.app.observation
  update      = "follow"
}

# Follows the releases of a range, each only a day after it was first seen.
resource "gitpin_pin" "stable" {
  url              = "https://git.example.com/acme/app.git"
  semver           = "1.x"
  update           = "follow"
  min_observed_age = "24h"
}

output "commit" {
  value = gitpin_pin.app.commit
}
