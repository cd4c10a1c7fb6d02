package provider

import (
	"fmt"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// TestMatchPriorGrowsWithTheSet: twice the members are twice the work, be they
// all there already or all renamed.
func TestMatchPriorGrowsWithTheSet(t *testing.T) {
	work := func(n int, renamed string) float64 {
		var members []setMember
		var recorded []recordedMember
		for i := range n {
			target := gitpoll.Target{URL: fmt.Sprintf("https://git.example.com/acme/%d.git", i), Spec: selection.Spec{Branch: "main"}}
			name := fmt.Sprintf("m%04d", i)
			members = append(members, setMember{name: renamed + name, known: true, change: change{target: target}})
			recorded = append(recorded, recordedMember{name: name, target: target})
		}
		return testing.AllocsPerRun(1, func() {
			if found := matchPrior(members, recorded); len(found) != n {
				t.Fatalf("%d of %d found", len(found), n)
			}
		})
	}
	for _, renamed := range []string{"", "new-"} {
		if small, big := work(100, renamed), work(200, renamed); big > 3*small {
			t.Errorf("renamed %q: %v allocations for 100 members, %v for 200", renamed, small, big)
		}
	}
}
