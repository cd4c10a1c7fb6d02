package lsremote

import (
	"context"
	"fmt"
	"net"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"

	"golang.org/x/net/http/httpproxy"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
)

// proxies says through which proxy a host is reached. It is computed once, so
// that a run does not change its mind.
//
// Loopback addresses are always reached directly, as the standard library and
// most programs do it. git:// and file remotes know no proxy; ssh ignores the
// variables for http, and takes the configured proxy only when told to.
type proxies struct {
	choose func(*url.URL) (*url.URL, error)
	logins []*url.Userinfo // of all of them
	ssh    bool            // for ssh too
}

// newProxies takes the configured proxy, or, where that is nil, the standard
// environment variables: HTTPS_PROXY, HTTP_PROXY, NO_PROXY, and ALL_PROXY for
// the scheme that has none of its own; in upper or lower case.
func newProxies(p *Proxy) (*proxies, error) {
	if p == nil {
		env := httpproxy.FromEnvironment()
		all := firstEnv("ALL_PROXY", "all_proxy")
		if env.HTTPSProxy == "" {
			env.HTTPSProxy = all
		}
		if env.HTTPProxy == "" {
			env.HTTPProxy = all
		}
		env.HTTPSProxy, env.HTTPProxy = usable(env.HTTPSProxy), usable(env.HTTPProxy)
		return &proxies{choose: env.ProxyFunc(), logins: loginsOf(env.HTTPSProxy, env.HTTPProxy)}, nil
	}
	u, err := p.parse()
	if err != nil {
		return nil, err
	}
	explicit := httpproxy.Config{HTTPProxy: u.String(), HTTPSProxy: u.String(), NoProxy: p.NoProxy}
	return &proxies{choose: explicit.ProxyFunc(), logins: loginsOf(u.String()), ssh: p.SSH}, nil
}

// loginsOf returns the credentials in the addresses of proxies.
func loginsOf(addresses ...string) []*url.Userinfo {
	var logins []*url.Userinfo
	for _, address := range addresses {
		if !strings.Contains(address, "://") {
			address = "http://" + address // as usable has it
		}
		if u, err := url.Parse(address); err == nil && u.User != nil {
			logins = append(logins, u.User)
		}
	}
	return logins
}

// scrub hides the proxies' credentials in text. A proxy that takes plain http
// requests itself also answers in the place of the server.
func (p *proxies) scrub(text string) string {
	for _, login := range p.logins {
		text = scrubLogin(text, login)
	}
	return text
}

// scrubLogin hides the credentials of one proxy, nil for none, in text.
func scrubLogin(text string, login *url.Userinfo) string {
	if login == nil {
		return text
	}
	password, _ := login.Password()
	return gitauth.ScrubLogin(text, login.Username(), password)
}

func firstEnv(names ...string) string {
	for _, name := range names {
		if value := os.Getenv(name); value != "" {
			return value
		}
	}
	return ""
}

// broken stands for a proxy whose address cannot be parsed.
const broken = "broken://proxy"

// usable returns the value of a proxy variable, or broken where it cannot be
// parsed. The standard library would go without a proxy then, and so past a
// rule that somebody has made.
func usable(value string) string {
	if u, err := url.Parse(value); value == "" || err == nil && u.Scheme != "" && u.Host != "" {
		return value
	}
	if u, err := url.Parse("http://" + value); err == nil && u.Hostname() != "" {
		return value // "proxy.example.com:3128" is an http proxy
	}
	return broken
}

// proxySchemes are the kinds of proxies that can be used.
var proxySchemes = []string{"http", "https", "socks5", "socks5h"}

// parse checks the proxy's URL and puts the credentials into it. No error
// shows any part of it but the scheme.
func (p *Proxy) parse() (*url.URL, error) {
	wrong := func(happened, advice string) error {
		return &fault.Error{Kind: fault.Input, Happened: "proxy.url " + happened, Advice: advice}
	}
	u, err := url.Parse(p.URL)
	switch {
	case err != nil:
		return nil, wrong("cannot be parsed", `Write it as "http://proxy.example.com:3128", and give user and password in proxy.username and proxy.password.`)
	case !slices.Contains(proxySchemes, u.Scheme):
		return nil, wrong("does not begin with http://, https:// or socks5://", "Write the kind of the proxy in front of its host.")
	case u.Hostname() == "":
		return nil, wrong("names no host", `Write it as "http://proxy.example.com:3128".`)
	case u.User != nil && (p.Username != "" || p.Password != ""):
		return nil, wrong("holds a user although proxy.username or proxy.password is set", "Give them in one place only.")
	case p.Username == "" && p.Password != "":
		return nil, &fault.Error{Kind: fault.Input, Happened: "proxy.password is set without proxy.username", Advice: "Set both or neither."}
	}
	if p.Username != "" {
		u.User = url.UserPassword(p.Username, p.Password)
	}
	return u, nil
}

// of returns the proxy for a URL, nil for none.
func (p *proxies) of(target *url.URL) (*url.URL, error) {
	u, err := p.choose(target)
	switch {
	case err != nil, u != nil && u.String() == broken:
		// The text of err holds the whole URL, with the password.
		return nil, &fault.Error{Kind: fault.Proxy, Phase: fault.PhaseDial, HostWide: true,
			Happened: "the address of the proxy in the environment cannot be parsed",
			Advice:   "Check HTTPS_PROXY, HTTP_PROXY and ALL_PROXY, or set the provider's proxy."}
	case u != nil && !slices.Contains(proxySchemes, u.Scheme):
		return nil, &fault.Error{Kind: fault.Proxy, Phase: fault.PhaseDial, HostWide: true,
			Happened: fmt.Sprintf("a proxy of kind %q cannot be used", fault.Clean(u.Scheme)),
			Advice:   "Use an http, https or socks5 proxy, or name the host in NO_PROXY."}
	}
	return u, nil
}

// ProxyFor chooses the proxy of a request as this Client does for its own, nil
// for none, in the form that http.Transport takes: the API that hands out a
// GitHub App's token is reached the same way as the repositories.
func (c *Client) ProxyFor(r *http.Request) (*url.URL, error) { return c.proxies.of(r.URL) }

// sshDial returns how ssh hosts are dialled: directly, or through the proxy
// where that is wanted for them. no_proxy counts as it does for http.
func (p *proxies) sshDial(direct dialFunc) dialFunc {
	if !p.ssh {
		return direct
	}
	return func(ctx context.Context, network, addr string) (net.Conn, error) {
		// The rules are asked about https, since they know no ssh.
		proxy, err := p.of(&url.URL{Scheme: "https", Host: addr})
		switch {
		case err != nil:
			return nil, err
		case proxy == nil:
			return direct(ctx, network, addr)
		}
		return through(ctx, direct, proxy, addr)
	}
}

// forwards tells whether a proxy takes a request for target itself, with the
// whole URL in it, in place of a tunnel.
func forwards(proxy, target *url.URL) bool {
	return proxy != nil && target.Scheme == "http" && strings.HasPrefix(proxy.Scheme, "http")
}
