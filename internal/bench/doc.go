// Package bench measures what one reading costs beside what it costs by other
// means: go-git's Remote.List and "git ls-remote". It holds benchmarks only;
// "make bench" runs them and prints the ratios.
package bench
