package registrytest

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// The whole way with a registry of one's own, service discovery included.
func TestInstallFromRegistry(t *testing.T) {
	c, j := newCLI(t), newJob(t)
	r, key := signedRelease(t)
	reg := newRegistry(t, r, key)
	c.trust(reg.HTTP)
	source := reg.host() + "/gitpin/gitpin"
	c.config(required(source, r.version), j.config)

	c.must(0, "init", "-no-color").says(t, "Installed "+source+" v"+r.version, "key ID "+key.id)
	c.use(j)

	lock := c.read(filepath.Join(c.dir, ".terraform.lock.hcl"))
	for _, part := range []string{source, fmt.Sprintf("version     = %q", r.version), `"h1:`} {
		if !strings.Contains(lock, part) {
			t.Errorf("the lock file lacks %s:\n%s", part, lock)
		}
	}
	// With a signed SHA256SUMS, init records every platform: a lock file made on
	// one serves all.
	for _, platform := range r.platforms() {
		if sum := reg.sumOf(r.file(platform + ".zip")); !strings.Contains(lock, `"zh:`+sum) {
			t.Errorf("the lock file lacks the zip of %s:\n%s", platform, lock)
		}
	}

	c.fresh()
	c.must(0, "init", "-no-color", "-lockfile=readonly")
	c.must(2, "plan", "-no-color", "-detailed-exitcode").says(t, j.commit)

	var asked []string
	for _, request := range reg.Requests() {
		asked = append(asked, request.Path)
	}
	for _, path := range []string{"/.well-known/terraform.json", "/v1/providers/gitpin/gitpin/versions", "/files/" + r.zip(), "/files/" + r.file("SHA256SUMS"), "/files/" + r.file("SHA256SUMS.sig")} {
		if !slices.Contains(asked, path) {
			t.Errorf("%s was not asked for, only %v", path, asked)
		}
	}
}

// readmeBlock returns the nth HCL block of the README's section "Install".
func readmeBlock(t *testing.T, n int) string {
	t.Helper()
	readme, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, _ := strings.Cut(string(readme), "\n## Install\n")
	section, _, _ = strings.Cut(section, "\n## ")
	blocks := regexp.MustCompile("(?s)```hcl\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) <= n {
		t.Fatalf("the README's section Install has %d HCL blocks", len(blocks))
	}
	return blocks[n][1]
}

// readmeRequired is how the README asks for the provider. A CLI takes a
// pre-release, which a snapshot is, only by its exact version.
func readmeRequired(t *testing.T, r release) string {
	t.Helper()
	block := readmeBlock(t, 0)
	if strings.Contains(r.version, "-") {
		block = regexp.MustCompile(`version = ".*"`).ReplaceAllString(block, fmt.Sprintf("version = %q", r.version))
	}
	return block
}

// What the README says, word for word; the one thing that differs from a
// stranger's machine is where the public registry's name leads.
func TestInstallAsReadmeSays(t *testing.T) {
	c, j := newCLI(t), newJob(t)
	r, key := signedRelease(t)
	reg := newRegistry(t, r, key)
	c.trust(reg.HTTP)
	c.configure(c.redirect(reg))
	c.config(readmeRequired(t, r), j.config)
	c.must(0, "init", "-no-color").says(t, "Installed gitpin/gitpin v"+r.version)
	c.use(j)
}

// What was tampered with is refused and not installed.
func TestInstallRefused(t *testing.T) {
	key, other := newKey(t), newKey(t)
	// A whole zip of other content: the archive itself has nothing wrong.
	forged, err := zipped(theRelease(t).binary(runtime.GOOS), []byte("#!/bin/sh\nexit 1\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		name   string
		tamper func(release)
		says   string
	}{
		{"zip", func(r release) {
			key.sign(t, r)
			r.files[r.zip()] = forged
		}, "archive has incorrect checksum"},
		{"zip and SHA256SUMS", func(r release) {
			key.sign(t, r)
			signature := r.file("SHA256SUMS.sig")
			signed := r.files[signature]
			delete(r.files, signature)
			r.files[r.zip()] = forged
			r.sum()
			r.files[signature] = signed
		}, "invalid signature"},
		{"signature by another key", func(r release) { other.sign(t, r) }, "unknown issuer"},
		{"signature cut short", func(r release) {
			key.sign(t, r)
			signature := r.file("SHA256SUMS.sig")
			r.files[signature] = r.files[signature][:20]
		}, "error checking signature"},
	} {
		t.Run(test.name, func(t *testing.T) {
			c, r := newCLI(t), theRelease(t)
			test.tamper(r)
			reg := newRegistry(t, r, key)
			c.trust(reg.HTTP)
			c.config(required(reg.host()+"/gitpin/gitpin", r.version))
			c.must(1, "init", "-no-color").says(t, "Failed to install provider", test.says)
			if installed := c.installed(); len(installed) > 0 {
				t.Errorf("installed all the same: %v", installed)
			}
		})
	}
}

// A version that was published again with other content is refused by whoever
// has a lock file, even with a good signature.
func TestInstallRefusedByLockFile(t *testing.T) {
	c, r, key := newCLI(t), theRelease(t), newKey(t)
	key.sign(t, r)
	reg := newRegistry(t, r, key)
	c.trust(reg.HTTP)
	c.config(required(reg.host()+"/gitpin/gitpin", r.version))
	c.must(0, "init", "-no-color")

	again, err := zipped(r.binary(runtime.GOOS), []byte("#!/bin/sh\nexit 1\n"), nil)
	if err != nil {
		t.Fatal(err)
	}
	reg.Down()
	delete(r.files, r.file("SHA256SUMS.sig"))
	r.files[r.zip()] = again
	r.sum()
	key.sign(t, r)
	if err := reg.Up(); err != nil {
		t.Fatal(err)
	}
	c.fresh()
	c.must(1, "init", "-no-color").says(t, "doesn't match any of the checksums previously recorded")
	if installed := c.installed(); len(installed) > 0 {
		t.Errorf("installed all the same: %v", installed)
	}
}
