package lsremote

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// sshWorld is an sshd that only a proxy can reach by the name webHost.
type sshWorld struct {
	sshd   *gittest.SSHD
	routes gittest.Routes
	remote giturl.Remote
	secret map[string]string
}

func newSSHWorld(t *testing.T) sshWorld {
	t.Helper()
	root := gittest.Repos(t)
	sshd := gittest.ServeSSH(t, root, gittest.SSHOptions{})
	var known strings.Builder
	for _, key := range sshd.HostKeys {
		known.WriteString(key.KnownHost(webHost+":22") + "\n")
	}
	return sshWorld{
		sshd:   sshd,
		routes: gittest.Routes{webHost + ":22": sshd.Addr()},
		remote: mustParse(t, "ssh://"+sshd.User+"@"+webHost+root+"/a.git"),
		secret: sshSecret(t, sshd.Client, known.String()),
	}
}

func (w sshWorld) read(t *testing.T, c *Client) (*Advertisement, error) {
	t.Helper()
	return c.Read(t.Context(), w.remote, authFor(t, w.remote, "ssh://"+webHost, w.secret), refs("refs/heads/main"))
}

// Each kind of proxy leads to an ssh host when asked to. One connection serves
// several readings.
func TestProxySSH(t *testing.T) {
	w := newSSHWorld(t)
	plain := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: w.routes, User: "pr0xy", Password: proxyPass})
	// What sshd says first comes along with the proxy's answer, and is not lost.
	late := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: w.routes, Late: true})
	secure := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: w.routes, Late: true, TLS: &gittest.TLSOptions{CA: systemCA}})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{Routes: w.routes, User: "pr0xy", Password: proxyPass})
	asked := func(p *gittest.HTTP) func() []string {
		return func() (hosts []string) {
			for _, request := range p.Requests() {
				hosts = append(hosts, request.Host)
			}
			return hosts
		}
	}
	for name, c := range map[string]struct {
		proxy Proxy
		asked func() []string
	}{
		"http, with a login":   {Proxy{URL: plain.URL, Username: "pr0xy", Password: proxyPass}, asked(plain)},
		"http, late":           {Proxy{URL: late.URL}, asked(late)},
		"https":                {Proxy{URL: secure.URL}, asked(secure)},
		"socks5, with a login": {Proxy{URL: socks.URL(), Username: "pr0xy", Password: proxyPass}, socks.Requests},
	} {
		t.Run(name, func(t *testing.T) {
			c.proxy.SSH = true
			client := newTestClient(t, Config{Proxy: &c.proxy})
			for range 2 {
				a, err := w.read(t, client)
				if err != nil {
					t.Fatal(err)
				}
				only(t, a, wantMain)
			}
			if got := c.asked(); !slices.Equal(got, []string{webHost + ":22"}) {
				t.Errorf("the proxy was asked for %q", got)
			}
		})
	}
}

// dialledFor returns the address that is dialled to reach addr.
func dialledFor(t *testing.T, p *Proxy, addr string) (dialled string) {
	t.Helper()
	proxies, err := newProxies(p)
	if err != nil {
		t.Fatal(err)
	}
	conn, err := proxies.sshDial(func(_ context.Context, _, addr string) (net.Conn, error) {
		dialled = addr
		return nil, errors.New("enough")
	})(t.Context(), "tcp", addr)
	if err == nil {
		t.Fatal(addr, conn)
	}
	return dialled
}

// Field case 40: no proxy is for ssh unless told so, and none of the
// environment ever is.
func TestProxySSHOnlyWhenAsked(t *testing.T) {
	for _, name := range []string{"HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "https_proxy", "http_proxy", "all_proxy"} {
		t.Setenv(name, "socks5://proxy.example.com")
	}
	for name, proxy := range map[string]*Proxy{"environment": nil, "provider": {URL: "socks5://proxy.example.com"}} {
		if got := dialledFor(t, proxy, webHost+":22"); got != webHost+":22" {
			t.Errorf("%s: dialled %s", name, got)
		}
	}
}

// The rules of no_proxy hold for ssh, with the port of ssh, and loopback needs
// no proxy.
func TestProxySSHNoProxy(t *testing.T) {
	for _, c := range []struct {
		list, addr string
		direct     bool
	}{
		{"git.example.com", "git.example.com:22", true},
		{".example.com", "git.example.com:2222", true},
		{"git.example.com:22", "git.example.com:22", true},
		{"git.example.com:443", "git.example.com:22", false},
		{"192.0.2.0/24", "192.0.2.7:22", true},
		{"192.0.2.0/24", "192.0.3.7:22", false},
		{"", "[2001:db8::1]:22", false},
		{"2001:db8::/32", "[2001:db8::1]:22", true},
		{"*", "git.example.com:22", true},
		{"", "127.0.0.1:22", true},
		{"", "[::1]:22", true},
		{"", "localhost:22", true},
	} {
		want := "proxy.example.com:3128"
		if c.direct {
			want = c.addr
		}
		if got := dialledFor(t, &Proxy{URL: "http://proxy.example.com:3128", NoProxy: c.list, SSH: true}, c.addr); got != want {
			t.Errorf("no_proxy %q, %s: dialled %s", c.list, c.addr, got)
		}
	}
}

// A proxy that fails is named, whatever kind it is, and its password is not.
func TestI6ProxySSHErrors(t *testing.T) {
	w := newSSHWorld(t)
	strict := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: w.routes, User: "pr0xy", Password: "other"})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{User: "pr0xy", Password: "other"})
	nowhere := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: gittest.Routes{webHost + ":22": "127.0.0.1:1"}})
	gone := gittest.ServeTCP(t, gittest.Conversation())
	gone.Down()
	silent := gittest.ServeTCP(t, gittest.Conversation(gittest.Hang))
	endless := gittest.ServeTCP(t, gittest.Conversation(gittest.Send([]byte("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 1<<20)))))
	for name, c := range map[string]struct {
		url  string
		kind fault.Kind
		text string
	}{
		"407":                   {strict.URL, fault.Proxy, "the proxy answered 407 Proxy Authentication Required"},
		"SOCKS, wrong password": {socks.URL(), fault.Proxy, "through the proxy socks5://" + socks.Addr()},
		"refused":               {"http://" + gone.Addr(), fault.Proxy, "through the proxy http://" + gone.Addr() + ": connect: connection refused"},
		"bad gateway":           {nowhere.URL, fault.Proxy, "the proxy answered 502"},
		"not a proxy":           {"http://" + w.sshd.Addr(), fault.Proxy, "through the proxy"},
		"a header without end":  {"http://" + endless.Addr(), fault.Proxy, "through the proxy"},
		"silent":                {"http://" + silent.Addr(), fault.Timeout, "dial"},
	} {
		t.Run(name, func(t *testing.T) {
			config := Config{Proxy: &Proxy{URL: strings.Replace(c.url, "://", "://"+url.UserPassword("pr0xy", proxyPass).String()+"@", 1), SSH: true}}
			if c.kind == fault.Timeout {
				config.Timeout = short
			}
			_, err := w.read(t, newTestClient(t, config))
			e := wantFault(t, err, c.kind)
			if wantText(t, err, c.text); e.Phase != fault.PhaseDial || !e.HostWide {
				t.Errorf("got %+v", *e)
			}
			gittest.AssertNoSecrets(t, name, fmt.Appendf(nil, "%v %+v", err, *e), proxyPass, "pa@ss")
		})
	}
}
