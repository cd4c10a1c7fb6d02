package main

import "testing"

func TestMayLog(t *testing.T) {
	for variable, want := range map[string]bool{
		"":                          false,
		"PATH=/bin":                 false,
		"TF_LOG=":                   false,
		"TF_LOG_PATH=/tmp/tf.log":   false,
		"TF_LOG_PATH_MASK=x":        false,
		"TF_LOG=TRACE":              true,
		"TF_LOG=off":                true, // Terraform's to interpret
		"TF_LOG_CORE=debug":         true,
		"TF_LOG_PROVIDER=debug":     true,
		"TF_LOG_SDK_FRAMEWORK=warn": true,
	} {
		if got := mayLog([]string{"HOME=/root", variable}); got != want {
			t.Errorf("%q: %t", variable, got)
		}
	}
}
