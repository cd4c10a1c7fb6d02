package provider

import (
	"context"
	"fmt"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"github.com/hashicorp/terraform-plugin-framework/providerserver"
	"github.com/hashicorp/terraform-plugin-go/tfprotov6"
	"github.com/hashicorp/terraform-plugin-testing/helper/resource"
	"github.com/hashicorp/terraform-plugin-testing/knownvalue"
	"github.com/hashicorp/terraform-plugin-testing/plancheck"
	"github.com/hashicorp/terraform-plugin-testing/statecheck"
	"github.com/hashicorp/terraform-plugin-testing/tfjsonpath"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// The life of a pin in the steps of terraform-plugin-testing, which plans after
// each apply and demands that the plan is empty.

var factories = map[string]func() (tfprotov6.ProviderServer, error){
	"gitpin": providerserver.NewProtocol6WithError(New("test", time.Now)()),
}

// moveRef moves a ref when it is checked: placed last before an apply, it moves
// the ref between the plan and the apply.
type moveRef struct {
	t         *testing.T
	repo, ref string
}

func (m moveRef) CheckPlan(context.Context, plancheck.CheckPlanRequest, *plancheck.CheckPlanResponse) {
	gittest.Commit(m.t, m.repo, m.ref)
}

// pinned checks the recorded commit.
func pinned(commit string) statecheck.StateCheck {
	return statecheck.ExpectKnownValue(thePin, tfjsonpath.New("commit"), knownvalue.StringExact(commit))
}

// plans checks the planned commit.
func plans(commit string) plancheck.PlanCheck {
	return plancheck.ExpectKnownValue(thePin, tfjsonpath.New("commit"), knownvalue.StringExact(commit))
}

func TestAccStrictPin(t *testing.T) {
	cliPath(t)
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: "pw-of-acme"})
	repo, url := filepath.Join(root, "a.git"), server.URL+"/a.git"
	provider := fmt.Sprintf("provider \"gitpin\" {\n  credentials = [{ url = %q, secret = { username = \"acme\", password = \"pw-of-acme\" } }]\n}\n", server.URL)
	config := func(release string) string {
		return provider + strictPin(url, `branch = "foo"`, fmt.Sprintf("triggers = { release = %q }", release))
	}
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		Steps: []resource.TestStep{
			{
				Config: config("1"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(thePin, plancheck.ResourceActionCreate), plans(commitFoo), moveRef{t, repo, "refs/heads/foo"},
				}},
				ConfigStateChecks: []statecheck.StateCheck{pinned(commitFoo)},
			},
			{
				Config: config("2"),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(thePin, plancheck.ResourceActionUpdate), moveRef{t, repo, "refs/heads/foo"},
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(thePin, tfjsonpath.New("previous_commit"), knownvalue.StringExact(commitFoo)),
				},
			},
		},
	})
}

func TestAccSelfObservingPin(t *testing.T) {
	cliPath(t)
	root := gittest.Repos(t)
	repo := filepath.Join(root, "a.git")
	resource.Test(t, resource.TestCase{
		ProtoV6ProviderFactories: factories,
		Steps: []resource.TestStep{
			{
				// On creation a moved ref stops the apply with nothing recorded.
				Config: selfPin(repo, "foo", ""),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plans(commitFoo), moveRef{t, repo, "refs/heads/foo"},
				}},
				ExpectError: regexp.MustCompile(`inconsistent final plan`),
			},
			{
				Config:            selfPin(repo, "main", ""),
				ConfigStateChecks: []statecheck.StateCheck{pinned(commitMain)},
			},
			{
				ResourceName: thePin, ImportState: true, ImportStateId: repo + " refs/heads/main",
				ImportStateVerify: true, ImportStateVerifyIdentifierAttribute: "commit",
				// An import records when it was made.
				ImportStateVerifyIgnore: []string{"pinned_at", "latest.observed_at"},
			},
			{
				PreConfig: func() { gittest.Commit(t, repo, "refs/heads/main") },
				Config:    selfPin(repo, "main", ""),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(thePin, plancheck.ResourceActionNoop),
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					pinned(commitMain),
					statecheck.ExpectKnownValue(thePin, tfjsonpath.New("update_available"), knownvalue.Bool(true)),
				},
			},
			{
				// On an update the planned commit is recorded although the ref moves.
				Config: selfPin(repo, "main", `triggers = { a = "1" }`),
				ConfigPlanChecks: resource.ConfigPlanChecks{PreApply: []plancheck.PlanCheck{
					plancheck.ExpectResourceAction(thePin, plancheck.ResourceActionUpdate), moveRef{t, repo, "refs/heads/main"},
				}},
				ConfigStateChecks: []statecheck.StateCheck{
					statecheck.ExpectKnownValue(thePin, tfjsonpath.New("previous_commit"), knownvalue.StringExact(commitMain)),
				},
			},
		},
	})
}
