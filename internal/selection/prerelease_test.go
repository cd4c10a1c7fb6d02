package selection

import (
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

func TestPrereleaseAdvice(t *testing.T) {
	const notEnough = "include_prereleases = true is not enough"
	for _, c := range []struct {
		within   string
		included bool
		tags     []string
		says     []string
		not      string
	}{
		{">=2", false, []string{"v2.0.0-rc.1"}, []string{`such as 2.0.0-rc.1, name the lowest one in the range: semver = ">=2.0.0-0"`, notEnough}, ""},
		{">=2", true, []string{"v2.0.0-rc.1"}, []string{`semver = ">=2.0.0-0"`, "2.0.0-rc.1 comes before 2.0.0"}, ""},
		{">= 3.1", false, []string{"v3.2.0-a"}, []string{`semver = ">= 3.1.0-0", or set include_prereleases = true.`}, "2.0.0"},
		{">=1.0.0 <2.0.0", false, []string{"v1.5.0-rc.1", "v2.0.0-rc.1"}, []string{`such as 1.5.0-rc.1, name`, `semver = ">=1.0.0-0 <2.0.0-0", or set`}, ""},
		{"~1.4", false, []string{"1.4.2-rc.1"}, []string{`semver = "~1.4.0-0"`}, notEnough},
		{"^0.3 || >= 1.2, <2", false, []string{"v1.2.0-b"}, []string{`semver = "^0.3.0-0 || >= 1.2.0-0, <2.0.0-0"`, notEnough}, ""},
		{">=1.2.0 <=2.0.0", false, []string{"1.2.0-a"}, []string{`semver = ">=1.2.0-0 <=2.0.0"`}, ""},
		{"1.x", false, []string{"1.4.2-rc.1"}, []string{"such as 1.4.2-rc.1, set include_prereleases = true."}, "lowest"},
		{">1.0.0", false, []string{"1.1.0-a"}, []string{"set include_prereleases = true."}, "lowest"},
		{"=2.0.0", false, []string{"v2.0.0-rc.1"}, []string{"2.0.0-rc.1 comes before 2.0.0", `such as ">=2.0.0-0"`}, "include_prereleases"},
	} {
		_, err := must(t, Spec{Semver: c.within, IncludePrereleases: c.included}).Pick(tags(c.tags...))
		e := asFault(t, err, fault.RefNotFound, c.says...)
		if c.not != "" && strings.Contains(e.Advice, c.not) {
			t.Errorf("%q: %s", c.within, e.Advice)
		}
	}
}
