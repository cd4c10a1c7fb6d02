package gitpoll

import (
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
	"github.com/gitpin/terraform-provider-gitpin/internal/selection"
)

// onServer returns an Observer, and a real server of the fixture repositories.
func onServer(t *testing.T, o gittest.HTTPOptions) (*Observer, *gittest.HTTP) {
	t.Helper()
	server := gittest.ServeHTTP(t, gittest.Repos(t), o)
	client, err := lsremote.New(lsremote.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := client.Close(); err != nil {
			t.Error(err)
		}
	})
	keychain, err := gitauth.NewKeychain(nil, gitauth.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return NewObserver(reading.New(client, keychain, reading.Options{MaxAge: time.Hour}), time.Now), server
}

// fieldCases ask the fixture repositories what people have asked. commit is
// that of git itself, written down from "git ls-remote"; where it is "" an
// error of kind says each of says.
var fieldCases = map[string]struct {
	repo   string
	spec   selection.Spec
	commit string
	kind   fault.Kind
	says   []string
}{
	"an annotated tag":             {repo: "a", spec: selection.Spec{Tag: "v1.1.0"}, commit: "125014d5fd4336fc3180d34b1497e18ca0e7cedc"},
	"a tag of a tag":               {repo: "a", spec: selection.Spec{Tag: "v1.2.0"}, commit: "53ece16ed327c0c21d5392ab1caeff021100d61e"},
	"a lightweight tag":            {repo: "a", spec: selection.Spec{Tag: "v1.0.0"}, commit: "27301587030f0eb318eb04f4f364a08b5aaa7073"},
	"a branch, not the tag":        {repo: "a", spec: selection.Spec{Branch: "release-1.0"}, commit: "d78f00bda40a6754f19efb9799a29cf5ee941d6c"},
	"a tag, not the branch":        {repo: "a", spec: selection.Spec{Tag: "release-1.0"}, commit: "a55ffdd34b5dcf319e7b2afb59711679e3b942d6"},
	"HEAD":                         {repo: "a", spec: selection.Spec{Ref: "HEAD"}, commit: "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"},
	"a branch called HEAD":         {repo: "a", spec: selection.Spec{Branch: "HEAD"}, commit: "27301587030f0eb318eb04f4f364a08b5aaa7073"},
	"a branch called tags/v1.0.0":  {repo: "a", spec: selection.Spec{Branch: "tags/v1.0.0"}, commit: "4944cb3a7cbdea7eb4497d5bd2e959d7891f6cca"},
	"a pull request":               {repo: "a", spec: selection.Spec{Ref: "refs/pull/7/merge"}, commit: "53ece16ed327c0c21d5392ab1caeff021100d61e"},
	"a name with #":                {repo: "a", spec: selection.Spec{Branch: "fix#42"}, commit: "125014d5fd4336fc3180d34b1497e18ca0e7cedc"},
	"a name with %":                {repo: "a", spec: selection.Spec{Branch: "a%2Fb"}, commit: "125014d5fd4336fc3180d34b1497e18ca0e7cedc"},
	"no decoding":                  {repo: "a", spec: selection.Spec{Branch: "a/b"}, kind: fault.RefNotFound, says: []string{"refs/heads/a/b"}},
	"case counts":                  {repo: "a", spec: selection.Spec{Branch: "Foo"}, kind: fault.RefNotFound, says: []string{`branch = "foo"`}},
	"a commit id":                  {repo: "a", spec: selection.Spec{Ref: "a55ffdd34b5dcf319e7b2afb59711679e3b942d6"}, kind: fault.Input, says: []string{"a commit id is not a ref"}},
	"a branch beside a lost HEAD":  {repo: "u", spec: selection.Spec{Branch: "trunk"}, commit: "0ee4b771cb79ed12bdedc26d06461983e62f7e9c"},
	"a lost HEAD":                  {repo: "u", spec: selection.Spec{Ref: "HEAD"}, kind: fault.NoHead, says: []string{"no HEAD", `branch = "trunk"`}},
	"an empty repository":          {repo: "e", spec: selection.Spec{Branch: "main"}, kind: fault.EmptyRepository, says: []string{"is empty"}},
	"an empty sha256 repository":   {repo: "xe", spec: selection.Spec{Branch: "main"}, kind: fault.EmptyRepository, says: []string{"is empty"}},
	"tags of an empty repository":  {repo: "e", spec: selection.Spec{Semver: "*"}, kind: fault.EmptyRepository, says: []string{"is empty"}},
	"sha256":                       {repo: "x", spec: selection.Spec{Tag: "v1.0.0"}, commit: "2e3dddbc83e02e2177ed9d18edbb2edb5063fc086051b25ad5b8c9a11f4d5f1f"},
	"a date is a tag":              {repo: "s", spec: selection.Spec{Tag: "2024-09-22-test"}, commit: "7618c44b2170c2c57577442ed7002802f3d40ef8"},
	"a build as a tag":             {repo: "s", spec: selection.Spec{Tag: "v1.10.0+build.1"}, commit: "8eb43f431005bdf53d033256d2598aabe8018229"},
	"the greatest of equal builds": {repo: "s", spec: selection.Spec{Semver: "1.10.0"}, commit: "11699feee47e9562cbc0181ca05654ef451cec37"},
	"a prefix": {repo: "s", spec: selection.Spec{Semver: "3.x", TagFilter: &selection.TagFilter{Pattern: "^api/(.*)$", Extract: "$1"}},
		commit: "f411d86340a579025dba17e88667dd21dd9ed6ae"},
	"no match":        {repo: "s", spec: selection.Spec{Semver: "3.x"}, kind: fault.RefNotFound, says: []string{"16 tags seen", "8 parsed", "8 outside the range", "8 no version"}},
	"no repository":   {repo: "nowhere", spec: selection.Spec{Branch: "main"}, kind: fault.NotFound},
	"a word as range": {repo: "s", spec: selection.Spec{Semver: "latest"}, kind: fault.Input, says: []string{`semver = "latest"`}},
}

// TestFieldCases asks one by one, and all of a repository in one sweep, in both
// versions of the protocol.
func TestFieldCases(t *testing.T) {
	for version, options := range map[string]gittest.HTTPOptions{"v2": {}, "v0": {V0Only: true}} {
		t.Run(version, func(t *testing.T) {
			o, server := onServer(t, options)
			targets := map[string]Target{}
			for name, c := range fieldCases {
				targets[name] = Target{URL: server.URL + "/" + c.repo + ".git", Spec: c.spec}
			}
			swept := o.Sweep(t.Context(), targets, reading.Want{}, true)
			for name, c := range fieldCases {
				t.Run(name, func(t *testing.T) {
					got, err := o.Observe(t.Context(), targets[name], reading.Want{}, true)
					if c.commit == "" {
						wantFault(t, err, c.kind, c.says...)
						wantFault(t, swept[name].Err, c.kind, c.says...)
						return
					}
					if err != nil || got.Commit != c.commit {
						t.Errorf("got %s, %v; want %s", got.Commit, err, c.commit)
					}
					if r := swept[name]; r.Err != nil || r.Observation.Commit != c.commit {
						t.Errorf("in the sweep: got %s, %v; want %s", r.Observation.Commit, r.Err, c.commit)
					}
				})
			}
		})
	}
}
