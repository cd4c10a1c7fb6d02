variable "modules" {
  description = <<-EOT
    The modules by the name of the module block that they pin. Each has a url, exactly one of
    branch, tag, ref and semver, and the module's folder in the repository (subdir), if any.
  EOT
  type = map(object({
    url                 = string
    branch              = optional(string)
    tag                 = optional(string)
    ref                 = optional(string)
    semver              = optional(string)
    tag_filter          = optional(object({ pattern = string, extract = optional(string) }))
    include_prereleases = optional(bool)
    subdir              = optional(string)
  }))

  validation {
    condition     = length(var.modules) > 0
    error_message = "There must be at least one module."
  }
}

variable "triggers" {
  description = "A change moves the pins, all together."
  type        = map(string)
  default     = {}
}

variable "update" {
  description = "\"hold\" moves the pins when triggers change, \"follow\" in every plan."
  type        = string
  default     = "hold"
}
