package reading

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// contradict tells whether two readings that are over show different things
// where both have looked.
func contradict(a, b *flight) bool {
	return differ(a, b) || differ(b, a)
}

// differ compares what the parts of the query of a lead to in both readings,
// as far as b was asked for them too.
func differ(a, b *flight) bool {
	for _, name := range a.query.Refs {
		if !b.query.Wants(name) {
			continue
		}
		inA, okA := a.result.Lookup(name)
		inB, okB := b.result.Lookup(name)
		if okA != okB || inA != inB {
			return true
		}
	}
	for _, prefix := range a.query.Prefixes {
		both := b.query.Covers(lsremote.Query{Prefixes: []string{prefix}})
		if both && !slices.Equal(under(a.result, prefix), under(b.result, prefix)) {
			return true
		}
	}
	return false
}

// under returns the refs whose names begin with prefix.
func under(a *lsremote.Advertisement, prefix string) []lsremote.Ref {
	from, _ := slices.BinarySearchFunc(a.Refs, prefix, func(r lsremote.Ref, p string) int { return cmp.Compare(r.Name, p) })
	to := from
	for to < len(a.Refs) && strings.HasPrefix(a.Refs[to].Name, prefix) {
		to++
	}
	return a.Refs[from:to]
}
