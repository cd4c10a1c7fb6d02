package registrytest

import (
	"archive/zip"
	"bytes"
	"debug/buildinfo"
	"encoding/json"
	"io"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"
)

// releasePlatforms is what a release is built for: all of linux, darwin, windows
// and freebsd on amd64, arm64, arm and 386 that Go has a port for.
var releasePlatforms = []string{
	"darwin_amd64", "darwin_arm64",
	"freebsd_386", "freebsd_amd64", "freebsd_arm", "freebsd_arm64",
	"linux_386", "linux_amd64", "linux_arm", "linux_arm64",
	"windows_386", "windows_amd64", "windows_arm64",
}

// What the registries ask of a release:
// https://developer.hashicorp.com/terraform/registry/providers/publishing.
func TestReleaseFiles(t *testing.T) {
	r := theRelease(t)
	platforms := []string{runtime.GOOS + "_" + runtime.GOARCH}
	if os.Getenv("GITPIN_DIST") != "" {
		platforms = releasePlatforms
	}
	if got := r.platforms(); !slices.Equal(got, platforms) {
		t.Errorf("zips for %v, want %v", got, platforms)
	}
	named := 0
	for line := range strings.Lines(string(r.files[r.file("SHA256SUMS")])) {
		sum, name, _ := strings.Cut(strings.TrimSuffix(line, "\n"), "  ")
		if got := sha256Hex(r.files[name]); got != sum {
			t.Errorf("SHA256SUMS has %s for %q, its content has %s", sum, name, got)
		}
		named++
	}
	if named != len(r.files)-1 {
		t.Errorf("SHA256SUMS names %d files of %d", named, len(r.files)-1)
	}
	var manifest any
	if err := json.Unmarshal(r.files[r.file("manifest.json")], &manifest); err != nil {
		t.Error(err)
	}
	want := map[string]any{"version": 1.0, "metadata": map[string]any{"protocol_versions": []any{"6.0"}}}
	if got, _ := json.Marshal(manifest); string(got) != string(must(json.Marshal(want))) {
		t.Errorf("the manifest is %s", got)
	}
	for _, platform := range r.platforms() {
		t.Run(platform, func(t *testing.T) { checkZip(t, r, platform) })
	}
}

func must(data []byte, err error) []byte {
	if err != nil {
		panic(err)
	}
	return data
}

// checkZip judges one zip: what is in it, and how the provider was built.
func checkZip(t *testing.T, r release, platform string) {
	goos, goarch, _ := strings.Cut(platform, "_")
	name := r.binary(goos)
	modes := map[string]os.FileMode{"LICENSE": 0o644, name: 0o755}
	for _, file := range entries(t, r.files[r.file(platform+".zip")]) {
		mode, ok := modes[file.Name]
		if !ok {
			t.Errorf("%s does not belong into the zip", file.Name)
			continue
		}
		delete(modes, file.Name)
		if file.Mode() != mode {
			t.Errorf("%s has mode %v, want %v: it would be another archive on a machine with another umask", file.Name, file.Mode(), mode)
		}
		if file.Name == name {
			checkBinary(t, content(t, file), goos, goarch)
		}
	}
	if len(modes) > 0 {
		t.Errorf("missing in the zip: %v", modes)
	}
}

func checkBinary(t *testing.T, binary []byte, goos, goarch string) {
	t.Helper()
	info, err := buildinfo.Read(bytes.NewReader(binary))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{"GOOS": goos, "GOARCH": goarch, "CGO_ENABLED": "0", "-trimpath": "true"}
	for _, setting := range info.Settings {
		if value, ok := want[setting.Key]; ok && value == setting.Value {
			delete(want, setting.Key)
		}
		if strings.HasPrefix(setting.Key, "vcs") {
			t.Errorf("built with %s: a build from an archive of the source would differ", setting.Key)
		}
	}
	if len(want) > 0 {
		t.Errorf("not built with %v: %v", want, info.Settings)
	}
}

func entries(t *testing.T, data []byte) []*zip.File {
	t.Helper()
	files, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		t.Fatal(err)
	}
	return files.File
}

func content(t *testing.T, file *zip.File) []byte {
	t.Helper()
	in, err := file.Open()
	if err != nil {
		t.Fatal(err)
	}
	data, err := io.ReadAll(in)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// Anyone who builds the same source gets the same bytes, wherever it lies.
func TestReleaseIsReproducible(t *testing.T) {
	r := theRelease(t)
	again, err := build(r.version)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range entries(t, r.files[r.zip()]) {
		if file.Name == r.binary(runtime.GOOS) && !bytes.Equal(content(t, file), again) {
			t.Error("another build of the same source has other bytes than the release")
		}
	}
}
