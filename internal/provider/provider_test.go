package provider

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// unknownPassword is a provider whose password is known only after apply.
func unknownPassword(prefix string) string {
	return fmt.Sprintf("resource \"terraform_data\" \"password\" {\n  input = \"secret-of-acme\"\n}\nprovider \"gitpin\" {\n  credentials = [{\n    url = %q\n    secret = { username = \"acme\", password = terraform_data.password.output }\n  }]\n}\n", prefix)
}

func TestProviderValuesUnknownInThePlan(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: "secret-of-acme"})
	public := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url := server.URL + "/a.git"
	w := newWorkspace(t)
	w.write(unknownPassword(server.URL), selfPin(url, "main", ""), "resource \"gitpin_pin\" \"open\" {\n  url = \""+public.URL+"/a.git\"\n  branch = \"main\"\n}\n")
	plan := w.save("create.plan")
	if _, known := after(t, plan, thePin, "commit"); known {
		t.Fatal("the commit is known although the password is not")
	}
	if _, known := after(t, plan, "gitpin_pin.open", "commit"); !known {
		t.Fatal("a pin that needs no credentials does not know its commit")
	}
	if n := server.Count(); n != 0 {
		t.Fatalf("%d requests were made without the password", n)
	}
	w.must(0, "apply", "-no-color", "create.plan")
	want(t, "commit", w.state(thePin)["commit"], commitMain)
	w.plan(0)

	// A password that becomes unknown again holds the pin.
	w.write(strings.Replace(unknownPassword(server.URL), "secret-of-acme", "other", 1), selfPin(url, "main", ""))
	r := w.must(0, "plan", "-no-color")
	wantText(t, r.all(), "were not refreshed", "credentials[0]")
}

func TestProviderValuesUnknownForADataSource(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: "acme", Password: "secret-of-acme"})
	w := newWorkspace(t)
	w.write(unknownPassword(server.URL), strictPin(server.URL+"/a.git", `branch = "main"`, ""))
	wantText(t, w.plan(1).all(), "not known", "credentials[0]", "-target")
	if n := server.Count(); n != 0 {
		t.Fatalf("%d requests were made without the password", n)
	}
}

func TestI4_OneReadingPerRun(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	url := server.URL + "/a.git"
	var config strings.Builder
	for i := range 10 {
		fmt.Fprintf(&config, "data \"gitpin_ref\" \"d%d\" {\n  url = %q\n  branch = \"main\"\n}\nresource \"gitpin_pin\" \"p%d\" {\n  url = %q\n  branch = \"main\"\n}\n", i, url, i, url)
	}
	w := newWorkspace(t)
	w.write(config.String())
	w.must(0, "plan", "-no-color")
	if n := server.Count(); n != 1 {
		t.Fatalf("10 data sources and 10 new pins made %d requests, want 1", n)
	}
	w.apply()
	server.Forget()
	w.plan(0)
	if n := server.Count(); n != 1 {
		t.Fatalf("a plan with 10 data sources and 10 pins made %d requests, want 1", n)
	}
}

func TestI8_NothingAmbientIsUsed(t *testing.T) {
	root := gittest.Repos(t)
	server := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	home := t.TempDir()
	w := newWorkspace(t)
	// What a person may have lying around.
	writeFile(t, filepath.Join(home, ".git-credentials"), "https://acme:pw@127.0.0.1\n")
	w.env = append(w.env, "HOME="+home, "SSH_AUTH_SOCK="+filepath.Join(home, "agent"))
	w.write(selfPin(server.URL("a.git"), "main", ""))
	wantText(t, w.plan(1).all(), "ssh needs identity and known_hosts")
	if n := server.Connections(); n != 0 {
		t.Fatalf("%d connections were made without credentials", n)
	}
}

func TestI1_AHandWrittenObservationIsRefused(t *testing.T) {
	root := gittest.Repos(t)
	w := newWorkspace(t)
	config := fmt.Sprintf("data \"gitpin_ref\" \"d\" {\n  url = %q\n  branch = \"main\"\n}\n", filepath.Join(root, "a.git"))
	for _, edit := range []string{
		`{ commit = "27301587030f0eb318eb04f4f364a08b5aaa7073" }`,
		`{ object = "27301587030f0eb318eb04f4f364a08b5aaa7073" }`,
		`{ branch = "foo" }`, `{ url = "https://git.example.com/acme/app.git" }`, `{ checksum = "" }`, `{ checksum = null }`, `{ version = null }`,
	} {
		w.write(config, "resource \"gitpin_pin\" \"p\" {\n  observation = merge(data.gitpin_ref.d.observation, "+edit+")\n}\n")
		r := w.plan(1)
		wantText(t, r.all(), "was not made by a gitpin data source", "Nothing is recorded")
	}

	// A part that is known only at apply, though it may be the right one then.
	later := "resource \"terraform_data\" \"later\" {\n  input = data.gitpin_ref.d.observation.observed_at\n}\n"
	edited := "merge(data.gitpin_ref.d.observation, { observed_at = terraform_data.later.output })"
	for _, pin := range []string{
		"resource \"gitpin_pin\" \"p\" {\n  observation = " + edited + "\n}\n",
		"resource \"gitpin_pin_set\" \"s\" {\n  observations = { m = " + edited + " }\n}\n",
	} {
		w.write(config, later, pin)
		wantText(t, w.plan(1).all(), "was not made by a gitpin data source", "only some of them are known")
	}
}

func TestWrongConfigurationIsFoundByValidate(t *testing.T) {
	w := newWorkspace(t)
	const url = `url = "https://git.example.com/acme/app.git"`
	for config, parts := range map[string][]string{
		`data "gitpin_ref" "d" { ` + url + ` }`:                                                                                                                                         {"Set exactly one of branch"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nbranch = \"a\"\ntag = \"b\"\n}":                                                                                                      {"More than one selector", "branch, tag"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nbranch = \"\"\n}":                                                                                                                    {"branch is an empty string"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"main\"\n}":                                                                                                                   {"refs/heads/main", "refs/tags/main"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"a55ffdd34b5dcf319e7b2afb59711679e3b942d6\"\n}":                                                                               {"a commit id is not a ref"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nbranch = \"foo*\"\n}":                                                                                                                {"foo*"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nbranch = \"foo \"\n}":                                                                                                                {"space"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nsemver = \"latest\"\n}":                                                                                                              {"semver"},
		"data \"gitpin_refs\" \"d\" {\n" + url + "\nprefixes = [\"v1\"]\n}":                                                                                                             {"begin with refs/"},
		"data \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"HEAD\"\nmax_age = \"60\"\n}":                                                                                                 {`"60s" for seconds`},
		"provider \"gitpin\" {\ncredentials = [{ url = \"git.example.com\", secret = {} }]\n}\ndata \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"HEAD\"\n}\n":                           {"credentials[0]", "scheme"},
		"provider \"gitpin\" {\ncredentials = [{ url = \"https://git.example.com\", secret = { passwrod = \"x\" } }]\n}\ndata \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"HEAD\"\n}\n": {"credentials[0]", "Did you mean \"password\""},
		"resource \"gitpin_pin\" \"p\" {\n}":                                                                                                                                            {"observation is null or missing"},
		"resource \"gitpin_pin\" \"p\" {\nobservation = null\n}":                                                                                                                        {"observation is null or missing"},
		"resource \"gitpin_pin\" \"p\" {\n" + url + "\nbranch = \"a\"\nmin_observed_age = \"1d\"\n}":                                                                                    {"not a Go duration", "168h"},
		"resource \"gitpin_pin\" \"p\" {\n" + url + "\nbranch = \"a\"\nupdate = \"always\"\n}":                                                                                          {"hold", "follow"},
		"provider \"gitpin\" {\nper_host_concurrency = 0\n}\ndata \"gitpin_ref\" \"d\" {\n" + url + "\nref = \"HEAD\"\n}\n":                                                             {"per_host_concurrency"},
		"resource \"gitpin_pin\" \"p\" {\nurl = \"https://acme:s3cr3t@git.example.com/r.git\"\nbranch = \"a\"\n}":                                                                       {"credentials"},
	} {
		w.write(config)
		r := w.must(1, "validate", "-no-color")
		wantText(t, r.all(), parts...)
		if strings.Contains(r.all(), "s3cr3t") {
			t.Fatalf("the error shows a secret: %s", r.all())
		}
	}
}
