package fault

import (
	"errors"
	"fmt"
	"strings"
	"testing"
)

// TestI6_NoVerbShowsTheCause: the cause may quote what a server said, before
// anybody has taken the secrets out.
func TestI6_NoVerbShowsTheCause(t *testing.T) {
	e := &Error{Kind: Protocol, Phase: PhaseRefs, Asked: "main of x", Happened: "it broke", Err: errors.New("s3cr3t")}
	wrapped := fmt.Errorf("reading: %w", e)
	for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%d", "%x"} {
		for _, value := range []any{e, *e, wrapped} {
			if got := fmt.Sprintf(verb, value); strings.Contains(got, "s3cr3t") || strings.Contains(got, "733363723374") {
				t.Errorf("%s of %T: %s", verb, value, got)
			}
		}
	}
	for verb, want := range map[string]string{
		"%v": "main of x: it broke (phase: reading the refs)", "%q": `"main of x: it broke (phase: reading the refs)"`,
		"%+v": "protocol (status 0, retry after 0s, transient false, host-wide false): main of x: it broke (phase: reading the refs)",
	} {
		if got := fmt.Sprintf(verb, e); got != want {
			t.Errorf("%s: %s", verb, got)
		}
	}
	if !errors.Is(wrapped, e.Err) {
		t.Error("the cause cannot be found any more")
	}
}
