// Package pinning decides which commit a pin holds. It is pure: it knows no
// network, no Terraform and no clock, so that the same inputs give the same pin
// in every process. Terraform plans a change twice, the second time in another
// process while it applies, and both must agree (invariant I3).
//
// A pin's life has three steps:
//
//   - [Absorb] and [AbsorbFailure] are what a refresh does: they turn one
//     reading into facts. They never move a pin.
//   - [Decide] is what a plan does: it says whether the pin stays or moves, from
//     the record, the policy and what was offered.
//   - [Apply] is what comes of it: what the plan shows and the apply records.
//
// testdata/decide.md is the specification of the three.
package pinning
