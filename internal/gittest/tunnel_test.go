package gittest

import (
	"net/http"
	"strings"
	"testing"
)

func TestHTTPProxyTunnelsAndForwards(t *testing.T) {
	root := Repos(t)
	secure := ServeHTTP(t, root, HTTPOptions{TLS: &TLSOptions{Cert: CertOptions{Hosts: []string{"git.example.com"}}}})
	plain := ServeHTTP(t, root, HTTPOptions{})
	p := ServeHTTPProxy(t, HTTPProxyOptions{
		User: "me", Password: "pa@ss",
		Routes: Routes{"git.example.com:443": secure.Addr(), "git.example.com:80": plain.Addr()},
	})
	with := func(userinfo string) string { return "http.proxy=" + strings.Replace(p.URL, "://", "://"+userinfo, 1) }

	ca := "http.sslCAInfo=" + file(t, secure.CA.PEM)
	out, err := lsRemote(t, nil, "-c", with("me:pa%40ss@"), "-c", ca, "https://git.example.com/a.git")
	wantMain(t, out, err)
	tunnelled := p.Requests()[p.Count()-1]
	if tunnelled.Method != http.MethodConnect || tunnelled.Host != "git.example.com:443" || tunnelled.Header.Get("Proxy-Authorization") == "" {
		t.Errorf("the proxy saw %+v", tunnelled)
	}

	p.Forget()
	out, err = lsRemote(t, nil, "-c", with("me:pa%40ss@"), "http://git.example.com/a.git")
	wantMain(t, out, err)
	if p.Count(http.MethodConnect) != 0 || !strings.HasPrefix(p.Requests()[0].URI, "http://git.example.com/a.git/info/refs") {
		t.Errorf("the proxy saw %+v", p.Requests())
	}
	for _, request := range plain.Requests() {
		if request.Header.Get("Proxy-Authorization") != "" {
			t.Error("the server got the credentials for the proxy")
		}
	}

	_, err = lsRemote(t, nil, "-c", with("me:wrong@"), "-c", ca, "https://git.example.com/a.git")
	wantError(t, err, "407")
	_, err = lsRemote(t, nil, "-c", with(""), p.URL+"/a.git")
	wantError(t, err, "407")
}

func TestHTTPProxyOverTLSAndDown(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{TLS: &TLSOptions{}})
	p := ServeHTTPProxy(t, HTTPProxyOptions{TLS: &TLSOptions{CA: s.CA}})
	ca := file(t, s.CA.PEM)
	args := []string{"-c", "http.proxy=" + p.URL, "-c", "http.proxySSLCAInfo=" + ca, "-c", "http.sslCAInfo=" + ca, s.URL + "/a.git"}
	out, err := lsRemote(t, nil, args...)
	wantMain(t, out, err)
	if p.Count(http.MethodConnect) == 0 {
		t.Error("the proxy saw no request")
	}
	s.Down()
	_, err = lsRemote(t, nil, args...)
	wantError(t, err, "502")
}

func TestSOCKS(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{})
	p := ServeSOCKS(t, SOCKSOptions{Routes: Routes{"git.example.com:80": s.Addr()}})
	out, err := lsRemote(t, nil, "-c", "http.proxy="+strings.Replace(p.URL(), "socks5", "socks5h", 1), "http://git.example.com/a.git")
	wantMain(t, out, err)
	out, err = lsRemote(t, nil, "-c", "http.proxy="+p.URL(), s.URL+"/a.git")
	wantMain(t, out, err)
	v6 := ServeHTTP(t, Repos(t), HTTPOptions{IPv6: true})
	out, err = lsRemote(t, nil, "-c", "http.proxy="+p.URL(), v6.URL+"/a.git")
	wantMain(t, out, err)
	for i, want := range []string{"git.example.com:80", s.Addr(), v6.Addr()} {
		if got := p.Requests(); len(got) <= i || got[i] != want {
			t.Errorf("the proxy saw %q, want %q as number %d", got, want, i+1)
		}
	}
	v6.Down()
	_, err = lsRemote(t, nil, "-c", "http.proxy="+p.URL(), v6.URL+"/a.git")
	wantError(t, err, "complete SOCKS5 connection")
}

func TestSOCKSWithPassword(t *testing.T) {
	s := ServeHTTP(t, Repos(t), HTTPOptions{})
	p := ServeSOCKS(t, SOCKSOptions{User: "me", Password: "secret"})
	out, err := lsRemote(t, nil, "-c", "http.proxy=socks5://me:secret@"+p.Addr(), s.URL+"/a.git")
	wantMain(t, out, err)
	before := len(p.Requests())
	if before == 0 {
		t.Error("the proxy saw no request")
	}
	_, err = lsRemote(t, nil, "-c", "http.proxy=socks5://me:wrong@"+p.Addr(), s.URL+"/a.git")
	wantError(t, err, "rejected by the SOCKS5 server")
	_, err = lsRemote(t, nil, "-c", "http.proxy="+p.URL(), s.URL+"/a.git")
	wantError(t, err, "authentication method")
	if got := len(p.Requests()); got != before {
		t.Errorf("the proxy let %d requests through without the password", got-before)
	}
}
