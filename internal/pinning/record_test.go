package pinning

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"
)

// Facts live as JSON in the private state: what a version has written, it and
// later ones must read.
func TestFactsJSON(t *testing.T) {
	moved := seenAt(tag1, 2, 1)
	for _, c := range []struct {
		name  string
		facts Facts
		want  string
	}{
		{"nothing", Facts{}, `{}`},
		{"a new pin", Facts{LastSuccess: start}, `{"last_success":"2026-01-01T00:00:00Z"}`},
		{"everything", Facts{Imported: true, LastSuccess: start, Moved: &moved, Gone: true, NoMatch: true, Unread: true,
			Sightings: []Sighting{{Seen: seenAt(branch, 3, 2), Matured: true}, {Seen: seenAt(branch, 4, 3)}}},
			`{"imported":true,"last_success":"2026-01-01T00:00:00Z",` +
				`"moved":{"commit":"commit2","object":"object2","tracking_ref":"refs/tags/v1.0.0","version":"1.0.0","at":"2026-01-01T00:01:00Z"},` +
				`"gone":true,"no_match":true,"unread":true,"sightings":[` +
				`{"commit":"commit3","object":"commit3","tracking_ref":"refs/heads/main","at":"2026-01-01T00:02:00Z","matured":true},` +
				`{"commit":"commit4","object":"commit4","tracking_ref":"refs/heads/main","at":"2026-01-01T00:03:00Z"}]}`},
	} {
		got, err := json.Marshal(c.facts)
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %s, %v\nwant %s", c.name, got, err, c.want)
		}
		if back := stored(t, c.facts); !reflect.DeepEqual(back, c.facts) {
			t.Errorf("%s: %+v came back as %+v", c.name, c.facts, back)
		}
	}
}

// stored is f after it was written and read.
func stored(t *testing.T, f Facts) Facts {
	t.Helper()
	text, err := json.Marshal(f)
	if err != nil {
		t.Fatal(err)
	}
	var back Facts
	if err := json.Unmarshal(text, &back); err != nil {
		t.Fatal(err)
	}
	return back
}

func TestSame(t *testing.T) {
	s := seenAt(tag1, 1, 1)
	later := s
	later.At = time.Time{}
	if !s.Same(later) {
		t.Error("the time of a sighting does not matter")
	}
	for name, change := range map[string]func(*Seen){
		"commit":  func(s *Seen) { s.Commit = "x" },
		"object":  func(s *Seen) { s.Object = "x" },
		"ref":     func(s *Seen) { s.TrackingRef = "x" },
		"version": func(s *Seen) { s.Version = "x" },
	} {
		other := s
		change(&other)
		if s.Same(other) {
			t.Errorf("another %s is another sighting", name)
		}
	}
}
