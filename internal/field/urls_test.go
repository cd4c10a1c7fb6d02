package field

import (
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// sshAccess is the secret that logs in to a server.
func sshAccess(s *gittest.SSHD) map[string]string {
	return map[string]string{"identity": s.Client.Private, "known_hosts": s.KnownHosts()}
}

// spellings: a number after the colon of the scp form is a path, as for git.
func spellings(t *testing.T) []row {
	root := gittest.Repos(t)
	v4, v6 := gittest.ServeSSH(t, root, gittest.SSHOptions{}), gittest.ServeSSH(t, root, gittest.SSHOptions{IPv6: true})
	web6 := gittest.ServeHTTP(t, root, gittest.HTTPOptions{IPv6: true})
	git6 := gittest.ServeGit(t, root, gittest.DaemonOptions{IPv6: true})
	local := strings.Replace(v4.URL("a.git"), "127.0.0.1", "localhost", 1)
	known := with(sshAccess(v4), "known_hosts", strings.ReplaceAll(v4.KnownHosts(), "127.0.0.1", "localhost"))
	return []row{
		{id: 20, what: "git@h:2222/g/r.git", url: "git@h.example:2222/g/r.git", parsed: "git@h.example:22 2222/g/r.git"},
		{id: 20, what: "git@h:2222:g/r.git", url: "git@h.example:2222:g/r.git", parsed: "git@h.example:22 2222:g/r.git"},
		{id: 20, what: "[git@h:2222]:g/r.git", url: "[git@h.example:2222]:g/r.git", parsed: "git@h.example:2222 g/r.git"},
		{id: 20, what: "ssh://git@h:2222/g/r.git", url: "ssh://git@h.example:2222/g/r.git", parsed: "git@h.example:2222 /g/r.git"},
		{id: 20, what: "ssh://git@h:g/r.git", url: "ssh://git@h.example:g/r.git", kind: fault.Input,
			says: []string{"ssh://git@h.example/g/r.git", "git@h.example:g/r.git"}},
		{id: 20, what: "git@[::1]:g/r.git", url: "git@[::1]:g/r.git", parsed: "git@[::1]:22 g/r.git"},
		{id: 20, what: "ssh:// with a port, real sshd", url: v4.URL("a.git"), secret: sshAccess(v4)},
		{id: 20, what: "[user@h:port]:path, real sshd", url: v4.SCP("a.git"), secret: sshAccess(v4), prefix: "ssh://" + v4.Addr()},
		{id: 20, what: "a name, upper-case, real sshd", url: strings.Replace(local, "localhost", "LocalHost", 1), secret: known},
		{id: 20, what: "ssh://[::1]:port, real sshd", url: v6.URL("a.git"), secret: sshAccess(v6)},
		{id: 20, what: "http://[::1]:port", url: web6.URL + "/a.git"},
		{id: 20, what: "git://[::1]:port", url: git6.URL("a.git")},
	}
}

// homes: a path below a home directory goes to the server without a slash.
func homes(t *testing.T) []row {
	root := gittest.Repos(t)
	s := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "a b%20.git")
	at := "ssh://" + s.User + "@" + s.Addr()
	return []row{
		{id: 22, what: "ssh://h/~u/r.git", url: "ssh://git@h.example/~u/r.git", parsed: "git@h.example:22 ~u/r.git"},
		{id: 22, what: "ssh://h/~/r.git", url: "ssh://git@h.example/~/r.git", parsed: "git@h.example:22 ~/r.git"},
		{id: 22, what: "git@h:~u/r.git", url: "git@h.example:~u/r.git", parsed: "git@h.example:22 ~u/r.git"},
		{id: 22, what: "ssh://h/%7Eu/r%20x.git", url: "ssh://git@h.example/%7Eu/r%20x.git", parsed: "git@h.example:22 ~u/r x.git"},
		{id: 22, what: "git@h:r%20x.git", url: "git@h.example:r%20x.git", parsed: "git@h.example:22 r%20x.git"},
		{id: 22, what: "~/a.git, real sshd", url: at + "/~/a.git", secret: sshAccess(s)},
		{id: 22, what: "decoded in a URL, real sshd", url: at + "/~/a%20b%2520.git", secret: sshAccess(s)},
		{id: 22, what: "verbatim in scp, real sshd", url: s.SCP("a b%20.git"), secret: sshAccess(s), prefix: "ssh://" + s.Addr()},
	}
}

// logins: the user comes from the URL, else it is git; the secret's username
// has no part in it.
func logins(t *testing.T) []row {
	answer := []gittest.Step{gittest.Send(gittest.PktLines(mainA + " refs/heads/main\x00x")), gittest.ReadToFlush}
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	server := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Steps: answer})
	secret := map[string]string{"identity": key.Private, "known_hosts": server.KnownHosts()}
	as := func(what, user, want string, secret map[string]string) row {
		r := row{id: 23, what: what, url: "ssh://" + user + server.Addr() + "/v1/repos/r", secret: secret, prefix: "ssh://" + server.Addr()}
		r.check = func(t *testing.T) {
			if users := server.Users(); len(users) == 0 || users[len(users)-1] != want {
				t.Errorf("logged in as %q, want %q", users, want)
			}
		}
		return r
	}
	sshd := gittest.ServeSSH(t, gittest.Repos(t), gittest.SSHOptions{})
	stranger := with(sshAccess(sshd), "identity", key.Private)
	return []row{
		{id: 23, what: "URL without a user", url: "ssh://h.example/r.git", parsed: "@h.example:22 /r.git"},
		{id: 23, what: "h:r.git", url: "h.example:r.git", parsed: "@h.example:22 r.git"},
		as("CodeCommit's key id", "APKAEXAMPLE@", "APKAEXAMPLE", secret),
		as("an encoded @", "a%40b@", "a@b", secret),
		as("no user: git, as for Flux", "", "git", secret),
		as("username in the secret is not used", "", "git", with(secret, "username", "somebody")),
		as("URL wins over username", "gerrit@", "gerrit", with(secret, "username", "somebody")),
		{id: 23, what: "a refused login is named", url: sshd.URL("a.git"), secret: stranger, kind: fault.Authentication, says: []string{`refused the login as "` + sshd.User + `"`, "publickey"}},
	}
}

// azure: the path goes out as it was written, in one GET of protocol v0 where
// the server has no more.
func azure(t *testing.T) []row {
	root := gittest.Repos(t)
	if err := os.MkdirAll(filepath.Join(root, "o", "My Proj", "_git"), 0o755); err != nil {
		t.Fatal(err)
	}
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "o/My Proj/_git/r")
	plain := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	// It wants multi_ack, which no listing has, on every POST.
	picky := gittest.ServeHTTP(t, root, gittest.HTTPOptions{V0Only: true, Middleware: gittest.Instead(gittest.IsPost, gittest.Status(http.StatusBadRequest, "multi_ack is required"))})
	asked := func(s *gittest.HTTP, want ...string) func(*testing.T) {
		return func(t *testing.T) {
			var got []string
			for _, r := range s.Requests() {
				got = append(got, r.Method+" "+r.Path)
			}
			if !slices.Equal(got, want) {
				t.Errorf("asked %q, want %q", got, want)
			}
		}
	}
	const path = "/o/My%20Proj/_git/r"
	return []row{
		{id: 25, what: "%20 in the path", url: plain.URL + path, again: plain.Forget, check: asked(plain, "POST "+path+"/git-upload-pack")},
		{id: 25, what: "one trailing slash", url: plain.URL + path + "/"},
		{id: 25, what: "two trailing slashes, as git", url: plain.URL + path + "//", kind: fault.Unavailable, says: []string{"500"}}, // http-backend's word for it
		{id: 25, what: "a raw space", url: plain.URL + "/o/My Proj/_git/r", kind: fault.Input, says: []string{"%20"}},
		{id: 25, what: "400 on POST, v0 on GET", url: picky.URL + path, check: asked(picky, "POST "+path+"/git-upload-pack", "GET "+path+"/info/refs")},
		{id: 25, what: "%2F stays as it is", url: plain.URL + "/o%2FMy%20Proj/_git/r", again: plain.Forget, check: asked(plain, "POST /o%2FMy%20Proj/_git/r/git-upload-pack")},
	}
}

// passwords in a URL break the parser, and no part of them is shown.
func passwords(*testing.T) []row {
	refused := func(what, url string, hides ...string) row {
		return row{id: 26, what: what, url: url, kind: fault.Input, says: []string{"credentials"}, hides: hides}
	}
	return []row{
		refused("a raw / in the password", "https://user:s3/cr3t@h.invalid/r.git", "s3", "cr3t"),
		refused("a raw #", "https://user:s3#cr3t@h.invalid/r.git", "s3", "cr3t"),
		refused("a raw %", "https://user:s3c%zzt@h.invalid/r.git", "s3c", "zzt"),
		refused("a raw @", "https://user:s3@cr3t@h.invalid/r.git", "s3", "cr3t"),
		refused("a raw ?", "https://user:s3?cr3t@h.invalid/r.git", "s3", "cr3t"),
		refused("an encoded one", "https://user:s3%2Fcr3t@h.invalid/r.git", "s3", "cr3t"),
		refused("a token as user", "https://ghp_0123456789abcdefghij0123456789abcdef@h.invalid/r.git", "ghp_0123456789"),
		refused("an ssh password", "ssh://git:s3cr3t@h.invalid/r.git", "s3cr3t"),
	}
}

// queries hold tokens, which git itself sends mangled: refused before any
// request.
func queries(t *testing.T) []row {
	s := gittest.ServeHTTP(t, gittest.Repos(t), gittest.HTTPOptions{})
	none := func(t *testing.T) {
		if n := s.Count(); n != 0 {
			t.Errorf("%d requests", n)
		}
	}
	var rows []row
	for _, end := range []string{"?private_token=s3cr3t", "?job_token=s3cr3t", "#s3cr3t", "?access_token=s3cr3t#x"} {
		rows = append(rows, row{id: 29, what: "a.git" + strings.ReplaceAll(end, "s3cr3t", "…"), url: s.URL + "/a.git" + end, kind: fault.Input, says: []string{"query", "credentials"}, hides: []string{"s3cr3t"}, again: s.Forget, check: none})
	}
	return rows
}

// loginPages in place of refs are named as such, and hold no refs.
func loginPages(t *testing.T) []row {
	always := func(h http.Handler) string {
		return gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: h}).URL + "/a.git"
	}
	root := gittest.Repos(t)
	dumb := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Dumb(root)})
	return []row{
		{id: 28, what: "302 to a login page with a token", url: always(gittest.Redirect(http.StatusFound, "/login?token=S3CRET0123")), kind: fault.NotGit, says: []string{"login page", "/login"}, hides: []string{"S3CRET0123"}},
		{id: 28, what: "200 with a page", url: always(gittest.HTML("<html><body>Sign in</body></html>")), kind: fault.NotGit, says: []string{"login page"}},
		{id: 28, what: "200 with a page that lists a ref", url: always(gittest.HTML("<html>\n" + mainA + "\trefs/heads/main\n</html>")), kind: fault.NotGit, says: []string{"login page"}},
		{id: 28, what: "200 text/html, dumb list", url: always(gittest.HTML(mainA + "\trefs/heads/main\n")), kind: fault.NotGit},
		{id: 28, what: "dumb HTTP: one clear error", url: dumb.URL + "/a.git", kind: fault.NotGit, says: []string{"dumb HTTP"}},
		{id: 28, what: "right type, a page in it", url: always(gittest.Answer(gittest.AdvertisementType, []byte("<html>Sign in</html>"))), kind: fault.NotGit},
	}
}
