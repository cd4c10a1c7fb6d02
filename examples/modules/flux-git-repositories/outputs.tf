output "commits" {
  description = "The pinned commits by name."
  value       = { for name, pin in gitpin_pin.this : name => pin.commit }
}

output "manifests" {
  description = "The GitRepository manifests in YAML, by name."
  value       = local.manifests
}

output "manifest" {
  description = "All manifests as one YAML stream, sorted by name."
  value       = join("", [for name in sort(keys(local.manifests)) : "---\n${local.manifests[name]}"])
}

output "pins" {
  description = "The whole pins by name, for check blocks: ready, reason, update_available."
  value       = gitpin_pin.this
}
