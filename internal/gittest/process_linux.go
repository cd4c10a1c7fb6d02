package gittest

import (
	"os/exec"
	"syscall"
)

// setProcessAttributes gives cmd a process group of its own, and lets the
// kernel kill it if this process dies without a clean-up.
func setProcessAttributes(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// killProcess kills the process group of cmd. There may be none left.
func killProcess(cmd *exec.Cmd) {
	_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
}
