package registrytest

import (
	"archive/zip"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/fstest"
	"time"
)

const (
	project = "terraform-provider-gitpin"
	// ownVersion is the version of a release that the tests build themselves:
	// the one of the README's examples.
	ownVersion = "0.1.0"
	root       = "../.."
)

// release is what goreleaser leaves for a registry, by file name.
type release struct {
	version string
	files   map[string][]byte
}

// file returns the name of a file of the release, such as "SHA256SUMS".
func (r release) file(what string) string { return project + "_" + r.version + "_" + what }

// zip returns the name of the zip for this machine.
func (r release) zip() string { return r.file(runtime.GOOS + "_" + runtime.GOARCH + ".zip") }

// binary returns the name of the provider inside of a zip.
func (r release) binary(goos string) string {
	if goos == "windows" {
		return project + "_v" + r.version + ".exe"
	}
	return project + "_v" + r.version
}

// platforms returns what the release was built for, as "os_arch", sorted.
func (r release) platforms() []string {
	var platforms []string
	for name := range r.files {
		if platform, ok := strings.CutSuffix(strings.TrimPrefix(name, r.file("")), ".zip"); ok {
			platforms = append(platforms, platform)
		}
	}
	slices.Sort(platforms)
	return platforms
}

// clone returns a release whose files may be replaced.
func (r release) clone() release {
	r.files = maps.Clone(r.files)
	return r
}

// sum writes SHA256SUMS, in the form of sha256sum, over all other files.
func (r release) sum() {
	delete(r.files, r.file("SHA256SUMS"))
	var sums strings.Builder
	for _, name := range slices.Sorted(maps.Keys(r.files)) {
		fmt.Fprintf(&sums, "%s  %s\n", sha256Hex(r.files[name]), name)
	}
	r.files[r.file("SHA256SUMS")] = []byte(sums.String())
}

func sha256Hex(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// theRelease returns the release under test.
func theRelease(t *testing.T) release {
	t.Helper()
	r, err := loadRelease()
	if err != nil {
		t.Fatal(err)
	}
	return r.clone()
}

var loadRelease = sync.OnceValues(func() (release, error) {
	if dist := os.Getenv("GITPIN_DIST"); dist != "" {
		return readRelease(dist)
	}
	return buildRelease()
})

// readRelease reads the files that SHA256SUMS in dir names.
func readRelease(dir string) (release, error) {
	found, err := filepath.Glob(filepath.Join(dir, project+"_*_SHA256SUMS"))
	if err != nil || len(found) != 1 {
		return release{}, fmt.Errorf("%s has %d files *_SHA256SUMS, not one: %v", dir, len(found), err)
	}
	version := strings.TrimSuffix(strings.TrimPrefix(filepath.Base(found[0]), project+"_"), "_SHA256SUMS")
	r := release{version, map[string][]byte{}}
	sums, err := os.ReadFile(found[0])
	if err != nil {
		return release{}, err
	}
	r.files[r.file("SHA256SUMS")] = sums
	for line := range strings.Lines(string(sums)) {
		_, name, _ := strings.Cut(strings.TrimSpace(line), "  ")
		path := filepath.Join(dir, name)
		if name == r.file("manifest.json") {
			// goreleaser renames it only while it uploads.
			path = filepath.Join(root, "terraform-registry-manifest.json")
		}
		if r.files[name], err = os.ReadFile(path); err != nil {
			return release{}, fmt.Errorf("SHA256SUMS names it: %w", err)
		}
	}
	return r, nil
}

// buildRelease builds what goreleaser would build for this machine.
func buildRelease() (release, error) {
	binary, err := build(ownVersion)
	if err != nil {
		return release{}, err
	}
	licence, err := os.ReadFile(filepath.Join(root, "LICENSE"))
	if err != nil {
		return release{}, err
	}
	manifest, err := os.ReadFile(filepath.Join(root, "terraform-registry-manifest.json"))
	if err != nil {
		return release{}, err
	}
	r := release{ownVersion, map[string][]byte{}}
	r.files[r.file("manifest.json")] = manifest
	if r.files[r.zip()], err = zipped(r.binary(runtime.GOOS), binary, licence); err != nil {
		return release{}, err
	}
	r.sum()
	return r, nil
}

// source is the module as it was when the tests began: somebody may be editing it.
var source = sync.OnceValues(func() (fs.FS, error) {
	files := fstest.MapFS{}
	module := os.DirFS(root)
	err := fs.WalkDir(module, "internal", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() || strings.HasSuffix(path, "_test.go") {
			return err
		}
		data, err := fs.ReadFile(module, path)
		files[path] = &fstest.MapFile{Data: data}
		return err
	})
	top, globErr := fs.Glob(module, "*.go")
	err = errors.Join(err, globErr)
	for _, path := range append(top, "go.mod", "go.sum") {
		data, readErr := fs.ReadFile(module, path)
		files[path] = &fstest.MapFile{Data: data}
		err = errors.Join(err, readErr)
	}
	return files, err
})

// build builds the provider for this machine, with the flags of
// .goreleaser.yml, in a directory that no other build has used, and returns the
// binary.
func build(version string) ([]byte, error) {
	module, err := source()
	if err != nil {
		return nil, err
	}
	dir, err := os.MkdirTemp("", "gitpin-release-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	if err := os.CopyFS(dir, module); err != nil {
		return nil, err
	}
	path := filepath.Join(dir, "built")
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w -X main.version="+version, "-o", path, ".")
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := cmd.CombinedOutput(); err != nil {
		return nil, fmt.Errorf("go build: %w\n%s", err, out)
	}
	return os.ReadFile(path)
}

// zipped returns a zip of the provider under the given name and the licence.
func zipped(name string, binary, licence []byte) ([]byte, error) {
	var buffer bytes.Buffer
	w := zip.NewWriter(&buffer)
	for _, f := range []struct {
		name string
		mode os.FileMode
		data []byte
	}{{"LICENSE", 0o644, licence}, {name, 0o755, binary}} {
		header := &zip.FileHeader{Name: f.name, Method: zip.Deflate, Modified: time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)}
		header.SetMode(f.mode)
		entry, err := w.CreateHeader(header)
		if err != nil {
			return nil, err
		}
		if _, err := entry.Write(f.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return buffer.Bytes(), nil
}
