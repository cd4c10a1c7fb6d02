package main

import "strings"

// ballast is how many bytes of heap are reserved and never used: they take no
// memory, but the garbage collector counts them and waits until the provider has
// allocated as much again. Without them it runs each time that a heap of a few
// megabytes has doubled, which takes a fifth of the CPU time of a large plan.
const ballast = 16 << 20

// sdkLogs are the environment variables for the levels of the SDK's own log
// (terraform-plugin-log) and of the framework's part of it. The framework looks
// for its logger once for every attribute of a resource, through a context that
// has grown by one for each attribute before, unless its own level is off: ten
// minutes for a set of ten thousand pins.
var sdkLogs = []string{"TF_LOG_SDK", "TF_LOG_SDK_FRAMEWORK"}

// mayLog reports whether anybody can see the SDK's log: Terraform passes the
// environment on to its providers, and drops what they log unless a variable of
// it asks for a log. The SDK writes thousands of lines in a plan with hundreds
// of pins, and Terraform parses each before it drops it.
func mayLog(environ []string) bool {
	for _, variable := range environ {
		name, value, _ := strings.Cut(variable, "=")
		if strings.HasPrefix(name, "TF_LOG") && !strings.HasPrefix(name, "TF_LOG_PATH") && value != "" {
			return true
		}
	}
	return false
}
