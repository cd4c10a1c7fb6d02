package lsremote

import (
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// The hosts of these tests exist behind the proxies only.
const (
	webHost   = "git.example.invalid"
	proxyPass = "pa@ss w0rd"
)

// proxyWorld is one git server over http and one over https, and a way to them
// by name.
func proxyWorld(t *testing.T) (routes gittest.Routes, http, https *gittest.HTTP) {
	t.Helper()
	root := gittest.Repos(t)
	http = gittest.ServeHTTP(t, root, gittest.HTTPOptions{})
	https = gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{HTTP2: true, Cert: gittest.CertOptions{Hosts: []string{webHost}}}})
	return gittest.Routes{webHost + ":80": http.Addr(), webHost + ":443": https.Addr()}, http, https
}

// readWorld reads over both schemes.
func readWorld(t *testing.T, c *Client, https *gittest.HTTP) {
	t.Helper()
	for _, scheme := range []string{"http", "https"} {
		r := mustParse(t, scheme+"://"+webHost+"/a.git")
		auth := authFor(t, r, scheme+"://"+webHost, map[string]string{"ca.crt": https.CA.PEM})
		a, err := c.Read(t.Context(), r, auth, refs("refs/heads/main"))
		if err != nil {
			t.Fatalf("%s: %v", scheme, err)
		}
		only(t, a, wantMain)
	}
}

func TestProxyHTTP(t *testing.T) {
	routes, _, https := proxyWorld(t)
	p := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, User: "pr0xy", Password: proxyPass})
	readWorld(t, newTestClient(t, Config{Proxy: &Proxy{URL: p.URL, Username: "pr0xy", Password: proxyPass}}), https)
	got := p.Requests()
	if len(got) != 2 || got[0].Method != "POST" || got[1].Method != "CONNECT" || got[1].Host != webHost+":443" {
		t.Errorf("the proxy was asked %+v", got)
	}
	for _, request := range https.Requests() {
		if request.Header.Get("Proxy-Authorization") != "" {
			t.Error("the proxy's credentials went to the host")
		}
	}
}

// An https proxy is checked against the system's authorities, whatever the
// secret says about the host.
func TestProxyHTTPS(t *testing.T) {
	routes, _, https := proxyWorld(t)
	p := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, TLS: &gittest.TLSOptions{CA: systemCA}})
	readWorld(t, newTestClient(t, Config{Proxy: &Proxy{URL: p.URL}}), https)
	if n := p.Count(); n != 2 {
		t.Errorf("%d requests to the proxy", n)
	}
}

// A proxy that falls silent is a timeout of the dial.
func TestProxyTimeout(t *testing.T) {
	silent := gittest.ServeTCP(t, gittest.Conversation(gittest.Hang))
	for _, scheme := range []string{"http", "https", "socks5"} {
		c := newTestClient(t, Config{Timeout: short, Proxy: &Proxy{URL: scheme + "://" + silent.Addr()}})
		_, err := read(t, c, "https://"+webHost+"/a.git", refs("HEAD"))
		if e := wantFault(t, err, fault.Timeout); e.Phase != fault.PhaseDial || !e.HostWide {
			t.Errorf("%s: %+v", scheme, *e)
		}
	}
}

func TestProxyAddr(t *testing.T) {
	for in, want := range map[string]string{
		"http://p": "p:80", "https://p": "p:443", "socks5://p": "p:1080", "socks5h://[::1]": "[::1]:1080", "http://p:3128": "p:3128",
	} {
		u, err := url.Parse(in)
		if err != nil {
			t.Fatal(err)
		}
		if got := proxyAddr(u); got != want {
			t.Errorf("%s: got %s", in, got)
		}
	}
}

func TestProxySOCKS(t *testing.T) {
	routes, _, https := proxyWorld(t)
	p := gittest.ServeSOCKS(t, gittest.SOCKSOptions{Routes: routes, User: "pr0xy", Password: proxyPass})
	for _, scheme := range []string{"socks5", "socks5h"} {
		readWorld(t, newTestClient(t, Config{Proxy: &Proxy{URL: scheme + "://" + p.Addr(), Username: "pr0xy", Password: proxyPass}}), https)
	}
	if got := strings.Join(p.Requests()[:2], " "); got != webHost+":80 "+webHost+":443" {
		t.Errorf("the proxy was asked for %s: it is to resolve the names", got)
	}
}

// Field case 40: the environment, in all its spellings; hosts that are reached
// directly.
func TestProxyEnvironment(t *testing.T) {
	routes, http, https := proxyWorld(t)
	p := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, User: "pr0xy", Password: proxyPass})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{Routes: routes})
	login := strings.Replace(p.URL, "://", "://pr0xy:pa%40ss%20w0rd@", 1)
	for name, env := range map[string]map[string]string{
		"one each":   {"HTTP_PROXY": login, "HTTPS_PROXY": login},
		"lower case": {"http_proxy": login, "https_proxy": login},
		"all":        {"ALL_PROXY": socks.URL()},
		"all, lower": {"all_proxy": socks.URL()},
		"a mixture":  {"HTTPS_PROXY": login, "ALL_PROXY": socks.URL()},
	} {
		t.Run(name, func(t *testing.T) {
			for key, value := range env {
				t.Setenv(key, value)
			}
			readWorld(t, newTestClient(t, Config{}), https)
		})
	}
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1")
	t.Setenv("HTTP_PROXY", "http://127.0.0.1:1")
	// Loopback needs no proxy.
	mustRead(t, newTestClient(t, Config{}), http.URL+"/a.git", refs("HEAD"))
	// The provider's proxy wins over the environment.
	readWorld(t, newTestClient(t, Config{Proxy: &Proxy{URL: socks.URL()}}), https)
}

func TestProxyNoProxy(t *testing.T) {
	for _, c := range []struct {
		list, url string
		direct    bool
	}{
		{"git.example.com", "https://git.example.com/a.git", true},
		{"git.example.com", "https://xgit.example.com/a.git", false},
		{"example.com", "https://git.example.com/a.git", true},
		{".example.com", "https://git.example.com/a.git", true},
		{".example.com", "https://example.com/a.git", false},
		{"192.0.2.0/24", "http://192.0.2.7/a.git", true},
		{"192.0.2.0/24", "http://192.0.3.7/a.git", false},
		{"git.example.com:8443", "https://git.example.com:8443/a.git", true},
		{"git.example.com:8443", "https://git.example.com/a.git", false},
		{"other, git.example.com", "https://git.example.com/a.git", true},
		{"*", "https://git.example.com/a.git", true},
		{"", "https://git.example.com/a.git", false},
	} {
		p, err := newProxies(&Proxy{URL: "http://proxy.example.com:3128", NoProxy: c.list})
		if err != nil {
			t.Fatal(err)
		}
		u, err := p.of(mustParse(t, c.url).HTTPURL("/info/refs"))
		if err != nil || (u == nil) != c.direct {
			t.Errorf("no_proxy %q, %s: %v, %v", c.list, c.url, u, err)
		}
	}
}

func TestI6ProxyErrors(t *testing.T) {
	routes, _, https := proxyWorld(t)
	strict := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, User: "pr0xy", Password: "other"})
	socks := gittest.ServeSOCKS(t, gittest.SOCKSOptions{User: "pr0xy", Password: "other"})
	nowhere := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: gittest.Routes{webHost + ":443": "127.0.0.1:1", webHost + ":80": "127.0.0.1:1"}})
	gone := gittest.ServeTCP(t, gittest.Conversation())
	gone.Down()
	web := gittest.ServeTCP(t, gittest.Conversation(gittest.Send([]byte("SSH-2.0-x\r\n\r\n"))))
	secure := gittest.ServeHTTPProxy(t, gittest.HTTPProxyOptions{Routes: routes, TLS: &gittest.TLSOptions{}})
	for name, c := range map[string]struct {
		url    string
		status int
		text   string
	}{
		"407":                   {strict.URL, 407, "the proxy answered 407 Proxy Authentication Required"},
		"SOCKS, wrong password": {socks.URL(), 0, "through the proxy socks5://" + socks.Addr()},
		"refused":               {"http://" + gone.Addr(), 0, "through the proxy http://" + gone.Addr() + ": connect: connection refused"},
		"bad gateway":           {nowhere.URL, 502, "the proxy answered 502"},
		"not a proxy":           {"http://" + web.Addr(), 0, "through the proxy"},
		"an unknown authority":  {secure.URL, 0, "through the proxy https://"},
	} {
		u := strings.Replace(c.url, "://", "://pr0xy:pa%40ss%20w0rd@", 1)
		client := newTestClient(t, Config{Proxy: &Proxy{URL: u}})
		for _, scheme := range []string{"https", "http"} {
			r := mustParse(t, scheme+"://"+webHost+"/a.git")
			_, err := client.Read(t.Context(), r, authFor(t, r, scheme+"://"+webHost, map[string]string{"ca.crt": https.CA.PEM}), refs("HEAD"))
			if scheme == "http" && (name == "bad gateway" || name == "not a proxy") {
				// The proxy itself answers: one cannot tell it from the host.
				wantText(t, err, "HEAD of http://"+webHost)
				continue
			}
			if fault.KindOf(err) != fault.Proxy {
				t.Errorf("%s, %s: %v", name, scheme, err)
				continue
			}
			e := wantFault(t, err, fault.Proxy)
			if wantText(t, err, c.text); e.Status != c.status || !e.HostWide && e.Status == 0 {
				t.Errorf("%s, %s: %+v", name, scheme, *e)
			}
			gittest.AssertNoSecrets(t, name, fmt.Appendf(nil, "%v %+v", err, *e), proxyPass, "pa@ss")
		}
	}
}

func TestI6ProxySettings(t *testing.T) {
	for name, c := range map[string]struct {
		proxy Proxy
		text  string
	}{
		"no URL":    {Proxy{URL: "http://s3cr3t:s3c\x7fr3t@proxy"}, "cannot be parsed"},
		"percent":   {Proxy{URL: "http://u:s3cr3t%zz@proxy"}, "cannot be parsed"},
		"no scheme": {Proxy{URL: "proxy.example.com:3128"}, "does not begin with"},
		"ftp":       {Proxy{URL: "ftp://u:s3cr3t@proxy"}, "does not begin with"},
		"no host":   {Proxy{URL: "http://u:s3cr3t@:3128"}, "names no host"},
		"two users": {Proxy{URL: "http://u:s3cr3t@proxy", Username: "v", Password: "s3cr3t"}, "one place only"},
		"no user":   {Proxy{URL: "http://proxy", Password: "s3cr3t"}, "without proxy.username"},
	} {
		_, err := New(Config{Proxy: &c.proxy})
		if fault.KindOf(err) != fault.Input || !strings.Contains(err.Error(), c.text) || strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3c") {
			t.Errorf("%s: %v", name, err)
		}
	}
	// The environment is not ours to refuse before it is needed.
	t.Setenv("HTTPS_PROXY", "http://u:s3cr3t%zz@proxy")
	c := newTestClient(t, Config{})
	_, err := read(t, c, "https://"+webHost+"/a.git", refs("HEAD"))
	if wantFault(t, err, fault.Proxy); strings.Contains(fmt.Sprintf("%v %+v", err, err), "s3cr3t") {
		t.Errorf("got %v", err)
	}
	t.Setenv("HTTPS_PROXY", "ftp://u:s3cr3t@proxy")
	_, err = read(t, newTestClient(t, Config{}), "https://"+webHost+"/a.git", refs("HEAD"))
	wantText(t, wantFault(t, err, fault.Proxy), `kind "ftp"`)
}

func TestProxyFor(t *testing.T) {
	c := newTestClient(t, Config{Proxy: &Proxy{URL: "http://proxy.example.com:3128", NoProxy: "direct.example.com"}})
	for url, want := range map[string]string{
		"https://api.example.com/x": "http://proxy.example.com:3128", "http://api.example.com/x": "http://proxy.example.com:3128",
		"https://direct.example.com/x": "<nil>", "http://127.0.0.1/x": "<nil>",
	} {
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := c.ProxyFor(r); err != nil || fmt.Sprint(got) != want {
			t.Errorf("%s: got %v, %v", url, got, err)
		}
	}
}
