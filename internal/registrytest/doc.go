// Package registrytest holds the tests of the way from a release to a user: a
// release is built, signed with a throw-away key and served as a provider
// registry does, and a real Terraform or OpenTofu installs and uses it, from the
// registry and from every kind of mirror.
//
// The tests build a release of this platform themselves. With GITPIN_DIST they
// judge the files in that directory instead, as goreleaser leaves them in dist/,
// with their signature by the key in GITPIN_DIST_KEY: scripts/release does so.
package registrytest
