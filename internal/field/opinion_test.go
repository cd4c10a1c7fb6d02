package field

import (
	"context"
	"errors"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	gogit "github.com/go-git/go-git/v5"
	"github.com/go-git/go-git/v5/config"
	"github.com/go-git/go-git/v5/plumbing/transport"
	gogithttp "github.com/go-git/go-git/v5/plumbing/transport/http"
	gogitssh "github.com/go-git/go-git/v5/plumbing/transport/ssh"
	"github.com/go-git/go-git/v5/storage/memory"

	"github.com/gitpin/terraform-provider-gitpin/internal/gittest"
	"github.com/gitpin/terraform-provider-gitpin/internal/giturl"
)

// theirPatience is how long git and go-git, which have no deadline of their
// own, are waited for.
const theirPatience = 1500 * time.Millisecond

// opinion is what another program makes of a row: an id, or an error.
type opinion struct {
	id     string
	failed string // in a few words
	// raw is all that was said, to see whether a secret is in it.
	raw string
}

// cell shows the opinion in the table.
func (o opinion) cell(r row) string {
	text := o.failed
	if o.id != "" {
		text = o.id
		if len(text) >= 40 {
			text = text[:7]
		}
	}
	for _, secret := range r.secrets() {
		if strings.Contains(o.raw, secret) {
			return text + " (SHOWS THE SECRET)"
		}
	}
	return text
}

// file writes text into a file of the test's own.
func file(t *testing.T, name, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	return path
}

// askGit runs git ls-remote with the credentials of the row.
func askGit(t *testing.T, r row) opinion {
	t.Helper()
	if r.parsed != "" {
		return gitParses(t, r.url)
	}
	args, env := gitAccess(t, r)
	ctx, cancel := context.WithTimeout(t.Context(), theirPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "git", append(args, "ls-remote", r.url, "refs/heads/main")...)
	// Killed, it would leave the helper running that waits for the server.
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = time.Second
	cmd.Dir = t.TempDir()
	cmd.Env = append(append(gittest.Env(), "GIT_ASKPASS=true"), env...)
	out, err := cmd.CombinedOutput()
	switch {
	case ctx.Err() != nil:
		return opinion{failed: "still waiting"}
	case err != nil:
		return opinion{failed: shorten(string(out)), raw: string(out)}
	}
	for line := range strings.Lines(string(out)) {
		if id, name, _ := strings.Cut(strings.TrimSpace(line), "\t"); name == "refs/heads/main" {
			return opinion{id: id, raw: string(out)}
		}
	}
	return opinion{failed: "no such ref", raw: string(out)}
}

// gitAccess says to git what the secret, proxy and environment of a row say.
func gitAccess(t *testing.T, r row) (args, env []string) {
	t.Helper()
	option := func(name, value string) { args = append(args, "-c", name+"="+value) }
	fromFile := func(name, key string) {
		if text := r.secret[key]; text != "" {
			option(name, file(t, key, text, 0o600))
		}
	}
	if remote, err := giturl.Parse(r.url); err == nil && r.secret["username"] != "" {
		option("credential."+remote.Origin()+".helper", "!f() { test \"$1\" != get || { echo 'username="+r.secret["username"]+"'; echo 'password="+r.secret["password"]+"'; }; }; f")
	}
	if token := r.secret["bearerToken"]; token != "" {
		option("http.extraHeader", "Authorization: Bearer "+token)
	}
	option("http.sslCAInfo", os.Getenv("SSL_CERT_FILE"))
	option("http.proxySSLCAInfo", os.Getenv("SSL_CERT_FILE"))
	fromFile("http.sslCAInfo", "ca.crt")
	fromFile("http.sslCAInfo", "caFile")
	fromFile("http.sslCert", "tls.crt")
	fromFile("http.sslKey", "tls.key")
	if p := r.config.Proxy; p != nil {
		url := p.URL
		if p.Username != "" {
			scheme, host, _ := strings.Cut(url, "://")
			url = scheme + "://" + p.Username + ":" + strings.NewReplacer("%", "%25", "@", "%40").Replace(p.Password) + "@" + host
		}
		env = append(env, "https_proxy="+url, "http_proxy="+url, "no_proxy="+p.NoProxy)
	}
	env = append(env, r.env...)
	if identity := r.secret["identity"]; identity != "" {
		known := file(t, "known_hosts", r.secret["known_hosts"], 0o600)
		env = append(env, "GIT_SSH_COMMAND=ssh -F /dev/null -i '"+file(t, "id", identity, 0o600)+"' -o UserKnownHostsFile='"+known+
			"' -o GlobalKnownHostsFile=/dev/null -o StrictHostKeyChecking=yes -o IdentitiesOnly=yes -o IdentityAgent=none",
			"SSH_ASKPASS="+file(t, "askpass", "#!/bin/sh\ncat <<'end'\n"+r.secret["password"]+"\nend\n", 0o700),
			"SSH_ASKPASS_REQUIRE=force")
	}
	return args, env
}

// gitParses lets git call a program in place of ssh, and reads its arguments.
func gitParses(t *testing.T, url string) opinion {
	t.Helper()
	out := filepath.Join(t.TempDir(), "args")
	program := file(t, "ssh", "#!/bin/sh\nprintf '%s\\n' \"$@\" > '"+out+"'\nexit 1\n", 0o700)
	_, _ = gittest.RunGit("", []string{"GIT_SSH=" + program, "GIT_SSH_VARIANT=ssh", "GIT_PROTOCOL_FROM_USER=1"}, "-c", "protocol.version=0", "ls-remote", "--", url)
	text, err := os.ReadFile(out)
	if err != nil {
		return opinion{failed: "refused"}
	}
	args, port := strings.Split(strings.TrimSpace(string(text)), "\n"), "22"
	if args[0] == "-p" {
		port, args = args[1], args[2:]
	}
	user, host := "", args[0]
	if at := strings.LastIndexByte(host, '@'); at >= 0 {
		user, host = host[:at], host[at+1:]
	}
	arg := strings.Trim(strings.TrimPrefix(args[1], "git-upload-pack "), "'")
	return opinion{id: spelled(user, net.JoinHostPort(host, port), arg)}
}

// askGoGit calls go-git's Remote.List with the credentials of the row.
func askGoGit(t *testing.T, r row) opinion {
	t.Helper()
	if r.parsed != "" {
		e, err := transport.NewEndpoint(r.url)
		if err != nil {
			return opinion{failed: shorten(err.Error())}
		}
		port := e.Port
		if port == 0 {
			port = 22
		}
		return opinion{id: spelled(e.User, net.JoinHostPort(e.Host, strconv.Itoa(port)), e.Path)}
	}
	if slices.ContainsFunc(r.env, func(v string) bool { return strings.Contains(v, "://") && strings.Contains(r.url, webHost) }) {
		return opinion{failed: "– (reads the environment once)"}
	}
	o := &gogit.ListOptions{
		CABundle:   []byte(r.secret["ca.crt"] + r.secret["caFile"]),
		ClientCert: []byte(r.secret["tls.crt"]), ClientKey: []byte(r.secret["tls.key"]),
	}
	if p := r.config.Proxy; p != nil {
		o.ProxyOptions = transport.ProxyOptions{URL: p.URL, Username: p.Username, Password: p.Password}
	}
	var err error
	if o.Auth, err = goGitAuth(t, r); err != nil {
		return opinion{failed: shorten(err.Error()), raw: err.Error()}
	}
	ctx, cancel := context.WithTimeout(context.Background(), theirPatience)
	defer cancel()
	done := make(chan opinion, 1)
	go func() { done <- goGitLists(ctx, r.url, o) }()
	select {
	case answer := <-done:
		return answer
	case <-time.After(theirPatience + 500*time.Millisecond):
		return opinion{failed: "still waiting, deadline ignored"} // it ends with the server
	}
}

func goGitLists(ctx context.Context, url string, o *gogit.ListOptions) opinion {
	remote := gogit.NewRemote(memory.NewStorage(), &config.RemoteConfig{Name: "origin", URLs: []string{url}})
	list, err := remote.ListContext(ctx, o)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return opinion{failed: "ended by the deadline"}
	case err != nil:
		return opinion{failed: shorten(err.Error()), raw: err.Error()}
	}
	for _, ref := range list {
		if ref.Name() == "refs/heads/main" {
			return opinion{id: ref.Hash().String()}
		}
	}
	return opinion{failed: "no such ref"}
}

// goGitAuth turns the row's secret into what go-git takes.
func goGitAuth(t *testing.T, r row) (transport.AuthMethod, error) {
	t.Helper()
	switch {
	case r.secret["identity"] != "":
		e, err := transport.NewEndpoint(r.url)
		if err != nil {
			return nil, err
		}
		keys, err := gogitssh.NewPublicKeys(e.User, []byte(r.secret["identity"]), r.secret["password"])
		if err != nil {
			return nil, err
		}
		db, err := gogitssh.NewKnownHostsDb(file(t, "known_hosts", r.secret["known_hosts"], 0o600))
		if err != nil {
			return nil, err
		}
		keys.HostKeyCallback = db.HostKeyCallback()
		keys.HostKeyAlgorithms = db.HostKeyAlgorithms(net.JoinHostPort(e.Host, strconv.Itoa(e.Port)))
		return keys, nil
	case r.secret["bearerToken"] != "":
		return &gogithttp.TokenAuth{Token: r.secret["bearerToken"]}, nil
	case r.secret["username"] != "" || r.secret["password"] != "":
		return &gogithttp.BasicAuth{Username: r.secret["username"], Password: r.secret["password"]}, nil
	}
	return nil, nil
}

var (
	loopbackPort = regexp.MustCompile(`(127\.0\.0\.1|\[::1\]|localhost):\d+`)
	// preamble is what git and go-git put before the reason.
	preamble = regexp.MustCompile(`^(fatal: )?(unable to access '[^']*': |Load key "[^"]*": |Get "[^"]*": |unexpected client error: unexpected requesting "[^"]*" )?`)
)

// shorten returns what is worth showing of an error: git's first words, without
// what every error has.
func shorten(text string) string {
	words := strings.TrimSpace(text)
	for line := range strings.Lines(text) {
		if known := regexp.MustCompile(`^(fatal: |remote: |ERROR: |error: |Load key|Host key|No )`); known.MatchString(line) {
			words = line
			break
		}
	}
	words = loopbackPort.ReplaceAllString(strings.Join(strings.Fields(words), " "), "HOST")
	words = preamble.ReplaceAllString(words, "")
	const most = 48
	if runes := []rune(words); len(runes) > most {
		return string(runes[:most]) + "…"
	}
	return words
}
