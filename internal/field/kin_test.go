package field

import (
	"net/http"
	"strings"
	"testing"

	"golang.org/x/crypto/ssh"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitpoll"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/reading"
)

// kin are cases of the same kinds that have no number of their own.
func kin(t *testing.T) []row {
	return append(append(kinOverHTTP(t), kinOverSSH(t)...), kinOfPrefixes(t)...)
}

// kinOverHTTP: habits of web servers and of those who write credentials.
func kinOverHTTP(t *testing.T) []row {
	root := gittest.Repos(t)
	as := func(what, user, password string) row {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{User: user, Password: password})
		return row{what: what, url: s.URL + "/a.git", secret: map[string]string{"username": user, "password": password}}
	}
	by := func(what string, m gittest.Middleware, kind fault.Kind, says ...string) row {
		s := gittest.ServeHTTP(t, root, gittest.HTTPOptions{Middleware: m})
		return row{what: what, url: s.URL + "/a.git", kind: kind, says: says}
	}
	tokenAsUser := as("a token as user name, no password", "ghp_0123456789abcdefghij", "")
	tokenAsUser.hides = []string{"ghp_0123456789abcdefghij"}
	v0 := gittest.ServeHTTP(t, root, gittest.HTTPOptions{V0Only: true})
	typed := func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			next.ServeHTTP(retyped{w}, r)
		})
	}
	return []row{
		as("a colon in the password", "acme", "a:b:c"),
		as("a password that is not ASCII", "acme", "pässwörd-ключ"),
		as("a user name with an @", "me@example.com", password),
		tokenAsUser,
		by("a content type with a parameter", typed, ""),
		{what: "protocol v0 only", url: v0.URL + "/a.git"},
		by("prefixes ignored", gittest.IgnorePrefixes, ""),
		by("v0 to a v2 POST", gittest.V0OnPost, ""),
		by("405 on POST", gittest.Instead(gittest.IsPost, gittest.Status(405, "")), ""),
		by("501 on POST", gittest.Instead(gittest.IsPost, gittest.Status(501, "")), ""),
		by("403 on POST, a firewall", gittest.Instead(gittest.IsPost, gittest.Status(403, "")), ""),
		by("307 on POST and GET, relative", redirectInto("/moved"), ""),
		by("Negotiate only", gittest.Instead(func(*http.Request) bool { return true }, gittest.Status(401, "", "WWW-Authenticate", "Negotiate")), fault.Authentication, "Negotiate"),
		by("402", gittest.Instead(func(*http.Request) bool { return true }, gittest.Status(402, "pay first")), fault.NotGit, "402", "pay first"),
	}
}

// redirectInto redirects what is not below path, relatively and with 307, and
// serves what is.
func redirectInto(path string) gittest.Middleware {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if below, ok := strings.CutPrefix(r.URL.Path, path); ok {
				r.URL.Path = below
				next.ServeHTTP(w, r)
				return
			}
			gittest.Redirect(http.StatusTemporaryRedirect, ".."+strings.Repeat("/..", strings.Count(r.URL.Path, "/")-2)+path+r.URL.RequestURI()).ServeHTTP(w, r)
		})
	}
}

// retyped adds a parameter to the content type.
type retyped struct{ http.ResponseWriter }

func (w retyped) WriteHeader(status int) {
	w.Header().Set("Content-Type", w.Header().Get("Content-Type")+"; charset=utf-8")
	w.ResponseWriter.WriteHeader(status)
}

// kinOverSSH: old servers, other ways to log in, keys with certificates.
func kinOverSSH(t *testing.T) []row {
	root := gittest.Repos(t)
	rsa, err := gittest.ClientKey(gittest.RSA)
	if err != nil {
		t.Fatal(err)
	}
	at := func(what string, s *gittest.SSHD, kind fault.Kind, says ...string) row {
		return row{what: what, url: s.URL("a.git"), secret: sshAccess(s), kind: kind, says: says}
	}
	sha1Host := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: []*gittest.SSHKey{gittest.MakeSSHKey(t, gittest.RSA)}, Config: []string{"HostKeyAlgorithms ssh-rsa"}})
	sha1User := gittest.ServeSSH(t, root, gittest.SSHOptions{Clients: []*gittest.SSHKey{rsa}, Config: []string{"PubkeyAcceptedAlgorithms ssh-rsa"}})
	sha2User := gittest.ServeSSH(t, root, gittest.SSHOptions{Clients: []*gittest.SSHKey{rsa}, Config: []string{"PubkeyAcceptedAlgorithms rsa-sha2-256"}})
	oldKex := gittest.ServeSSH(t, root, gittest.SSHOptions{Config: []string{"KexAlgorithms diffie-hellman-group1-sha1"}})
	group14 := gittest.ServeSSH(t, root, gittest.SSHOptions{Config: []string{"KexAlgorithms diffie-hellman-group14-sha256", "Ciphers aes256-ctr", "MACs hmac-sha2-512"}})
	kex := func(name string) *gittest.SSHD {
		return gittest.ServeSSH(t, root, gittest.SSHOptions{Config: []string{"KexAlgorithms " + name}})
	}
	onlySHA1 := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{UserAlgorithms: []string{ssh.KeyAlgoRSA}})
	v0 := gittest.ServeSSH(t, root, gittest.SSHOptions{V0Only: true})
	banner := gittest.ServeSSH(t, root, gittest.SSHOptions{Banner: strings.Repeat("authorised use only\n", 20)})
	one := gittest.ServeSSH(t, root, gittest.SSHOptions{MaxSessions: 1})
	key := gittest.MakeSSHKey(t, gittest.Ed25519)
	words := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Password: "pw"})
	ca := gittest.MakeSSHKey(t, gittest.Ed25519)
	late, err := gittest.MakeSSHKey(t, gittest.Ed25519).Certify(ca, ssh.HostCert, "git.example.com")
	if err != nil {
		t.Fatal(err)
	}
	wrongName := gittest.ServeSSH(t, root, gittest.SSHOptions{HostKeys: []*gittest.SSHKey{late}})
	return []row{
		at("host key by SHA-1 only", sha1Host, fault.HostKeyUnknown, "ssh-rsa"),
		at("user key by SHA-1 only", sha1User, fault.Authentication, "refused the login"),
		at("user key by rsa-sha2-256 only", sha2User, ""),
		at("key exchange by SHA-1 only", oldKex, fault.Protocol, "key exchange"),
		at("group14-sha256, aes256-ctr", group14, ""),
		at("group16-sha512 only", kex("diffie-hellman-group16-sha512"), ""),
		at("group exchange, SHA-2, only", kex("diffie-hellman-group-exchange-sha256"), ""),
		at("group14-sha1 only, as OpenSSH", kex("diffie-hellman-group14-sha1"), fault.Protocol, "key exchange", "curve25519-sha256"),
		at("a key exchange that is new", kex("sntrup761x25519-sha512@openssh.com"), fault.Protocol, "known here", "sntrup761"),
		{what: "RSA user keys by SHA-1 only, as OpenSSH", url: onlySHA1.URL("a.git"), secret: map[string]string{"identity": rsa.Private, "known_hosts": onlySHA1.KnownHosts()}, kind: fault.Authentication, says: []string{"SHA-2", "ed25519"}},
		at("GIT_PROTOCOL not accepted", v0, ""),
		at("a banner", banner, ""),
		at("MaxSessions 1", one, ""),
		{what: "a server that takes passwords only", url: words.URL("a.git"), secret: map[string]string{"identity": key.Private, "known_hosts": words.KnownHosts()}, kind: fault.Authentication, says: []string{"password", "takes no public keys"}},
		{what: "host certificate for another name", url: wrongName.URL("a.git"), secret: with(sshAccess(wrongName), "known_hosts", "@cert-authority * "+ca.Public), kind: fault.HostKeyUnknown, says: []string{"certificate"}},
	}
}

// kinOfPrefixes: which remotes get a secret.
func kinOfPrefixes(t *testing.T) []row {
	root := gittest.Repos(t)
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "acme/a.git")
	gittest.Git(t, root, "clone", "-q", "--mirror", "a.git", "acme-evil/a.git")
	s := guarded(t, root, nil)
	ask := func(what, path string, kind fault.Kind, entries ...gitauth.Entry) row {
		r := row{what: what, url: s.URL + path, kind: kind, alone: true}
		r.ours = func(t *testing.T, _ *stack) (gitpoll.Observation, error) {
			st, err := newStack(t, r.config, entries, gitauth.Options{})
			if err != nil {
				return gitpoll.Observation{}, err
			}
			return st.Observe(t.Context(), branchMain(r.url), reading.Want{}, true)
		}
		return r
	}
	right, wrong := basicSecret, with(basicSecret, "password", "wrong")
	at := func(path string, secret map[string]string) gitauth.Entry {
		return gitauth.Entry{URL: s.URL + path, Secret: secret}
	}
	named := gitauth.Entry{URL: strings.Replace(s.URL, "127.0.0.1", "localhost", 1), Secret: right}
	return []row{
		ask("the longest prefix wins", "/acme/a.git", "", at("", wrong), at("/acme/", right)),
		ask("in any order", "/acme/a.git", "", at("/acme/", right), at("", wrong)),
		ask("whole segments only", "/acme-evil/a.git", fault.Authentication, at("/acme", right)),
		ask("another name of the host", "/a.git", fault.Authentication, named),
		ask("anonymous below a wider prefix", "/acme/a.git", fault.Authentication, at("", right), at("/acme/", map[string]string{})),
		ask("the same prefix twice", "/acme/a.git", fault.Input, at("/acme", right), at("/acme/", wrong)),
	}
}
