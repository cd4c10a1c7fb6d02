package registrytest

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// registry is a provider registry over TLS on loopback that knows one release:
// https://developer.hashicorp.com/terraform/internals/provider-registry-protocol.
// What it tells of a release it takes from the release's own files, as the
// public registries do.
type registry struct {
	*gittest.HTTP
	t       *testing.T
	release release
	key     signingKey // the key that the registry vouches for
}

// newRegistry serves a release, signed by key, for gitpin/gitpin.
func newRegistry(t *testing.T, r release, key signingKey) *registry {
	t.Helper()
	reg := &registry{t: t, release: r, key: key}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/terraform.json", reg.services)
	mux.HandleFunc("GET /v1/providers/gitpin/gitpin/versions", reg.versions)
	mux.HandleFunc("GET /v1/providers/gitpin/gitpin/{version}/download/{os}/{arch}", reg.download)
	mux.HandleFunc("GET /files/{name}", reg.file)
	reg.HTTP = gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: mux, TLS: &gittest.TLSOptions{}})
	return reg
}

// host is the registry's name in a source address.
func (reg *registry) host() string {
	return strings.Replace(reg.Addr(), "127.0.0.1", "localhost", 1)
}

// providers is the address of the provider registry protocol's root.
func (reg *registry) providers() string { return "https://" + reg.host() + "/v1/providers/" }

func (reg *registry) services(w http.ResponseWriter, _ *http.Request) {
	reg.answer(w, map[string]string{"providers.v1": "/v1/providers/"})
}

// protocols returns the plugin protocol versions that the release's manifest
// names.
func (reg *registry) protocols() []string {
	var manifest struct {
		Metadata struct {
			Protocols []string `json:"protocol_versions"`
		} `json:"metadata"`
	}
	if err := json.Unmarshal(reg.release.files[reg.release.file("manifest.json")], &manifest); err != nil {
		reg.t.Error(err)
	}
	return manifest.Metadata.Protocols
}

func (reg *registry) versions(w http.ResponseWriter, _ *http.Request) {
	var platforms []map[string]string
	for _, platform := range reg.release.platforms() {
		goos, arch, _ := strings.Cut(platform, "_")
		platforms = append(platforms, map[string]string{"os": goos, "arch": arch})
	}
	reg.answer(w, map[string]any{"versions": []any{map[string]any{
		"version": reg.release.version, "protocols": reg.protocols(), "platforms": platforms,
	}}})
}

func (reg *registry) download(w http.ResponseWriter, r *http.Request) {
	platform := r.PathValue("os") + "_" + r.PathValue("arch")
	if r.PathValue("version") != reg.release.version || !slices.Contains(reg.release.platforms(), platform) {
		http.NotFound(w, r)
		return
	}
	files := "https://" + reg.host() + "/files/"
	zip, sums := reg.release.file(platform+".zip"), reg.release.file("SHA256SUMS")
	reg.answer(w, map[string]any{
		"protocols": reg.protocols(), "os": r.PathValue("os"), "arch": r.PathValue("arch"),
		"filename": zip, "download_url": files + zip, "shasum": reg.sumOf(zip),
		"shasums_url": files + sums, "shasums_signature_url": files + sums + ".sig",
		"signing_keys": map[string]any{"gpg_public_keys": []any{map[string]string{
			"key_id": reg.key.id, "ascii_armor": reg.key.public,
		}}},
	})
}

// sumOf returns the checksum that SHA256SUMS has for a file.
func (reg *registry) sumOf(name string) string {
	for line := range strings.Lines(string(reg.release.files[reg.release.file("SHA256SUMS")])) {
		if sum, of, _ := strings.Cut(strings.TrimSpace(line), "  "); of == name {
			return sum
		}
	}
	reg.t.Errorf("SHA256SUMS does not name %s", name)
	return ""
}

func (reg *registry) file(w http.ResponseWriter, r *http.Request) {
	data, ok := reg.release.files[r.PathValue("name")]
	if !ok {
		http.NotFound(w, r)
		return
	}
	_, _ = w.Write(data)
}

func (reg *registry) answer(w http.ResponseWriter, value any) {
	w.Header().Set("Content-Type", "application/json")
	if err := json.NewEncoder(w).Encode(value); err != nil {
		reg.t.Error(err)
	}
}
