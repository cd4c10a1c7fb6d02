package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
)

// loadAverage returns how many processes wanted to run in the last minute, on
// average.
func loadAverage() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	load, _, _ := strings.Cut(string(text), " ")
	return load
}

// machine says on what was measured.
func machine(ctx context.Context, cli string) string {
	list := []string{fmt.Sprintf("%s, %s/%s, %d CPUs", runtime.Version(), runtime.GOOS, runtime.GOARCH, runtime.NumCPU())}
	for _, command := range [][]string{{"git", "version"}, {"nginx", "-v"}, {"ssh", "-V"}, {cli, "version"}} {
		out, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
		line, _, _ := strings.Cut(string(out), "\n")
		if err == nil {
			list = append(list, line)
		}
	}
	return strings.Join(list, "; ")
}

// binarySizes says how large the providers are.
func binarySizes(own, other string) string {
	text := ""
	for _, path := range []string{own, other} {
		info, err := os.Stat(path)
		if err != nil {
			continue
		}
		if text != "" {
			text += ", beside it "
		}
		text += fmt.Sprintf("%s %s", info.Name(), inBytes(info.Size()))
	}
	return text
}
