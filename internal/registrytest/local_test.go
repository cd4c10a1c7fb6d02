package registrytest

import (
	"os"
	"os/exec"
	"strings"
	"testing"
)

// make install, as the README says it, for a home directory of its own. No
// registry is asked: both CLIs look there first.
func TestMakeInstall(t *testing.T) {
	c, j := newCLI(t), newJob(t)
	install := exec.Command("make", "--no-print-directory", "-C", root, "install")
	install.Env = append(goEnvironment(t), c.env...)
	if out, err := install.CombinedOutput(); err != nil {
		t.Fatalf("make install: %v\n%s", err, out)
	}
	c.config(readmeBlock(t, 0), j.config)
	c.must(0, "init", "-no-color").says(t, "Installed gitpin/gitpin v"+ownVersion+" (unauthenticated)")
	c.use(j)
}

// goEnvironment is what go needs to find its caches from another home directory.
func goEnvironment(t *testing.T) []string {
	t.Helper()
	names := []string{"GOCACHE", "GOMODCACHE", "GOPATH", "GOENV", "GOFLAGS", "GOPROXY", "GOSUMDB", "GOTOOLCHAIN"}
	out, err := exec.Command("go", append([]string{"env"}, names...)...).Output()
	if err != nil {
		t.Fatal(err)
	}
	var env []string
	for i, value := range strings.Split(strings.TrimSuffix(string(out), "\n"), "\n") {
		env = append(env, names[i]+"="+value)
	}
	return append(env, "TMPDIR="+os.TempDir())
}
