terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "release" {
  description = "Change the default to move the pin, and to accept a moved tag."
  type        = string
  default     = "1"
}

resource "gitpin_pin" "app" {
  url      = "https://git.example.com/acme/app.git"
  tag      = "v1.2.0"
  triggers = { release = var.release }

  on_tag_moved        = "hold" # keep the commit, and let the check below speak
  freshness_threshold = "168h"
}

# Warns in every plan and apply, and lets them go on.
check "app_pin" {
  assert {
    condition     = gitpin_pin.app.ready
    error_message = "The pin of app cannot be trusted: ${gitpin_pin.app.reason}."
  }
}

# Fails the plan: nothing that reads this output is changed.
output "commit" {
  value = gitpin_pin.app.commit

  precondition {
    condition     = gitpin_pin.app.ready
    error_message = "The pin of app cannot be trusted: ${gitpin_pin.app.reason}."
  }
}
