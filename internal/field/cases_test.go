package field

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"text/tabwriter"
)

// TestFieldCases holds our stack to what is right in each of the field cases
// 20 to 53, and prints beside it what git ls-remote and go-git's Remote.List
// make of the same server:
//
//	go test ./internal/field -run TestFieldCases -v
func TestFieldCases(t *testing.T) {
	var lines [][]string
	t.Run("cases", func(t *testing.T) {
		for _, rows := range []func(*testing.T) []row{
			spellings, homes, logins, azure, passwords, loginPages, queries, missingDotGit, redirects, schemes,
			githubApps, authorities, clientCertificates, proxies, proxyVariables, hostKeys, knownHostsSpellings, rotation,
			damagedKeys, passphrases, noIdentity, silences, retries, refusals, sshRefusals, kin,
		} {
			for _, r := range rows(t) {
				line := []string{r.number(), r.what, "", "–", "–"}
				lines = append(lines, line)
				t.Run(r.number()+"/"+r.what, func(t *testing.T) {
					if r.env == nil && r.check == nil && r.again == nil {
						t.Parallel() // nothing is counted
					}
					r.fill(t, line)
				})
			}
		}
	})
	slices.SortStableFunc(lines, func(a, b []string) int { return strings.Compare(a[0], b[0]) })
	var table strings.Builder
	w := tabwriter.NewWriter(&table, 0, 0, 2, ' ', 0)
	fmt.Fprintln(w, "case\tvariant\tours\tgit ls-remote\tgo-git")
	for _, line := range lines {
		fmt.Fprintln(w, strings.Join(line, "\t"))
	}
	_ = w.Flush()
	t.Log("\n" + table.String())
}

// number names the row's case.
func (r row) number() string {
	if r.id == 0 {
		return "kin"
	}
	return fmt.Sprint(r.id)
}

// fill runs a row and fills in the cells of its line.
func (r row) fill(t *testing.T, line []string) {
	for _, variable := range r.env {
		name, value, _ := strings.Cut(variable, "=")
		t.Setenv(name, value)
	}
	line[2] = r.run(t)
	if !r.alone {
		r.rewind()
		git := askGit(t, r)
		r.rewind()
		goGit := askGoGit(t, r)
		line[3], line[4] = git.cell(r), goGit.cell(r)
		if r.kind == "" && r.parsed == "" && git.id != "" && git.id != r.right() {
			t.Errorf("git says %s, want %s", git.id, r.right())
		}
	}
	if t.Failed() {
		line[2] += " WRONG"
	}
}
