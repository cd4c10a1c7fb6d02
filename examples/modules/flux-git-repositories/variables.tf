variable "repositories" {
  description = <<-EOT
    The repositories by the name of their GitRepository. Each has a url and exactly one of branch,
    tag, ref and semver. The url stands in the manifest too, so for ssh write it as ssh://, which
    is the form that Flux takes. A change of triggers moves that pin.
  EOT
  type = map(object({
    url                 = string
    branch              = optional(string)
    tag                 = optional(string)
    ref                 = optional(string)
    semver              = optional(string)
    tag_filter          = optional(object({ pattern = string, extract = optional(string) }))
    include_prereleases = optional(bool)

    triggers         = optional(map(string))
    update           = optional(string, "hold")
    min_observed_age = optional(string)

    interval    = optional(string, "10m")
    secret_name = optional(string)
  }))
}

variable "namespace" {
  description = "Namespace of the GitRepository objects."
  type        = string
  default     = "flux-system"
}
