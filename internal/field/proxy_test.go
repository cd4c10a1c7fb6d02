package field

import (
	"strings"
	"testing"
	"time"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/lsremote"
)

// webHost exists behind the proxies only: loopback is never proxied.
const webHost = "git.example.invalid"

const proxyPassword = "pa@ss-w0rd"

// world is a git server over http and over https, under a name that only the
// proxies know.
func world(t *testing.T) (gittest.Routes, map[string]string) {
	t.Helper()
	root := gittest.Repos(t)
	plain := gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	secure := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{Cert: gittest.CertOptions{Hosts: []string{webHost}}}})
	return gittest.Routes{webHost + ":80": plain.Addr(), webHost + ":443": secure.Addr()}, map[string]string{"ca.crt": secure.CA.PEM}
}

// proxies that the provider block names.
func proxies(t *testing.T) []row {
	routes, ca := world(t)
	open := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes})
	secure := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, TLS: &gittest.TLSOptions{CA: systemCA}})
	closed := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, User: "pr0xy", Password: proxyPassword})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{Routes: routes, User: "pr0xy", Password: proxyPassword})
	gone := gittest.ServeTCP(t, gittest.Conversation())
	gone.Down()
	by := func(what, scheme string, p lsremote.Proxy, kind fault.Kind, says ...string) row {
		r := row{id: 40, what: what, url: scheme + "://" + webHost + "/a.git", kind: kind, says: says, hides: []string{proxyPassword}}
		r.config.Proxy = &p
		if scheme == "https" {
			r.secret = ca
		}
		return r
	}
	lost := by("the proxy cannot reach the host", "https", lsremote.Proxy{URL: open.URL}, fault.Proxy, "502")
	lost.url, lost.config.Retry.MaxAttempts = "https://gone."+webHost+"/a.git", 1
	through := func(url string) lsremote.Proxy {
		return lsremote.Proxy{URL: url, Username: "pr0xy", Password: proxyPassword}
	}
	root := gittest.Repos(t)
	sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	routes[webHost+":22"] = sshd.Addr()
	overSSH := func(what string, p lsremote.Proxy, kind fault.Kind, says ...string) row {
		p.SSH = true
		r := by(what, "ssh", p, kind, says...)
		r.url = "ssh://" + sshd.User + "@" + webHost + root + "/a.git"
		r.secret = map[string]string{"identity": sshd.Client.Private, "known_hosts": sshd.HostKeys[0].KnownHost(webHost + ":22")}
		return r
	}
	return []row{
		by("https by an http proxy", "https", lsremote.Proxy{URL: open.URL}, ""),
		by("http by an http proxy", "http", lsremote.Proxy{URL: open.URL}, ""),
		by("https by an https proxy", "https", lsremote.Proxy{URL: strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)}, ""),
		by("with credentials", "https", through(closed.URL), ""),
		by("http with credentials", "http", through(closed.URL), ""),
		by("socks5 with credentials", "https", through(socks.URL()), ""),
		by("407, none given", "https", lsremote.Proxy{URL: closed.URL}, fault.Proxy, "407", "proxy.username"),
		by("407, wrong ones", "http", lsremote.Proxy{URL: closed.URL, Username: "pr0xy", Password: "wr0ng"}, fault.Proxy, "407"),
		by("socks5, wrong ones", "https", lsremote.Proxy{URL: socks.URL(), Username: "pr0xy", Password: "wr0ng"}, fault.Proxy, "socks5://"),
		by("no proxy there", "https", lsremote.Proxy{URL: "http://" + gone.Addr()}, fault.Proxy, gone.Addr()),
		lost,
		overSSH("ssh, when asked: an http proxy", through(closed.URL), ""),
		overSSH("ssh, when asked: an https proxy", lsremote.Proxy{URL: strings.Replace(secure.URL, "127.0.0.1", "localhost", 1)}, ""),
		overSSH("ssh, when asked: socks5", through(socks.URL()), ""),
		overSSH("ssh, when asked: 407", lsremote.Proxy{URL: closed.URL, Username: "pr0xy", Password: "wr0ng"}, fault.Proxy, "407"),
		by("no_proxy: the host", "https", lsremote.Proxy{URL: open.URL, NoProxy: webHost}, fault.Unavailable, "cannot be resolved"),
		by("no_proxy: a suffix", "https", lsremote.Proxy{URL: open.URL, NoProxy: ".example.invalid"}, fault.Unavailable, "cannot be resolved"),
		by("no_proxy: another port", "https", lsremote.Proxy{URL: open.URL, NoProxy: webHost + ":8443"}, ""),
		by("no_proxy: this port", "https", lsremote.Proxy{URL: open.URL, NoProxy: webHost + ":443"}, fault.Unavailable, "cannot be resolved"),
		by("no_proxy: another suffix", "https", lsremote.Proxy{URL: open.URL, NoProxy: "other.invalid,10.0.0.0/8"}, ""),
	}
}

// proxyVariables in the environment, which ssh, git:// and loopback ignore.
func proxyVariables(t *testing.T) []row {
	routes, ca := world(t)
	root := gittest.Repos(t)
	open := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes})
	closed := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, User: "pr0xy", Password: "pa@ss"})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{Routes: routes})
	login := func(password string) string {
		return strings.Replace(closed.URL, "://", "://pr0xy:"+password+"@", 1)
	}
	url := "https://" + webHost + "/a.git"
	by := func(what, url string, kind fault.Kind, env ...string) row {
		r := row{id: 40, what: what, url: url, kind: kind, env: env}
		if strings.HasPrefix(url, "https://") {
			r.secret = ca
		}
		return r
	}
	never := func(r row) row {
		r.again = open.Forget
		r.check = func(t *testing.T) {
			if n := open.Count(); n != 0 {
				t.Errorf("the proxy was asked %d times", n)
			}
		}
		return r
	}
	sshd, daemon, local := gittest.ServeSSH(t, root, gittest.SSHOptions{}), gittest.ServeGit(t, root, gittest.DaemonOptions{}), gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	all := []string{"HTTPS_PROXY=" + open.URL, "HTTP_PROXY=" + open.URL, "ALL_PROXY=" + open.URL}
	overSSH := by("ssh ignores all of them", sshd.URL("a.git"), "", all...)
	overSSH.secret = sshAccess(sshd)
	byCIDR := never(by("NO_PROXY: a CIDR", "https://192.0.2.7/a.git", fault.Timeout, append(all, "NO_PROXY=192.0.2.0/24")...))
	byCIDR.config.Timeout, byCIDR.or, byCIDR.alone = 200*time.Millisecond, fault.Unavailable, true
	refused := by("user:pass in it, wrong", url, fault.Proxy, "HTTPS_PROXY="+login("s3cr3tpass"))
	refused.says, refused.hides = []string{"407"}, []string{"s3cr3tpass"}
	broken := by("one that cannot be parsed", url, fault.Proxy, "HTTPS_PROXY=http://pr0xy:s3c%zzr3t@"+open.Addr())
	broken.hides = []string{"s3c%zzr3t", "zzr3t"}
	return []row{
		by("HTTPS_PROXY", url, "", "HTTPS_PROXY="+open.URL),
		by("https_proxy", url, "", "https_proxy="+open.URL),
		by("http_proxy for http", "http://"+webHost+"/a.git", "", "http_proxy="+open.URL),
		by("ALL_PROXY=socks5", url, "", "ALL_PROXY="+socks.URL()),
		by("user:pa%40ss in it", url, "", "HTTPS_PROXY="+login("pa%40ss")),
		refused, broken,
		by("NO_PROXY: the host", url, fault.Unavailable, "HTTPS_PROXY="+open.URL, "NO_PROXY="+webHost),
		by("NO_PROXY: a suffix", url, fault.Unavailable, "HTTPS_PROXY="+open.URL, "NO_PROXY=.invalid"),
		by("NO_PROXY: another host", url, "", "HTTPS_PROXY="+open.URL, "NO_PROXY=example.com"),
		byCIDR,
		never(overSSH),
		never(by("git:// ignores all of them", daemon.URL("a.git"), "", all...)),
		never(by("loopback is never proxied", local.URL+"/a.git", "", all...)),
		never(by("a path ignores all of them", root+"/a.git", "", all...)),
	}
}
