package gitpoll

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

func sample() Observation {
	at := time.Date(2026, 3, 1, 12, 0, 0, 0, time.UTC)
	return Observation{
		Target: Target{URL: app, Spec: selection.Spec{Semver: "1.x", TagFilter: &selection.TagFilter{Pattern: "^v", Extract: "$0"}}},
		Commit: "c", Object: "o", TrackingRef: "refs/tags/v1.0.0", Version: "1.0.0", SymrefTarget: "s", ObjectFormat: "sha1",
		ObservedAt: at, FirstObservedAt: at,
	}
}

// TestI1_ChecksumCoversEveryField changes each field, also those that are added
// one day, and expects another sum.
func TestI1_ChecksumCoversEveryField(t *testing.T) {
	sum := sample().Checksum()
	if err := sample().VerifyChecksum(sum); err != nil {
		t.Fatal(err)
	}
	changed := 0
	var walk func(v reflect.Value, path string, verify func(path string))
	walk = func(v reflect.Value, path string, verify func(string)) {
		switch {
		case v.Type() == reflect.TypeFor[time.Time]():
			was := v.Interface().(time.Time)
			v.Set(reflect.ValueOf(was.Add(time.Second)))
			verify(path)
			v.Set(reflect.ValueOf(was))
		case v.Kind() == reflect.Pointer:
			walk(v.Elem(), path, verify)
		case v.Kind() == reflect.Struct:
			for i := range v.NumField() {
				walk(v.Field(i), path+"."+v.Type().Field(i).Name, verify)
			}
		case v.Kind() == reflect.String:
			was := v.String()
			v.SetString(was + "x")
			verify(path)
			v.SetString(was)
		case v.Kind() == reflect.Bool:
			v.SetBool(!v.Bool())
			verify(path)
			v.SetBool(!v.Bool())
		default:
			t.Errorf("no way to change %s", path)
		}
	}
	o := sample()
	walk(reflect.ValueOf(&o).Elem(), "Observation", func(path string) {
		changed++
		if o.VerifyChecksum(sum) == nil {
			t.Errorf("a change of %s goes unnoticed", path)
		}
	})
	if changed != len(o.fields()) {
		t.Errorf("%d fields changed", changed)
	}
	if o.VerifyChecksum(sum) != nil {
		t.Error("the sample was not restored")
	}
}

func TestI1_ChecksumKeepsFieldsApart(t *testing.T) {
	a, b := sample(), sample()
	a.Commit, a.Object = "ab", "c"
	b.Commit, b.Object = "a", "bc"
	if a.Checksum() == b.Checksum() {
		t.Error("a character can move from one field to the next")
	}
}

func TestI1_VerifyChecksumSaysWhatIsWrong(t *testing.T) {
	o := sample()
	for sum, part := range map[string]string{
		"":                              "not of the kind",
		"v0:abc":                        "not of the kind",
		"v1:":                           "written or edited by hand",
		"v1:" + strings.Repeat("0", 64): "written or edited by hand",
		strings.ToUpper(o.Checksum()):   "not of the kind",
	} {
		wantFault(t, o.VerifyChecksum(sum), fault.Input, part, "data.gitpin_ref")
	}
}

// TestChecksumSurvivesTerraform: Terraform composes the Unicode of each text
// between the data source and the pin, and knows a time only as text.
func TestChecksumSurvivesTerraform(t *testing.T) {
	o := sample()
	o.SymrefTarget = "refs/heads/cafe\u0301"
	o.ObservedAt = o.ObservedAt.In(time.FixedZone("", 3600))
	sum := o.Checksum()
	o.SymrefTarget = "refs/heads/caf\u00e9"
	o.ObservedAt, _ = time.Parse(time.RFC3339, FormatTime(o.ObservedAt))
	if err := o.VerifyChecksum(sum); err != nil {
		t.Error(err)
	}
}

// TestChecksumIsStable: state that an older build has written stays good.
func TestChecksumIsStable(t *testing.T) {
	const want = "v1:0af6afbe9b3dc79f63665bfa3e8940f71da8d4b5c1b3b5d7ed1e5949caa5f46b"
	if got := sample().Checksum(); got != want {
		t.Errorf("the encoding has changed without its version: %s", got)
	}
	if got := (Observation{}).Checksum(); !strings.HasPrefix(got, "v1:") {
		t.Errorf("no checksum for the empty observation: %q", got)
	}
}

func TestFormatTime(t *testing.T) {
	if got := FormatTime(time.Time{}); got != "" {
		t.Errorf("the zero time is %q", got)
	}
	at := time.Date(2026, 3, 1, 1, 0, 0, 5e8, time.FixedZone("", 2*3600))
	if got := FormatTime(at); got != "2026-02-28T23:00:00Z" {
		t.Errorf("got %q", got)
	}
}

func TestI2_Plumbing(t *testing.T) {
	groups := [][]Target{
		{branch(app, "main"), {URL: "https://GIT.example.com:443/acme/app.git/", Spec: selection.Spec{Ref: "refs/heads/main"}}},
		{branch(app, "wip")},
		{branch(lib, "main")},
		{branch("https://me@git.example.com/acme/app.git", "main")},
		{branch("http://git.example.com/acme/app.git", "main")},
		{branch("git@git.example.com:/acme/app.git", "main"), branch("ssh://git@git.example.com/acme/app.git", "main")},
		{branch("ssh://other@git.example.com/acme/app.git", "main")},
		{{URL: app, Spec: selection.Spec{Tag: "main"}}},
		{{URL: app, Spec: selection.Spec{Semver: "1.x"}}},
		{{URL: app, Spec: selection.Spec{Semver: "1.x", IncludePrereleases: true}}},
	}
	owner := map[string]int{}
	for i, group := range groups {
		for _, target := range group {
			p, err := target.Plumbing()
			if err != nil {
				t.Fatal(err)
			}
			if j, ok := owner[p]; ok && j != i {
				t.Errorf("%+v has the plumbing of another group: %s", target, p)
			}
			owner[p] = i
		}
	}
	if len(owner) != len(groups) {
		t.Errorf("%d plumbings for %d groups: %v", len(owner), len(groups), owner)
	}
	for _, bad := range []Target{{}, branch("not a url", "main"), branch(app, ""), branch(app, "a..b")} {
		_, err := bad.Plumbing()
		wantFault(t, err, fault.Input)
	}
}
