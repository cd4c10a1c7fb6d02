package main

import (
	"fmt"
	"io"
	"slices"
)

// bar is what a number must reach.
type bar struct {
	what  string
	value func(results) (v float64, ok bool) // ok is false when it was not measured
	least bool                               // limit is the least, not the most
	limit float64
}

// verdict is how a bar came out.
type verdict struct {
	bar
	measured float64
	ok, met  bool
}

// judge holds the results against all bars.
func judge(rs results, sc scale) []verdict {
	var list []verdict
	for _, b := range bars(sc) {
		list = append(list, b.judge(rs))
	}
	return list
}

func (b bar) judge(rs results) verdict {
	v := verdict{bar: b}
	v.measured, v.ok = b.value(rs)
	if b.least {
		v.met = v.ok && v.measured >= b.limit
	} else {
		v.met = v.ok && v.measured <= b.limit
	}
	return v
}

// writeBars writes what was measured of the verdicts as a table in Markdown.
func writeBars(w io.Writer, list []verdict) {
	fmt.Fprintln(w, "| bar | wanted | measured | |")
	fmt.Fprintln(w, "|---|--:|--:|---|")
	met, known := 0, 0
	for _, v := range list {
		if !v.ok {
			continue
		}
		known++
		sign, result := "≤", "missed"
		if v.least {
			sign = "≥"
		}
		if v.met {
			result = "met"
			met++
		}
		fmt.Fprintf(w, "| %s | %s %s | %s | %s |\n", v.what, sign, times(v.limit), times(v.measured), result)
	}
	fmt.Fprintf(w, "\n%d of %d bars met, %d not measured.\n", met, known, len(list)-known)
}

// slower returns how many times as long a takes as b does.
func slower(contest, a, b string) func(results) (float64, bool) {
	return func(rs results) (float64, bool) {
		x, there := rs.find(contest, a)
		y, too := rs.find(contest, b)
		return float64(median(x.samples)) / float64(median(y.samples)), there && too
	}
}

// heavier returns how many times as much memory a reading by a takes as one by
// us does.
func heavier(contest, a string) func(results) (float64, bool) {
	return func(rs results) (float64, bool) {
		x, there := rs.find(contest, a)
		y, too := rs.find(contest, byGitpin)
		return float64(x.reading) / float64(y.reading), there && too && x.reading > 0 && y.reading > 0
	}
}

// trips returns how many round trips a takes, the time in the server included.
func trips(contest, a string) func(results) (float64, bool) {
	return func(rs results) (float64, bool) {
		x, there := rs.find(contest, a)
		return float64(median(x.samples)) / float64(roundTrip), there
	}
}

// bars returns what the project wants to reach, for what is measured at a scale.
func bars(sc scale) []bar {
	var list []bar
	atLeast := func(limit float64, value func(results) (float64, bool), format string, args ...any) {
		list = append(list, bar{what: fmt.Sprintf(format, args...), value: value, least: true, limit: limit})
	}
	atMost := func(limit float64, value func(results) (float64, bool), format string, args ...any) {
		list = append(list, bar{what: fmt.Sprintf(format, args...), value: value, limit: limit})
	}
	cold, goGitCold := oursCold.String(), goGitCold.String()

	for _, transport := range []string{overHTTP, overHTTPS} {
		for _, b := range []struct {
			size                  int
			overGoGit, overGitCLI float64
		}{{1_000, 1.1, 4}, {100_000, 45, 25}, {1_000_000, 450, 150}} {
			if !slices.Contains(sc.sizes, b.size) {
				continue
			}
			name := oneName(transport, b.size)
			atLeast(b.overGoGit, slower(name, byGoGit, byGitpin), "%s: go-git / gitpin", name)
			atLeast(b.overGitCLI, slower(name, byGit, byGitpin), "%s: git / gitpin", name)
			atMost(1.35, slower(name, byGitpin, byFloor), "%s: gitpin / floor", name)
		}
	}
	far := oneName(overFarHTTPS, many)
	atMost(1.25, trips(far, byGitpin), "%s: round trips, warm", far)
	atMost(3.3, trips(far, cold), "%s: round trips, cold", far)
	far = oneName(overFarSSH, many)
	atMost(3.2, trips(far, byGitpin), "%s: round trips, warm", far)
	atLeast(1, slower(far, goGitCold, cold), "%s: go-git / gitpin, both cold", far)
	far = hostedName(overFarSSH, sc.hosted, 8)
	atLeast(3, slower(far, goGitCold, cold), "%s: go-git / gitpin, both cold", far)

	ssh := oneName(overSSH, many)
	atLeast(12, slower(ssh, goGitCold, byGitpin), "%s: go-git / gitpin, warm", ssh)
	atLeast(35, slower(ssh, byGit, byGitpin), "%s: git / gitpin, warm", ssh)
	atMost(1.35, slower(ssh, byGitpin, byFloor), "%s: gitpin / floor", ssh)
	for _, n := range sc.atOnce {
		name := hostedName(overSSH, sc.hosted, n)
		atLeast(8, slower(name, goGitCold, cold), "%s: go-git / gitpin, both cold", name)
	}
	v0 := oneName(overV0, all)
	atLeast(5, slower(v0, byGoGit, byGitpin), "%s: go-git / gitpin", v0)
	atMost(1.35, slower(v0, byGitpin, byFloor), "%s: gitpin / floor", v0)
	atLeast(10, heavier(v0, byGoGit), "%s: memory of go-git / gitpin", v0)
	everything := allName(overHTTP, all)
	atLeast(2, slower(everything, byGoGit, byGitpin), "%s: go-git / gitpin", everything)
	atLeast(2, heavier(everything, byGoGit), "%s: memory of go-git / gitpin", everything)

	for _, p := range []struct{ ours, floor string }{
		{byData, byTerraformData}, {byNewPins, byTerraformData}, {byPins, byRecordedData},
	} {
		atLeast(5, slower(planAll, byScripts, p.ours), "%s: %s / %s", planAll, byScripts, p.ours)
		atMost(1.5, slower(planAll, p.ours, p.floor), "%s: %s / %s", planAll, p.ours, p.floor)
	}
	atMost(1, slower(planAll, byPins, byRecordedTime), "%s: %s / %s", planAll, byPins, byRecordedTime)
	atMost(1.05, slower(planEmpty, byGitpin, byTime), "%s: gitpin / hashicorp/time", planEmpty)
	return list
}
