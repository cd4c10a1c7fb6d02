package provider

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitref"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// FuzzImportID: an id is refused, or it is taken apart into exactly what it was
// made of.
func FuzzImportID(f *testing.F) {
	for _, id := range []string{
		"https://git.example.com/acme/app.git refs/heads/main", "git@git.example.com:acme/app.git refs/tags/v1.0.0", "/srv/my repo.git HEAD",
		"ssh://git@git.example.com/r refs/pull/7/head", "https://acme:s3cr3t@git.example.com/r refs/heads/main", "https://git.example.com/r main",
		"https://git.example.com/r a55ffdd34b5dcf319e7b2afb59711679e3b942d6", " refs/heads/main", "x", "", " ", "https://git.example.com/r  refs/heads/a",
		"https://git.example.com/r refs/heads/refs/heads/x", "https://git.example.com/r refs/heads/tags/v1", "https://git.example.com/r\trefs/heads/x",
	} {
		f.Add(id)
	}
	f.Fuzz(func(t *testing.T, id string) {
		m, diags := importedPin(t.Context(), id)
		if diags.HasError() {
			for _, d := range diags {
				if d.Summary() == "" || d.Detail() == "" {
					t.Errorf("%q is refused without a word", id)
				}
			}
			return
		}
		url, full := m.URL.ValueString(), m.Ref.ValueString()
		switch {
		case !m.Branch.IsNull():
			full = "refs/heads/" + m.Branch.ValueString()
		case !m.Tag.IsNull():
			full = "refs/tags/" + m.Tag.ValueString()
		}
		if url+" "+full != id || gitref.CheckFull(full) != nil || strings.Contains(full, " ") {
			t.Errorf("%q became %q and %q", id, url, full)
		}
		if _, err := giturl.Parse(url); err != nil {
			t.Errorf("%q was taken: %v", id, err)
		}
	})
}
