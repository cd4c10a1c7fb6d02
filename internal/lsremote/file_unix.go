//go:build unix

package lsremote

import (
	"os/exec"
	"syscall"
)

// killWithGroup puts the command into a process group of its own and has all
// of it killed when the command's context ends: git may start helpers.
func killWithGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
}
