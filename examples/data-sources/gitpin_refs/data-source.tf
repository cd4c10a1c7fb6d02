# Tags alone: the server sends nothing else.
data "gitpin_refs" "releases" {
  url      = "https://git.example.com/acme/app.git"
  prefixes = ["refs/tags/v1."]
  pattern  = "^refs/tags/v[0-9]+\\.[0-9]+\\.[0-9]+$"
}

output "releases" {
  value = data.gitpin_refs.releases.names
}

# A preview environment for each branch of a family.
data "gitpin_refs" "previews" {
  url      = "https://git.example.com/acme/app.git"
  prefixes = ["refs/heads/preview/"]
}

output "previews" {
  value = {
    for name, ref in data.gitpin_refs.previews.refs :
    trimprefix(name, "refs/heads/preview/") => ref.commit
  }
}

output "default_branch" {
  value = data.gitpin_refs.releases.default_branch
}
