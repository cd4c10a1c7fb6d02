package giturl

import (
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// git runs git ls-remote on url, without any configuration but config, and
// returns its error output.
func git(t *testing.T, url string, env []string, config ...string) string {
	t.Helper()
	var args []string
	for _, c := range config {
		args = append(args, "-c", c)
	}
	cmd := exec.Command("git", append(args, "ls-remote", "--", url)...)
	cmd.Dir = t.TempDir()
	cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1", "GIT_TERMINAL_PROMPT=0", "GIT_ASKPASS=true", "LC_ALL=C")
	cmd.Env = append(cmd.Env, env...)
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("git ls-remote %q reached something: %s", url, out)
	}
	return string(out)
}

// script writes an executable that prints its arguments, one a line, into the
// file that is returned (to the script: $out), does what extra says, and fails.
func script(t *testing.T, extra string) (program, output string) {
	t.Helper()
	dir := t.TempDir()
	program, output = filepath.Join(dir, "program"), filepath.Join(dir, "output")
	text := "#!/bin/sh\nout='" + output + "'\nprintf '%s\\n' \"$@\" > \"$out\"\n" + extra + "\nexit 1\n"
	if err := os.WriteFile(program, []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
	return program, output
}

func read(t *testing.T, file string) string {
	t.Helper()
	b, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestSSHAgreesWithGit compares login, host, port and repository argument with
// what git hands to its ssh program. Where we differ on purpose is said below.
func TestSSHAgreesWithGit(t *testing.T) {
	for _, c := range accepted {
		if c.want.Scheme != SSH {
			continue
		}
		t.Run(c.text, func(t *testing.T) {
			program, output := script(t, "")
			text := c.text
			if strings.HasPrefix(text, "SSH:") {
				text = "ssh" + text[3:] // git knows lower-case schemes only
			}
			git(t, text, []string{"GIT_SSH=" + program, "GIT_SSH_VARIANT=ssh"})
			args := strings.Split(strings.TrimSuffix(read(t, output), "\n"), "\n")
			if args[0] == "-o" {
				args = args[2:] // SendEnv
			}
			port := "22"
			if args[0] == "-p" {
				port, args = args[1], args[2:]
			}
			if len(args) != 2 {
				t.Fatalf("git passes %q", args)
			}
			user, host := "", args[0]
			if at := strings.LastIndexByte(host, '@'); at >= 0 {
				user, host = host[:at], host[at+1:]
			}
			// Host names have no case; the trailing slash is ours to drop.
			arg := strings.TrimPrefix(args[1], "git-upload-pack ")
			arg = strings.TrimSuffix(strings.TrimSuffix(strings.TrimPrefix(arg, "'"), "'"), "/")
			if user != c.want.User || strings.ToLower(host) != c.want.Host || arg != c.want.Path {
				t.Errorf("git passes user %q, host %q, path %q; we %q, %q, %q", user, host, arg, c.want.User, c.want.Host, c.want.Path)
			}
			if _, ours, _ := strings.Cut(c.address, "]"); ours != ":"+port && !strings.HasSuffix(c.address, ":"+port) {
				t.Errorf("git passes port %s, we dial %s", port, c.address)
			}
		})
	}
}

// TestGitDaemonAgreesWithGit compares with the request that git sends to a git
// daemon (gitprotocol-pack(5), "Git Transport").
func TestGitDaemonAgreesWithGit(t *testing.T) {
	for _, c := range accepted {
		if c.want.Scheme != Git {
			continue
		}
		t.Run(c.text, func(t *testing.T) {
			// The proxy gets host and port as arguments and the request on
			// stdin: a length of four hex digits, then git-upload-pack, a
			// space, the path and a NUL. git waits for the answer, so the
			// script must not read to the end.
			program, output := script(t, `n=$(dd bs=1 count=4 2>/dev/null)
dd bs=1 count=$((0x$n - 4)) 2>/dev/null | tr '\0' '\n' | head -n 1 >> "$out"`)
			git(t, c.text, nil, "core.gitproxy="+program)
			lines := strings.Split(strings.TrimSpace(read(t, output)), "\n")
			port := strconv.Itoa(c.want.Port)
			if c.want.Port == 0 {
				port = "9418"
			}
			want := []string{c.want.Host, port, "git-upload-pack " + c.want.Path}
			if strings.Join(lines, "\n") != strings.Join(want, "\n") {
				t.Errorf("git sends %q, we %q", lines, want)
			}
		})
	}
}

// TestHTTPAgreesWithGit compares the request line of git with ours.
func TestHTTPAgreesWithGit(t *testing.T) {
	asked := make(chan string, 8)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		asked <- r.RequestURI
		w.WriteHeader(http.StatusNotFound)
	}))
	defer server.Close()
	for _, path := range []string{
		"/acme/app.git", "/o/My%20Proj/_git/r", "/o/My%20Proj/_git/r/", "/o/My%20Proj/_git/r//", "//r", "/a%2Fb/r%2f", "/~u/%7Eu/a+b:c;d=e,f", "/latin1-%FC",
		"/a%40b/%3F%23%25", "/(a)!$&'*", "/.git/..x/r...",
	} {
		text := server.URL + path
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		git(t, text, []string{"no_proxy=*"})
		want, _, _ := strings.Cut(<-asked, "?")
		if ours := r.HTTPURL("/info/refs").RequestURI(); ours != want {
			t.Errorf("%q: git asks for %q, we for %q", path, want, ours)
		}
	}
}

// TestFileAgreesWithGit compares the directory that a local URL names.
func TestFileAgreesWithGit(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"a b", "a%20b", "a?b#c", "u@h"} {
		out, err := exec.Command("git", "init", "-q", "--bare", filepath.Join(dir, name)).CombinedOutput()
		if err != nil {
			t.Fatalf("git init: %v: %s", err, out)
		}
	}
	for url, name := range map[string]string{
		dir + "/a%20b":                       "a%20b",
		dir + "/a b/":                        "a b",
		"file://" + dir + "/a%20b":           "a b",
		"file://" + dir + "/a b":             "a b",
		"file://" + dir + "/a%2520b":         "a%20b",
		"file://" + dir + "/a?b#c":           "a?b#c",
		"file://localhost" + dir + "/u%40h/": "u@h",
	} {
		r, err := Parse(url)
		if err != nil || r.RepoArg() != filepath.Join(dir, name) {
			t.Errorf("Parse(%q) names %q (%v), want %q", url, r.RepoArg(), err, name)
		}
		cmd := exec.Command("git", "ls-remote", url)
		cmd.Env = append(os.Environ(), "GIT_CONFIG_GLOBAL=/dev/null", "GIT_CONFIG_NOSYSTEM=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("git finds nothing at %q: %s", url, out)
		}
	}
}

// TestGitRefusesTheseToo shows that some refusals are git's own.
func TestGitRefusesTheseToo(t *testing.T) {
	for url, says := range map[string]string{
		"ssh://-oProxyCommand=x/r": "strange hostname",
		"h.example:-x":             "strange pathname",
		"ssh://h.example":          "no path specified",
	} {
		if out := git(t, url, nil); !strings.Contains(out, says) {
			t.Errorf("git says %q of %q", out, url)
		}
		if _, err := Parse(url); err == nil {
			t.Errorf("Parse(%q) does not refuse", url)
		}
	}
}
