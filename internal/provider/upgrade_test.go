package provider

import (
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// testdata/upgrade has a directory for each release with the state that it wrote
// and the configuration that goes with it. At each release, keep one more:
//
//	TF_ACC=1 go test ./internal/provider -run TestUpgrade -record-state 0.2.0
var recordState = flag.String("record-state", "", "write the state of this release to testdata/upgrade/`VERSION`")

// upgradeConfig has each resource in each form, with what private state keeps:
// sightings, a moved tag, a missing ref, the last success. The remotes are
// reached through a proxy, so that the state has the same URLs on every machine.
const upgradeConfig = `variable "proxy" {
  type = string
}
provider "gitpin" {
  proxy = { url = var.proxy }
}
resource "gitpin_pin" "aged" {
  url                 = "http://git.example.com/a.git"
  branch              = "main"
  triggers            = { release = "1" }
  min_observed_age    = "24h"
  freshness_threshold = "720h"
}
resource "gitpin_pin" "tag" {
  url          = "http://git.example.com/a.git"
  tag          = "v1.1.0"
  on_tag_moved = "hold"
}
resource "gitpin_pin" "missing" {
  url    = "http://git.example.com/a.git"
  branch = "foo"
}
resource "gitpin_pin" "semver" {
  url        = "http://git.example.com/s.git"
  semver     = ">=1.0"
  tag_filter = { pattern = "^v?(.*)$", extract = "$1" }
}
data "gitpin_ref" "strict" {
  url = "http://git.example.com/a.git"
  ref = "refs/heads/main"
}
resource "gitpin_pin" "strict" {
  observation      = data.gitpin_ref.strict.observation
  min_observed_age = "24h"
}
resource "gitpin_pin_set" "self" {
  pins = {
    main = { url = "http://git.example.com/a.git", branch = "main" }
    web  = { url = "http://git.example.com/s.git", semver = "1.x" }
  }
  min_observed_age = "24h"
}
data "gitpin_snapshot" "strict" {
  targets = {
    main = { url = "http://git.example.com/a.git", branch = "main" }
  }
}
resource "gitpin_pin_set" "strict" {
  observations = data.gitpin_snapshot.strict.observations
}
`

// upgradeRemote serves the fixtures as git.example.com.
func upgradeRemote(t *testing.T, w *workspace) (repo string) {
	t.Helper()
	root := gittest.Repos(t)
	// A server sees a proxy's request as one for itself.
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	w.env = append(w.env, "TF_VAR_proxy="+server.URL)
	return filepath.Join(root, "a.git")
}

// upgradeMoves is what happens to the remote after the pins were created: one
// branch moves, one is deleted, a tag names another object.
func upgradeMoves(t *testing.T, repo string) {
	t.Helper()
	gittest.Git(t, repo, "update-ref", "refs/heads/main", "refs/heads/feature/foo")
	gittest.Git(t, repo, "update-ref", "refs/tags/v1.1.0", "refs/tags/v1.2.0")
	gittest.Git(t, repo, "update-ref", "-d", "refs/heads/foo")
}

// recordUpgrade writes the state of this release an hour after creation.
func recordUpgrade(t *testing.T, dir string) {
	t.Helper()
	w, clock := newClockWorkspace(t)
	repo := upgradeRemote(t, w)
	w.write(upgradeConfig)
	w.apply()
	upgradeMoves(t, repo)
	clock.advance(time.Hour)
	w.apply("-refresh-only")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for from, to := range map[string]string{"main.tf": "main.tf", "terraform.tfstate": "state.json"} {
		data, err := os.ReadFile(filepath.Join(w.dir, from))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(dir, to), string(data))
	}
}

// State of every release is read by this one without a change, and what its
// private state remembers still counts.
func TestUpgrade(t *testing.T) {
	cliPath(t)
	if *recordState != "" {
		recordUpgrade(t, filepath.Join("testdata", "upgrade", *recordState))
	}
	releases, err := filepath.Glob(filepath.Join("testdata", "upgrade", "*"))
	if err != nil || len(releases) == 0 {
		t.Fatalf("no states of releases: %v", err)
	}
	for _, dir := range releases {
		t.Run(filepath.Base(dir), func(t *testing.T) { readOldState(t, dir) })
	}
}

func readOldState(t *testing.T, dir string) {
	w, clock := newClockWorkspace(t)
	repo := upgradeRemote(t, w)
	upgradeMoves(t, repo)
	for from, to := range map[string]string{"main.tf": "main.tf", "state.json": "terraform.tfstate"} {
		data, err := os.ReadFile(filepath.Join(dir, from))
		if err != nil {
			t.Fatal(err)
		}
		writeFile(t, filepath.Join(w.dir, to), string(data))
	}
	checkSchemaVersions(t, filepath.Join(dir, "state.json"))

	clock.advance(time.Hour) // when the state was written
	w.plan(0)
	w.plan(0, "-refresh-only")
	for address, reason := range map[string]string{"gitpin_pin.aged": "ok", "gitpin_pin.tag": "tag_moved", "gitpin_pin.missing": "ref_missing"} {
		want(t, "reason of "+address, w.state(address)["reason"], reason)
	}

	// A day after the sightings on record, what they saw has become old enough.
	// One made by this version would still be too young.
	clock.advance(23*time.Hour + time.Minute)
	w.apply("-refresh-only")
	want(t, "update_available", w.state("gitpin_pin.aged")["update_available"], false)
	clock.advance(time.Hour)
	w.apply("-refresh-only")
	for _, address := range []string{"gitpin_pin.aged", "gitpin_pin.strict"} {
		want(t, "update_available of "+address, w.state(address)["update_available"], true)
	}
	members := w.state("gitpin_pin_set.self")["members"].(map[string]any)
	want(t, "update_available of member main", members["main"].(map[string]any)["update_available"], true)
}

// checkSchemaVersions ends the test unless the state has a schema version that
// this release knows how to read: the current one.
func checkSchemaVersions(t *testing.T, file string) {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Mode, Type, Provider string
			Instances            []struct {
				SchemaVersion int64  `json:"schema_version"`
				Private       string `json:"private"`
			}
		}
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	managed := 0
	for _, r := range state.Resources {
		if !strings.Contains(r.Provider, "registry.terraform.io/gitpin/gitpin") || len(r.Instances) != 1 || r.Instances[0].SchemaVersion != 0 {
			t.Errorf("%s %s: %+v", r.Mode, r.Type, r.Instances)
		}
		if r.Mode == "managed" {
			managed++
			if r.Instances[0].Private == "" {
				t.Errorf("%s has no private state: nothing is tested of it", r.Type)
			}
		}
	}
	if managed == 0 {
		t.Error("no resource in the state")
	}
}

// A higher version needs a state upgrader, and a state of the old version in
// testdata/upgrade.
func TestSchemaVersions(t *testing.T) {
	server := providerserver.NewProtocol6(New("test", time.Now)())()
	schemas, err := server.GetProviderSchema(t.Context(), &tfprotov6.GetProviderSchemaRequest{})
	if err != nil {
		t.Fatal(err)
	}
	for name, schema := range schemas.ResourceSchemas {
		want(t, "schema version of "+name, schema.Version, 0)
	}
	want(t, "number of resources", len(schemas.ResourceSchemas), 2)
}
