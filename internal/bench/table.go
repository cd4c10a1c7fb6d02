package main

import (
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"
)

// row is what one way of one contest came to. Numbers are -1 where they were
// not measured.
type row struct {
	by          string
	samples     []time.Duration
	down, up    int64 // bytes
	requests    int
	connections int
	peak        int64 // most memory of the process, in bytes
	reading     int64 // of it for the reading: without what the idle process holds
}

// result is what one contest came to, ours first.
type result struct {
	name string
	rows []row
}

type results []result

// find returns the row of one way in one contest.
func (rs results) find(contest, by string) (row, bool) {
	i := slices.IndexFunc(rs, func(r result) bool { return r.name == contest })
	if i < 0 {
		return row{}, false
	}
	j := slices.IndexFunc(rs[i].rows, func(r row) bool { return r.by == by })
	if j < 0 {
		return row{}, false
	}
	return rs[i].rows[j], true
}

// writeTable writes all results as one table in Markdown. The ratio says how
// many times as long as the first row of its contest a way takes.
func (rs results) writeTable(w io.Writer) {
	fmt.Fprintln(w, "| read | by | median, ms | ratio | down | up | requests | connections | peak memory | for the reading | samples |")
	fmt.Fprintln(w, "|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|")
	for _, r := range rs {
		first := median(r.rows[0].samples)
		for i, row := range r.rows {
			name := r.name
			if i > 0 {
				name = ""
			}
			m := median(row.samples)
			fmt.Fprintf(w, "| %s | %s | %s | %s | %s | %s | %s | %s | %s | %s | %d |\n", name, row.by, inMS(m), times(float64(m)/float64(first)),
				size(row.down), size(row.up), count(row.requests), count(row.connections), size(row.peak), size(row.reading), len(row.samples))
		}
	}
}

// size and count write "" for what was not measured.
func size(n int64) string {
	if n < 0 {
		return ""
	}
	return inBytes(n)
}

func count(n int) string {
	if n < 0 {
		return ""
	}
	return strconv.Itoa(n)
}
