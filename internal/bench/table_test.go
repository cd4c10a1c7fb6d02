package main

import (
	"strings"
	"testing"
	"time"
)

// sample returns the results of one contest over http, and of one plan.
func sample() results {
	one := func(d time.Duration) []time.Duration { return []time.Duration{d, d, d} }
	return results{
		{name: oneName(overHTTP, 1_000), rows: []row{
			{by: byGitpin, samples: one(4 * time.Millisecond), down: 420, up: 340, requests: 1, connections: 0, peak: 12_100_000, reading: 700_000},
			{by: byFloor, samples: one(2 * time.Millisecond), down: 420, up: 247, requests: 1, connections: 0, peak: 11_400_000, reading: 0},
			{by: byGoGit, samples: one(6 * time.Millisecond), down: 68_000, up: 143, requests: 1, connections: 0, peak: 12_900_000, reading: 1_500_000},
		}},
		{name: planEmpty, rows: []row{
			{by: byGitpin, samples: one(200 * time.Millisecond), down: -1, up: -1, requests: -1, connections: -1, peak: -1, reading: -1},
		}},
	}
}

func TestTable(t *testing.T) {
	var b strings.Builder
	sample().writeTable(&b)
	want := `| read | by | median, ms | ratio | down | up | requests | connections | peak memory | for the reading | samples |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
| http, one ref of 1,000 | gitpin | 4.00 | 1.00 | 420 B | 340 B | 1 | 0 | 12.1 MB | 700 kB | 3 |
|  | floor | 2.00 | 0.50 | 420 B | 247 B | 1 | 0 | 11.4 MB | 0 B | 3 |
|  | go-git | 6.00 | 1.50 | 68 kB | 143 B | 1 | 0 | 12.9 MB | 1.5 MB | 3 |
| plan, empty configuration | gitpin | 200 | 1.00 |  |  |  |  |  |  | 3 |
`
	if got := b.String(); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
}

func TestFind(t *testing.T) {
	rs := sample()
	if r, ok := rs.find(oneName(overHTTP, 1_000), byGoGit); !ok || r.up != 143 {
		t.Errorf("found %v, %v", r, ok)
	}
	for _, missing := range [][2]string{{"none", byGitpin}, {planEmpty, byGoGit}} {
		if _, ok := rs.find(missing[0], missing[1]); ok {
			t.Errorf("found %v", missing)
		}
	}
}
