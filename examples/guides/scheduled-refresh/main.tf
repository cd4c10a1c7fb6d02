terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

resource "gitpin_pin" "app" {
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
  update = "follow"

  # A commit is proposed a day after a refresh first saw it.
  min_observed_age = "24h"

  # A plan fails when the remote could not be read for three days.
  freshness_threshold = "72h"
}
