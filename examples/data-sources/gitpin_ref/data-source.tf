data "gitpin_ref" "app" {
  url    = "https://git.example.com/acme/app.git"
  branch = "main"
}

output "commit" {
  value = data.gitpin_ref.app.commit
}

# A tag: commit is what it leads to, object is what the tag itself names.
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

# The highest version in a range.
data "gitpin_ref" "stable" {
  url    = "https://git.example.com/acme/app.git"
  semver = ">=1.2.0 <2.0.0"
}

# The highest version of one component of a monorepo: tags such as api/v1.4.2.
data "gitpin_ref" "api" {
  url    = "https://git.example.com/acme/platform.git"
  semver = "1.x"
  tag_filter = {
    pattern = "^api/(?P<version>v.+)$"
    extract = "$version"
  }
}

# A repository that the same apply creates: depends_on moves the reading into
# the apply, and wait polls until the branch is there.
resource "terraform_data" "repository" {
  input = "https://git.example.com/acme/new.git" # stands for what creates it
}

data "gitpin_ref" "new" {
  url    = terraform_data.repository.output
  branch = "main"
  wait = {
    timeout  = "5m"
    interval = "10s"
  }
  depends_on = [terraform_data.repository]
}
