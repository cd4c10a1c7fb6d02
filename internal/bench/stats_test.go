package main

import (
	"testing"
	"time"
)

func TestMedian(t *testing.T) {
	ms := func(n ...int) (list []time.Duration) {
		for _, each := range n {
			list = append(list, time.Duration(each)*time.Millisecond)
		}
		return list
	}
	for _, c := range []struct {
		samples []time.Duration
		want    time.Duration
	}{
		{nil, 0},
		{ms(7), 7 * time.Millisecond},
		{ms(9, 1, 5), 5 * time.Millisecond},
		{ms(100, 2, 4, 3), 3500 * time.Microsecond},
	} {
		before := append([]time.Duration(nil), c.samples...)
		if got := median(c.samples); got != c.want {
			t.Errorf("median of %v is %v, want %v", c.samples, got, c.want)
		}
		for i := range before {
			if c.samples[i] != before[i] {
				t.Fatal("median has reordered its argument")
			}
		}
	}
}

func TestNumbers(t *testing.T) {
	for got, want := range map[string]string{
		inMS(1234 * time.Microsecond):     "1.23",
		inMS(9_996 * time.Microsecond):    "10.0",
		inMS(99_960 * time.Microsecond):   "100",
		inMS(3495 * time.Millisecond):     "3,495",
		inBytes(0):                        "0 B",
		inBytes(767):                      "767 B",
		inBytes(9_999):                    "9,999 B",
		inBytes(68_412):                   "68 kB",
		inBytes(82_000_000):               "82.0 MB",
		thousands(1_000_000):              "1,000,000",
		thousands(12):                     "12",
		times(0.994):                      "0.99",
		times(12.345):                     "12.3",
		times(1234.5):                     "1,235",
		oneName(overHTTP, 1_000_000):      "http, one ref of 1,000,000",
		hostedName(overSSH, 200, 8):       "ssh, 200 repositories, 8 at a time",
		contender{byGit, true}.String():   "git ls-remote",
		contender{byGoGit, true}.String(): "go-git, cold",
	} {
		if got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}
