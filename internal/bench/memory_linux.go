package main

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// peakOfSelf returns the most resident memory that this process has held, in
// bytes. It is not what getrusage says: that begins with what the process held
// that started this one.
func peakOfSelf() int64 {
	status, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(status)) {
		var kib int64
		if n, _ := fmt.Sscanf(line, "VmHWM: %d kB", &kib); n == 1 {
			return kib << 10
		}
	}
	return 0
}

// peakOfChildren returns that of the largest descendant that has ended.
func peakOfChildren() int64 {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_CHILDREN, &usage); err != nil {
		return 0
	}
	return usage.Maxrss << 10
}
