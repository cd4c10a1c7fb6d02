output "override_json" {
  description = "Content of a file such as pins_override.tf.json, which pins the source of the module blocks of these names."
  value       = jsonencode({ module = { for name, source in local.sources : name => { source = source } } })
}

output "sources" {
  description = "The pinned source addresses by name."
  value       = local.sources
}

output "commits" {
  description = "The pinned commits by name."
  value       = gitpin_pin_set.this.commits
}

output "update_available" {
  description = "Names of the modules for which the remote has something newer."
  value       = [for name, pin in gitpin_pin_set.this.members : name if pin.update_available]
}
