package gittest

import (
	"os"
	"path/filepath"
	"testing"

	"go.uber.org/goleak"
)

// TestAmbientConfigurationIsIgnored puts something into every place where git
// looks, that would break it.
func TestAmbientConfigurationIsIgnored(t *testing.T) {
	home := t.TempDir()
	broken := "[this is no configuration"
	if err := os.MkdirAll(filepath.Join(home, "git"), 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{".gitconfig", "git/config"} {
		if err := os.WriteFile(filepath.Join(home, name), []byte(broken), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for name, value := range map[string]string{
		"HOME": home, "XDG_CONFIG_HOME": home,
		"GIT_CONFIG_GLOBAL": filepath.Join(home, ".gitconfig"), "GIT_CONFIG_SYSTEM": filepath.Join(home, ".gitconfig"),
		"GIT_CONFIG_COUNT": "1", "GIT_CONFIG_KEY_0": "protocol.allow", "GIT_CONFIG_VALUE_0": "never",
		"GIT_CONFIG_PARAMETERS": "'protocol.allow=never'",
		"GIT_DIR":               home, "GIT_SSL_CAINFO": "/nowhere", "GIT_PROTOCOL": "version=1", "GIT_AUTHOR_NAME": "someone",
		"GIT_SSH": "false", "GIT_SSH_COMMAND": "false", "SSH_AUTH_SOCK": "/nowhere",
		"http_proxy": "http://127.0.0.1:1", "https_proxy": "http://127.0.0.1:1", "all_proxy": "http://127.0.0.1:1",
	} {
		t.Setenv(name, value)
	}
	root := Repos(t)
	web := ServeHTTP(t, root, HTTPOptions{TLS: &TLSOptions{}})
	ssh := ServeSSH(t, root, SSHOptions{})
	daemon := ServeGit(t, root, DaemonOptions{})
	for _, tt := range []struct {
		env  []string
		args []string
	}{
		{nil, []string{"-c", "http.sslCAInfo=" + file(t, web.CA.PEM), web.URL + "/a.git"}},
		{ssh.GitEnv(), []string{ssh.URL("a.git")}},
		{nil, []string{daemon.URL("a.git")}},
		{nil, []string{filepath.Join(root, "a.git")}},
	} {
		out, err := lsRemote(t, tt.env, tt.args...)
		wantMain(t, out, err)
	}
	repo := Empty(t, "sha1")
	Commit(t, repo, "refs/heads/main")
	if got := Git(t, repo, "log", "-1", "--format=%an", "refs/heads/main"); got != "fx" {
		t.Errorf("the author is %q", got)
	}
}

// TestCloseLeavesNothing closes servers in the middle of their work.
func TestCloseLeavesNothing(t *testing.T) {
	// What other tests have left is closed by now, but may still be ending.
	before := goleak.IgnoreCurrent()
	t.Cleanup(func() { goleak.VerifyNone(t, before) })

	root := Repos(t)
	web := ServeHTTP(t, root, HTTPOptions{Middleware: Script(nil, HTTPSteps(ResultType, Send(Pkt("x")), Hang))})
	_, _ = get(shortly(t), t, web.URL+"/a.git/info/refs?service=git-upload-pack")
	_, _ = get(shortly(t), t, web.URL+"/a.git/info/refs?service=git-upload-pack")
	ssh := ServeSSH(t, root, SSHOptions{})
	fake := ServeFakeSSH(t, FakeSSHOptions{Stop: AfterKexInit})
	daemon := ServeGit(t, root, DaemonOptions{V0Only: true})
	for _, addr := range []string{ssh.Addr(), fake.Addr(), daemon.Addr()} {
		p := Proxy(t, addr, ProxyOptions{})
		_, _ = readAll(t, p.Addr(), 0)
		_, _ = readAll(t, addr, 0)
	}
	dialSSH(t, ssh, nil)
}
