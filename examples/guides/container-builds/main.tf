terraform {
  required_providers {
    gitpin = {
      source = "gitpin/gitpin"
    }
  }
}

variable "release" {
  description = "Change the default to build a newer commit."
  type        = string
  default     = "1"
}

locals {
  url = "https://git.example.com/acme/app.git"
}

data "gitpin_ref" "app" {
  url    = local.url
  branch = "main"
}

resource "gitpin_pin" "app" {
  observation = data.gitpin_ref.app.observation
  triggers    = { release = var.release }
}

# A build context: <url>#<commit>:<folder>
output "build_context" {
  value = "${local.url}#${gitpin_pin.app.commit}:build"
}

output "image_tag" {
  value = "registry.example.com/acme/app:${gitpin_pin.app.commit}"
}

# Builds when the pin moves, and only then.
resource "terraform_data" "image" {
  triggers_replace = gitpin_pin.app.commit

  provisioner "local-exec" {
    command = "docker buildx build --push --tag \"$IMAGE\" --label \"org.opencontainers.image.revision=$COMMIT\" \"$CONTEXT\""
    environment = {
      CONTEXT = "${local.url}#${gitpin_pin.app.commit}:build"
      IMAGE   = "registry.example.com/acme/app:${gitpin_pin.app.commit}"
      COMMIT  = gitpin_pin.app.commit
    }
  }
}

# A virtual machine that checks out the same commit.
output "cloud_init" {
  value = join("\n", ["#cloud-config", yamlencode({
    packages = ["git"]
    runcmd = [
      ["git", "clone", "--no-checkout", local.url, "/opt/app"],
      ["git", "-C", "/opt/app", "checkout", "--detach", gitpin_pin.app.commit],
    ]
  })])
}
