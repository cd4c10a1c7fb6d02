terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

# {
#   scheme    = "ssh"
#   user      = "git"
#   host      = "git.example.com"
#   port      = 22
#   path      = "acme/app.git"
#   canonical = "git@git.example.com:acme/app.git"
# }
output "parsed" {
  value = provider::gitpin::parse_url("git@git.example.com:acme/app.git")
}

# true: two spellings of one remote.
output "same" {
  value = (
    provider::gitpin::parse_url("https://GIT.example.com:443/acme/app.git/").canonical ==
    provider::gitpin::parse_url("https://git.example.com/acme/app.git").canonical
  )
}
