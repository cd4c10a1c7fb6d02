package lsremote

import (
	"fmt"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/gitpin/terraform-provider-gitpin/internal/fault"
	"github.com/gitpin/terraform-provider-gitpin/internal/gitauth"
	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
)

// Many readings at once, over all transports, share one client.
func TestConcurrentReadings(t *testing.T) {
	root := gittest.Repos(t)
	web := gittest.ServeHTTP(t, root, gittest.HTTPOptions{TLS: &gittest.TLSOptions{HTTP2: true}})
	v0 := gittest.ServeHTTP(t, root, gittest.HTTPOptions{V0Only: true})
	daemon := gittest.ServeGit(t, root, gittest.DaemonOptions{})
	sshd := gittest.ServeFakeSSH(t, gittest.FakeSSHOptions{Steps: []gittest.Step{gittest.Send(pkts(mainA+" HEAD\x00x", mainA+" refs/heads/main"))}})
	log := &entries{}
	c := newTestClient(t, Config{Log: log.add})
	prefixes := map[string]map[string]string{
		web.URL:                    {"ca.crt": web.CA.PEM},
		"ssh://git@" + sshd.Addr(): sshSecret(t, gittest.MakeSSHKey(t, gittest.Ed25519), sshd.KnownHosts()),
	}
	const each = 8
	var wg sync.WaitGroup
	urls := []string{web.URL + "/a.git", v0.URL + "/a.git", daemon.URL("a.git"), sshd.URL("a.git"), root + "/a.git"}
	for _, url := range urls {
		r := mustParse(t, url)
		var auth *gitauth.Auth
		for prefix := range prefixes {
			if !strings.HasPrefix(url, prefix) {
				continue
			}
			auth = authFor(t, r, prefix, prefixes[prefix])
		}
		for range each {
			wg.Go(func() {
				a, err := c.Read(t.Context(), r, auth, refs("refs/heads/main"))
				if err != nil {
					t.Errorf("%s: %v", url, err)
					return
				}
				if ref, ok := a.Lookup("refs/heads/main"); !ok || ref.ID != mainA {
					t.Errorf("%s: got %+v", url, a)
				}
			})
		}
	}
	wg.Wait()
	if len(log.all) != each*len(urls) {
		t.Errorf("%d log entries", len(log.all))
	}
}

func TestConfigDefaults(t *testing.T) {
	c := newTestClient(t, Config{UserAgent: "git/x\r\nX-Evil: 1 y"})
	if got := c.config.UserAgent; got != "git/xX-Evil: 1 y" {
		t.Errorf("the user agent is %q", got)
	}
	if c.agent != "git/xX-Evil:.1.y" {
		t.Errorf("the agent is %q", c.agent)
	}
	d := Config{}.withDefaults()
	if d.Timeout.String() != "1m0s" || d.Retry.MaxAttempts != 4 || d.Retry.MinWait.String() != "500ms" || d.Retry.MaxWait.String() != "15s" ||
		d.MaxBytes != 256<<20 || d.PerHost != 4 || d.UserAgent != "git/gitpin" {
		t.Errorf("got %+v", d)
	}
}

// I6: a log entry holds nothing that could hold a secret or a server's text.
func TestI6LogEntryFields(t *testing.T) {
	for _, field := range reflect.VisibleFields(reflect.TypeFor[LogEntry]()) {
		if field.Type.Kind() == reflect.String && field.Name != "Host" && field.Name != "Path" && field.Type != reflect.TypeFor[fault.Kind]() {
			t.Errorf("%s is free text", field.Name)
		}
	}
	s := gittest.ServeHTTP(t, "", gittest.HTTPOptions{Handler: gittest.Status(403, "s3cr3t-pa55")})
	log := &entries{}
	r := mustParse(t, strings.Replace(s.URL, "://", "://me@", 1)+"/acme/a.git")
	auth := authFor(t, r, s.URL, map[string]string{"username": "me", "password": "s3cr3t-pa55"})
	_, err := newTestClient(t, Config{Log: log.add}).Read(t.Context(), r, auth, refs("HEAD"))
	wantFault(t, err, fault.Forbidden)
	gittest.AssertNoSecrets(t, "log", fmt.Appendf(nil, "%+v", log.last(t)), "s3cr3t-pa55")
}
