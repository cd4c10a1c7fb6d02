package provider

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// The matrix is invariant I3 under attack: a plan is saved, something happens to
// the remote, and another process applies the plan. What is recorded must be
// what the plan showed; or nothing is, and the old pin is still there.

// outcome is what an apply came to.
type outcome string

const (
	recordedPlan outcome = "recorded what was planned"
	keptOld      outcome = "failed, the old pin stays"
	nothing      outcome = "failed, nothing is recorded"
	lost         outcome = "failed, core had deleted the old pin first"
	deposed      outcome = "failed, core has the old pin as a deposed object"
)

// subject is a resource with a way to feed it.
type subject struct {
	resource, form, address string
	config                  func(url, branch, more string) string
}

var subjects = []subject{
	{"gitpin_pin", "self", thePin, selfPin},
	{"gitpin_pin", "strict", thePin, func(url, branch, more string) string {
		return strictPin(url, fmt.Sprintf("branch = %q", branch), more)
	}},
	{"gitpin_pin_set", "self", theSet, func(url, branch, more string) string { return pinSet(url, more, "m", branch) }},
	{"gitpin_pin_set", "strict", theSet, func(url, branch, more string) string {
		return fmt.Sprintf("data \"gitpin_snapshot\" \"d\" {\n  targets = { m = { url = %q, branch = %q } }\n}\nresource \"gitpin_pin_set\" \"s\" {\n  observations = data.gitpin_snapshot.d.observations\n%s\n}\n", url, branch, more)
	}},
}

// operation is what the plan is about. Every operation but create starts from a
// state in which main is pinned at its first commit.
type operation struct {
	name     string
	branch   string // the branch that the new configuration tracks
	more     string
	args     []string
	create   bool // starts from no state
	moved    bool // main has moved before the plan
	recorded bool // a refresh has recorded that move
	taint    bool
	imports  bool
	// self is what becomes of a self-observing one when the remote changes
	// between plan and apply; the strict form records what was planned, always.
	self outcome
}

var operations = []operation{
	{name: "create", branch: "main", create: true, self: nothing},
	{name: "follow", branch: "main", more: `update = "follow"`, moved: true, self: recordedPlan},
	{name: "trigger", branch: "main", more: `triggers = { a = "2" }`, moved: true, self: recordedPlan},
	{name: "trigger -target", branch: "main", more: `triggers = { a = "2" }`, moved: true, args: []string{"-target="}, self: recordedPlan},
	{name: "trigger -refresh=false", branch: "main", more: `triggers = { a = "2" }`, moved: true, recorded: true, args: []string{"-refresh=false"}, self: recordedPlan},
	{name: "-refresh-only", branch: "main", moved: true, args: []string{"-refresh-only"}, self: recordedPlan},
	{name: "plumbing change", branch: "foo", self: keptOld},
	{name: "-replace", branch: "main", moved: true, args: []string{"-replace="}, self: lost},
	{name: "-replace, create_before_destroy", branch: "main", more: "lifecycle {\n create_before_destroy = true\n}", moved: true, args: []string{"-replace="}, self: deposed},
	{name: "tainted", branch: "main", moved: true, taint: true, self: lost},
	{name: "import block", branch: "main", create: true, imports: true, self: recordedPlan},
}

// events are what happens between plan and apply to the tracked branch.
var events = []struct {
	name string
	do   func(m *matrix, ref string)
}{
	{"nothing", func(*matrix, string) {}},
	{"ref moved", func(m *matrix, ref string) { gittest.Commit(m.t, m.repo, ref) }},
	{"ref deleted", func(m *matrix, ref string) { gittest.Git(m.t, m.repo, "update-ref", "-d", ref) }},
	{"server down", func(m *matrix, _ string) { m.down.Store(true) }},
}

func TestI3_Matrix(t *testing.T) {
	var mu sync.Mutex
	counts := map[outcome]int{}
	var rows []string
	t.Cleanup(func() {
		slices.Sort(rows)
		for _, row := range rows {
			t.Log(row)
		}
		t.Logf("%d cases: %v", len(rows), counts)
	})
	for _, s := range subjects {
		t.Run(s.resource+" "+s.form, func(t *testing.T) {
			t.Parallel()
			m := newMatrix(t, s)
			for _, op := range operations {
				if op.imports && s.resource != "gitpin_pin" {
					continue // a set cannot be imported
				}
				for name, got := range m.run(op) {
					mu.Lock()
					counts[got]++
					rows = append(rows, fmt.Sprintf("%-14s %-6s | %-31s | %-11s | %s", s.resource, s.form, op.name, name, got))
					mu.Unlock()
				}
			}
		})
	}
}

// oneTry is a provider that does not try again what fails.
const oneTry = "provider \"gitpin\" {\n  retry = { max_attempts = 1 }\n}\n"

// matrix runs all operations on one subject.
type matrix struct {
	t       *testing.T
	subject subject
	server  *gittest.HTTP
	down    atomic.Bool // every connection is cut
	repo    string
	base    *workspace // main is pinned at its first commit
	// heads are the commits that the branches begin each case with.
	heads map[string]string
}

func newMatrix(t *testing.T, s subject) *matrix {
	root := gittest.Repos(t)
	m := &matrix{
		t: t, subject: s, repo: filepath.Join(root, "a.git"), base: newWorkspace(t),
		heads: map[string]string{"refs/heads/main": commitMain, "refs/heads/foo": commitFoo},
	}
	m.server = gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
			if m.down.Load() {
				panic(http.ErrAbortHandler) // cuts the connection
			}
			next.ServeHTTP(rw, r)
		})
	}})
	m.base.write(oneTry, s.config(m.url(), "main", `triggers = { a = "1" }`))
	m.base.apply()
	return m
}

func (m *matrix) url() string { return m.server.URL + "/a.git" }

// reset puts the remote into its first state.
func (m *matrix) reset() {
	m.t.Helper()
	for ref, id := range m.heads {
		gittest.Git(m.t, m.repo, "update-ref", ref, id)
	}
	m.down.Store(false)
}

// run plans once and applies once for each event.
func (m *matrix) run(op operation) map[string]outcome {
	m.t.Helper()
	m.reset()
	w := m.base.clone(!op.create)
	more := op.more
	if !strings.Contains(more, "triggers") && !op.create {
		more += "\ntriggers = { a = \"1\" }"
	}
	if op.moved {
		gittest.Commit(m.t, m.repo, "refs/heads/main")
	}
	moved := gittest.Git(m.t, m.repo, "rev-parse", "refs/heads/main")
	if op.recorded {
		w.apply("-refresh-only")
	}
	config := oneTry + m.subject.config(m.url(), op.branch, more)
	if op.imports {
		config += fmt.Sprintf("import {\n  to = %s\n  id = \"%s refs/heads/main\"\n}\n", m.subject.address, m.url())
	}
	w.write(config)
	if op.taint {
		w.must(0, "taint", m.subject.address)
	}
	var args []string
	for _, arg := range op.args {
		if strings.HasSuffix(arg, "=") {
			arg += m.subject.address
		}
		args = append(args, arg)
	}
	plan := w.save("saved.plan", args...)
	shown := commitMain // a refresh-only plan moves nothing
	for _, c := range plan.ResourceChanges {
		if c.Address == m.subject.address {
			shown = commitIn(c.Change.After)
		}
	}
	results := map[string]outcome{}
	for _, event := range events {
		m.reset()
		gittest.Git(m.t, m.repo, "update-ref", "refs/heads/main", moved)
		event.do(m, "refs/heads/"+op.branch)
		c := w.clone(true)
		r := c.run("apply", "-no-color", "saved.plan")
		current, old := c.recorded(m.subject.address)
		got := judge(r, current, old, shown, op.create)
		results[event.name] = got
		expected := recordedPlan
		if event.name != "nothing" && m.subject.form == "self" {
			expected = op.self
		}
		if got != expected {
			m.t.Errorf("%s %s, %s, %s: %s; want: %s\n%s", m.subject.resource, m.subject.form, op.name, event.name, got, expected, r.all())
		}
	}
	return results
}

// judge names what an apply came to. recorded and old, a deposed object's, are ""
// if there are none.
func judge(r result, recorded, old, shown string, create bool) outcome {
	switch {
	case r.code != 0 && recorded == "" && old == commitMain:
		return deposed
	case r.code == 0 && recorded == shown && shown != "":
		return recordedPlan
	case r.code != 0 && recorded == "" && create:
		return nothing
	case r.code != 0 && recorded == "":
		return lost
	case r.code != 0 && recorded == commitMain:
		return keptOld
	}
	return outcome(fmt.Sprintf("exit code %d, planned %q, recorded %q", r.code, shown, recorded))
}

// commitIn returns the commit in the values of a pin or of member m of a set.
func commitIn(values any) string {
	attributes, _ := values.(map[string]any)
	if commits, ok := attributes["commits"].(map[string]any); ok {
		attributes = map[string]any{"commit": commits["m"]}
	}
	commit, _ := attributes["commit"].(string)
	return commit
}

// clone copies the workspace, with its state and plan files or without.
func (w *workspace) clone(state bool) *workspace {
	w.t.Helper()
	c := &workspace{t: w.t, dir: w.t.TempDir(), cli: w.cli, env: w.env}
	entries, err := os.ReadDir(w.dir)
	if err != nil {
		w.t.Fatal(err)
	}
	for _, e := range entries {
		if !e.Type().IsRegular() || (!state && strings.HasPrefix(e.Name(), "terraform.tfstate")) {
			continue
		}
		data, err := os.ReadFile(filepath.Join(w.dir, e.Name()))
		if err != nil {
			w.t.Fatal(err)
		}
		writeFile(w.t, filepath.Join(c.dir, e.Name()), string(data))
	}
	return c
}

// recorded returns the commit in the state file and that of a deposed object, ""
// where there is none. It reads the file itself: a process of the CLI for each
// case would double the time.
func (w *workspace) recorded(address string) (current, old string) {
	w.t.Helper()
	data, err := os.ReadFile(filepath.Join(w.dir, "terraform.tfstate"))
	if os.IsNotExist(err) {
		return "", ""
	}
	if err != nil {
		w.t.Fatal(err)
	}
	var state struct {
		Resources []struct {
			Type, Name string
			Instances  []struct {
				Deposed    string
				Attributes map[string]any
			}
		}
	}
	if err := json.Unmarshal(data, &state); err != nil {
		w.t.Fatal(err)
	}
	for _, r := range state.Resources {
		if r.Type+"."+r.Name != address {
			continue
		}
		for _, i := range r.Instances {
			if i.Deposed == "" {
				current = commitIn(i.Attributes)
			} else {
				old = commitIn(i.Attributes)
			}
		}
	}
	return current, old
}
