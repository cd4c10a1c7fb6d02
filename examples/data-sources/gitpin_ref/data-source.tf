data "gitpin_ref" "app" {
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
}

output "commit" {
  value = data.gitpin_ref.app.commit
}

# A tag: commit is what it leads to, object is the tag object.
data "gitpin_ref" "release" {
  url = "https://git.example.com/acme/app.git"
  tag = "v1.2.0"
}

# The remote's default branch.
data "gitpin_ref" "default" {
  url = "https://git.example.com/acme/app.git"
  ref = "HEAD"
}

# A branch that may not be there: commit is null then.
data "gitpin_ref" "preview" {
  url        = "https://git.example.com/acme/app.git"
  branch     = "preview"
  on_missing = "null"
}
