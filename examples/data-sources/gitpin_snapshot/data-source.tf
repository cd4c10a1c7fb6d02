data "gitpin_snapshot" "platform" {
  targets = {
    api = {
      url    = "https://git.example.com/acme/api.git"
      branch = "main"
    }
    web = {
      url = "https://git.example.com/acme/web.git"
      tag = "v1.2.0"
    }
    docs = {
      url    = "ssh://git@ssh.example.com/acme/docs.git"
      semver = "1.x"
    }
  }

  # A target that cannot be observed does not stop the others. A pin that is
  # fed its observation holds.
  on_error = "record"
}

resource "gitpin_pin" "api" {
  observation = data.gitpin_snapshot.platform.observations["api"]
}

output "unreadable" {
  value = data.gitpin_snapshot.platform.errors
}
