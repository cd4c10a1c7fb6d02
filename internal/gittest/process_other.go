//go:build !linux

package gittest

import "os/exec"

// setProcessAttributes has nothing to set where there is no death signal: a
// program that lost its connection ends by itself.
func setProcessAttributes(*exec.Cmd) {}

// killProcess kills cmd. There may be nothing left to kill.
func killProcess(cmd *exec.Cmd) {
	_ = cmd.Process.Kill()
}
