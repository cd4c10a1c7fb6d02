package selection

import (
	"fmt"
	"regexp"
	"strings"

	"github.com/Masterminds/semver/v3"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
)

// prereleaseAdvice says how to let in one of the pre-releases that were dropped,
// highest first, in the numbers of the user's own range. What it proposes was
// tried.
func (v *versions) prereleaseAdvice(dropped []candidate) string {
	best, text := dropped[0].version, namingPrereleases(v.text)
	var ways []string
	for _, c := range dropped {
		if takes(text, c.version) {
			best, ways = c.version, []string{fmt.Sprintf("name the lowest one in the range: semver = %q", text)}
			break
		}
	}
	shown := fault.Clean(best.String())
	if !v.within.IncludePrerelease && v.any.Check(best) {
		ways = append(ways, "set include_prereleases = true")
	}
	if len(ways) == 0 {
		return fmt.Sprintf("%s comes before %s, so it is outside a range that begins or ends with that. To take it, write a range that names a pre-release, such as %q.",
			shown, release(best), fmt.Sprintf(">=%s-0", release(best)))
	}
	advice := fmt.Sprintf("To take pre-releases such as %s, %s.", shown, strings.Join(ways, ", or "))
	if len(ways) == 1 && !v.any.Check(best) {
		advice += fmt.Sprintf(" To set include_prereleases = true is not enough: %s comes before %s.", shown, release(best))
	}
	return advice
}

// takes tells whether the range in text would take version.
func takes(text string, version *semver.Version) bool {
	c, err := semver.NewConstraint(text)
	return err == nil && c.Check(version)
}

// bound is a comparison whose version may get a "-0", the lowest of all
// pre-releases, without another release falling in or out.
var bound = regexp.MustCompile(`(>=|~>?|\^|<)(\s*)v?(\d+(?:\.\d+){0,2})([^\s,|]*)`)

// namingPrereleases returns the range with a "-0" put to its bounds: ">=2.0"
// becomes ">=2.0.0-0".
func namingPrereleases(text string) string {
	return bound.ReplaceAllStringFunc(text, func(found string) string {
		part := bound.FindStringSubmatch(found)
		if part[4] != "" {
			return found // "2.x", or a pre-release is named already
		}
		return part[1] + part[2] + part[3] + strings.Repeat(".0", 2-strings.Count(part[3], ".")) + "-0"
	})
}
