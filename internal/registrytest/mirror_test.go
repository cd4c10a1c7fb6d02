package registrytest

import (
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// newMirror lets the CLI itself make a mirror from a registry: packed files for
// a filesystem mirror, with the answers of a network mirror beside them.
func newMirror(t *testing.T, r release) string {
	t.Helper()
	c, key, dir := newCLI(t), newKey(t), t.TempDir()
	key.sign(t, r)
	reg := newRegistry(t, r, key)
	c.trust(reg.HTTP)
	c.configure(c.redirect(reg))
	c.config(readmeRequired(t, r))
	c.must(0, "providers", "mirror", "-platform="+runtime.GOOS+"_"+runtime.GOARCH, dir)
	return dir
}

// readmeMirror is the CLI configuration that the README gives for a filesystem
// mirror, with another path.
func readmeMirror(t *testing.T, dir string) string {
	t.Helper()
	block := readmeBlock(t, 1)
	path := regexp.MustCompile(`path( *)= ".*"`)
	if !path.MatchString(block) {
		t.Fatalf("the README's second block has no path:\n%s", block)
	}
	return path.ReplaceAllLiteralString(block, fmt.Sprintf("path = %q", dir))
}

func TestMirrorOfPackedFiles(t *testing.T) {
	c, j, r := newCLI(t), newJob(t), theRelease(t)
	c.configure(readmeMirror(t, newMirror(t, r)))
	c.config(readmeRequired(t, r), j.config)
	c.must(0, "init", "-no-color").says(t, "Installed gitpin/gitpin v"+r.version)
	c.use(j)
}

func TestMirrorOfUnpackedFiles(t *testing.T) {
	c, j, r, dir := newCLI(t), newJob(t), theRelease(t), t.TempDir()
	unzip(t, r.files[r.zip()], filepath.Join(dir, c.defaultHost, "gitpin", "gitpin", r.version, runtime.GOOS+"_"+runtime.GOARCH))
	c.configure(readmeMirror(t, dir))
	c.config(readmeRequired(t, r), j.config)
	c.must(0, "init", "-no-color").says(t, "Installed gitpin/gitpin v"+r.version)
	c.use(j)
}

// unzip unpacks a zip into dir.
func unzip(t *testing.T, data []byte, dir string) {
	t.Helper()
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, file := range entries(t, data) {
		if err := os.WriteFile(filepath.Join(dir, file.Name), content(t, file), file.Mode()); err != nil {
			t.Fatal(err)
		}
	}
}

// serveMirror serves a mirror by the provider network mirror protocol:
// https://developer.hashicorp.com/terraform/internals/provider-network-mirror-protocol.
// It returns the CLI configuration that names it.
func serveMirror(t *testing.T, c *cli, dir string) string {
	t.Helper()
	server := gittest.ServeHTTP(t, "", gittest.HTTPOptions{
		Handler: http.StripPrefix("/mirror/", http.FileServer(http.Dir(dir))), TLS: &gittest.TLSOptions{},
	})
	c.trust(server)
	return fmt.Sprintf("provider_installation {\n  network_mirror {\n    url = \"%s/mirror/\"\n  }\n}\n", server.URL)
}

func TestMirrorOnTheNetwork(t *testing.T) {
	c, j, r := newCLI(t), newJob(t), theRelease(t)
	c.configure(serveMirror(t, c, newMirror(t, r)))
	c.config(readmeRequired(t, r), j.config)
	c.must(0, "init", "-no-color").says(t, "Installed gitpin/gitpin v"+r.version)
	c.use(j)
}

// A mirror whose zip was exchanged is refused by the hash that the network
// mirror gives, and in a filesystem mirror by the lock file.
func TestMirrorRefused(t *testing.T) {
	r := theRelease(t)
	forged, err := zipped(r.binary(runtime.GOOS), []byte("#!/bin/sh\nexit 1\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	mirror := newMirror(t, r)
	locked := newCLI(t)
	locked.configure(readmeMirror(t, mirror))
	locked.config(readmeRequired(t, r))
	locked.must(0, "init", "-no-color")

	zips, err := filepath.Glob(filepath.Join(mirror, "*", "gitpin", "gitpin", r.zip()))
	if err != nil || len(zips) != 1 {
		t.Fatalf("the mirror has the zips %v, %v", zips, err)
	}
	if err := os.WriteFile(zips[0], forged, 0o600); err != nil {
		t.Fatal(err)
	}
	network := newCLI(t)
	network.configure(serveMirror(t, network, mirror))
	network.config(readmeRequired(t, r))
	network.must(1, "init", "-no-color").says(t, "doesn't match the expected checksum")
	locked.fresh()
	locked.must(1, "init", "-no-color").says(t, "doesn't match any of the checksums previously recorded")
	for _, c := range []*cli{network, locked} {
		if installed := c.installed(); len(installed) > 0 {
			t.Errorf("installed all the same: %v", installed)
		}
	}
}
