package main

import (
	"strings"
	"testing"
	"time"
)

func TestVerdicts(t *testing.T) {
	contest := oneName(overHTTP, 1_000)
	for _, c := range []struct {
		name string
		bar  bar
		met  bool
		ok   bool
		want float64
	}{
		{"at least, met", bar{value: slower(contest, byGoGit, byGitpin), least: true, limit: 1.5}, true, true, 1.5},
		{"at least, missed", bar{value: slower(contest, byGoGit, byGitpin), least: true, limit: 1.6}, false, true, 1.5},
		{"at most, met", bar{value: slower(contest, byGitpin, byFloor), limit: 2}, true, true, 2},
		{"at most, missed", bar{value: slower(contest, byGitpin, byFloor), limit: 1.35}, false, true, 2},
		{"memory of the reading", bar{value: heavier(contest, byGoGit), least: true, limit: 2}, true, true, 1_500_000.0 / 700_000},
		{"no memory measured", bar{value: heavier(planEmpty, byGitpin), least: true, limit: 1}, false, false, 0},
		{"another contest", bar{value: slower("none", byGoGit, byGitpin), limit: 1}, false, false, 0},
		{"round trips", bar{value: trips(planEmpty, byGitpin), limit: 4}, true, true, float64(200*time.Millisecond) / float64(roundTrip)},
	} {
		t.Run(c.name, func(t *testing.T) {
			v := c.bar.judge(sample())
			if v.ok != c.ok || v.met != c.met || c.ok && v.measured != c.want {
				t.Errorf("%+v", v)
			}
		})
	}
}

// Each bar must name a contest and ways that exist, or it would never be
// measured.
func TestBarsAreMeasured(t *testing.T) {
	for _, sc := range []scale{fullScale, quickScale} {
		s := &setup{scale: sc, names: make([]string, pinned)}
		var rs results
		for _, c := range s.contests() {
			r := result{name: c.name}
			for _, who := range c.by {
				r.rows = append(r.rows, row{by: who.String(), samples: []time.Duration{1}, reading: 1})
			}
			rs = append(rs, r)
		}
		s.https = &server{}
		for name, list := range map[string][]planner{planAll: s.planners(options{other: "x"}), planEmpty: startups(options{other: "x"})} {
			r := result{name: name}
			for _, p := range list {
				r.rows = append(r.rows, row{by: p.by, samples: []time.Duration{1}})
			}
			rs = append(rs, r)
		}
		for _, v := range judge(rs, sc) {
			if !v.ok {
				t.Errorf("nothing measures the bar %q", v.what)
			}
		}
	}
}

func TestWriteBars(t *testing.T) {
	var b strings.Builder
	writeBars(&b, []verdict{
		{bar: bar{what: "a", least: true, limit: 45}, measured: 60, ok: true, met: true},
		{bar: bar{what: "b", limit: 1.35}, measured: 1.5, ok: true},
		{bar: bar{what: "c"}},
	})
	want := `| bar | wanted | measured | |
|---|--:|--:|---|
| a | ≥ 45.0 | 60.0 | met |
| b | ≤ 1.35 | 1.50 | missed |

1 of 2 bars met, 1 not measured.
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}
