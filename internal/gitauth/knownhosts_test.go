package gitauth

import (
	"net"
	"os/exec"
	"strings"
	"testing"
)

func TestKnownHostsParses(t *testing.T) {
	key, rsa := ed25519Key(t, "host"), rsaKey(t)
	line := key.line("git.example.com")
	unknownType := "git.example.com ssh-new AAAAB3NzaC1uZXcAAAAEAAAAAA== comment\n"
	unknownType = strings.Replace(unknownType, "AAAAB3NzaC1uZXcAAAAEAAAAAA==", base64Of("\x00\x00\x00\x07ssh-new\x00\x00\x00\x01x"), 1)
	for name, tc := range map[string]struct {
		text string
		want []int // line numbers of the entries
	}{
		"one":                  {line, []int{1}},
		"no final newline":     {strings.TrimSpace(line), []int{1}},
		"CRLF":                 {strings.ReplaceAll(line+line, "\n", "\r\n"), []int{1, 2}},
		"byte order mark":      {"\ufeff" + line, []int{1}},
		"comments and blanks":  {"# git.example.com:22 SSH-2.0-x\n\n \t\n" + line + "  # more\n" + line, []int{4, 6}},
		"leading blanks":       {"  \t" + line, []int{1}},
		"tabs":                 {strings.ReplaceAll(line, " ", "\t"), []int{1}},
		"comment after":        {strings.TrimSpace(line) + " root@git\n", []int{1}},
		"markers":              {"@revoked " + key.line("*") + "@cert-authority " + rsa.line("*.example.com"), []int{1, 2}},
		"a type of the future": {unknownType + line, []int{2}},
		"protocol 1":           {"git.example.com 1024 35 1234567890\n" + line, []int{2}},
		"unpadded base64":      {strings.ReplaceAll(line, "=", ""), []int{1}},
		"joined":               {strings.TrimSpace(line) + " " + rsa.line("git.example.com"), []int{1}},
	} {
		h, err := parseKnownHosts("known_hosts", tc.text)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		var got []int
		for _, l := range h.lines {
			got = append(got, l.number)
			if l.joined != (name == "joined") {
				t.Errorf("%s: line %d joined: %t", name, l.number, l.joined)
			}
		}
		if len(got) != len(tc.want) || got[0] != tc.want[0] || got[len(got)-1] != tc.want[len(tc.want)-1] {
			t.Errorf("%s: lines %v, want %v", name, got, tc.want)
		}
	}
}

func TestKnownHostsNamesTheJunkLine(t *testing.T) {
	key := ed25519Key(t, "host")
	good := key.line("git.example.com")
	fields := strings.Fields(good)
	for name, tc := range map[string]struct {
		text string
		want []string
	}{
		"words":            {good + "getaddrinfo hunter22: Name or service not known\n", []string{"line 2"}},
		"a path":           {"~/.ssh/hunter22\n", []string{"line 1", "looks like the path of a file", `file("…")`}},
		"one word":         {"hunter22\n", []string{"line 1", "one word"}},
		"base64":           {base64Of(good), []string{"line 1", "base64decode"}},
		"host and key":     {good + fields[0] + " " + fields[2] + "\n", []string{"line 2", "too few fields"}},
		"no host":          {fields[1] + " " + fields[2] + "\n", []string{"line 1", "too few fields"}},
		"no host, comment": {fields[1] + " " + fields[2] + " hunter22\n", []string{"line 1"}},
		"another type":     {"h ssh-rsa " + fields[2] + "\n", []string{"line 1", "not of the type"}},
		"key cut":          {"\n\n" + good[:len(good)-20] + "\n", []string{"line 3"}},
		"not base64":       {"h ssh-ed25519 hunter22!\n", []string{"line 1", "not base64"}},
		"marker":           {"@trusted " + good, []string{"line 1", "unknown marker"}},
		"two markers":      {"@revoked @cert-authority " + good, []string{"line 1"}},
		"marker alone":     {"@revoked\n", []string{"line 1"}},
		"hash":             {"|1|AAAA|hunter22 " + fields[1] + " " + fields[2] + "\n", []string{"line 1", "hashed host name"}},
		"hash type":        {"|2|AAAA|AAAA " + fields[1] + " " + fields[2] + "\n", []string{"line 1", "hashed host name"}},
		"escaped":          {strings.TrimSpace(good) + `\n` + strings.TrimSpace(good) + `\n`, []string{"line 1", `written as \n`}},
		"a private key":    {good + key.private, []string{"line 2", "identity"}},
		"nothing":          {"", []string{"has no entry"}},
		"comments only":    {"# hunter22\n\n", []string{"has no entry"}},
		"protocol 1 only":  {"h 1024 35 1234567890\n", []string{"not supported"}},
	} {
		_, err := parseKnownHosts("known_hosts", tc.text)
		wantProblem(t, err, append(tc.want, "known_hosts: ")...)
		if strings.Contains(err.Error(), "hunter22") {
			t.Errorf("%s: the error shows the line: %v", name, err)
		}
	}
}

// hostFields lists host fields of known_hosts lines with addresses that they are
// for and addresses that they are not for, without the fallback to another port.
var hostFields = []struct {
	hosts string
	is    []string
	not   []string
}{
	{"git.example.com", []string{"git.example.com:22"}, []string{"example.com:22", "xgit.example.com:22", "git.example.com.x:22"}},
	{"GIT.Example.com", []string{"git.example.com:22"}, nil},
	{"[git.example.com]:2222", []string{"git.example.com:2222"}, []string{"git.example.com:22", "git.example.com:2223"}},
	{"git.example.com:2222", nil, []string{"git.example.com:2222", "git.example.com:22"}},
	{"a.example.com,git.example.com,10.0.0.1", []string{"git.example.com:22", "10.0.0.1:22", "a.example.com:22"}, []string{"b.example.com:22"}},
	{"*.example.com", []string{"git.example.com:22", "a.b.example.com:22"}, []string{"example.com:22", "git.example.org:22"}},
	{"*", []string{"git.example.com:22", "git.example.com:2222", "[::1]:22"}, nil},
	{"[*.example.com]:2222", []string{"git.example.com:2222"}, []string{"git.example.com:22"}},
	{"git?.example.com", []string{"git1.example.com:22"}, []string{"git.example.com:22", "git12.example.com:22"}},
	{"*.example.com,!bad.example.com", []string{"git.example.com:22"}, []string{"bad.example.com:22"}},
	{"!bad.example.com,*.example.com", []string{"git.example.com:22"}, []string{"bad.example.com:22"}},
	{"!bad.example.com", nil, []string{"bad.example.com:22", "git.example.com:22"}},
	{"::1", []string{"[::1]:22"}, nil},
	{"[::1]:2222", []string{"[::1]:2222"}, []string{"[::1]:22"}},
	{",", nil, []string{"git.example.com:22"}},
}

func TestHostFieldMatches(t *testing.T) {
	for _, tc := range hostFields {
		var l hostLine
		if err := l.setHosts(tc.hosts); err != nil {
			t.Errorf("%s: %v", tc.hosts, err)
			continue
		}
		for _, addr := range tc.is {
			if !l.matches(hostNames(addr)[0]) {
				t.Errorf("%s does not match %s", tc.hosts, addr)
			}
		}
		for _, addr := range tc.not {
			if l.matches(hostNames(addr)[0]) {
				t.Errorf("%s matches %s", tc.hosts, addr)
			}
		}
	}
}

// TestHostFieldAgreesWithOpenSSH asks `ssh-keygen -F` for the same. Hashed names
// are made by `ssh-keygen -H`.
func TestHostFieldAgreesWithOpenSSH(t *testing.T) {
	if _, err := exec.LookPath("ssh-keygen"); err != nil {
		t.Fatal(err)
	}
	key := ed25519Key(t, "host")
	for _, tc := range hostFields {
		if tc.hosts == "," {
			continue // OpenSSH takes it as an empty pattern; nobody writes it
		}
		plain := write(t, key.line(tc.hosts))
		files := []string{plain}
		if !strings.ContainsAny(tc.hosts, "*?!,") && tc.hosts == strings.ToLower(tc.hosts) {
			hashed := write(t, key.line(tc.hosts))
			run(t, "", "ssh-keygen", "-H", "-f", hashed)
			if !strings.Contains(read(t, hashed), "|1|") {
				t.Errorf("%s was not hashed", tc.hosts)
			}
			files = append(files, hashed)
		}
		for _, file := range files {
			h, err := parseKnownHosts("known_hosts", read(t, file))
			if err != nil {
				t.Fatal(err)
			}
			for _, addr := range append([]string{"git.example.com:22", "git.example.com:2222", "other.example.org:22"}, append(tc.is, tc.not...)...) {
				name := hostNames(addr)[0]
				_, err := tryRun("", "ssh-keygen", "-F", name, "-f", file)
				if got := len(h.lookup(markerNone, name)) > 0; got != (err == nil) {
					t.Errorf("%q for %s: ours %t, ssh-keygen's %t", tc.hosts, name, got, err == nil)
				}
			}
		}
	}
}

func TestHostNames(t *testing.T) {
	for addr, want := range map[string]string{
		"git.example.com:22":   "git.example.com",
		"GIT.example.com:2222": "[git.example.com]:2222 git.example.com",
		"[::1]:22":             "::1",
		"[fe80::1%eth0]:2222":  "[fe80::1%eth0]:2222 fe80::1%eth0",
	} {
		if _, _, err := net.SplitHostPort(addr); err != nil {
			t.Fatal(err)
		}
		if got := strings.Join(hostNames(addr), " "); got != want {
			t.Errorf("hostNames(%q) = %q, want %q", addr, got, want)
		}
	}
}

func TestWildcard(t *testing.T) {
	for _, tc := range []struct {
		pattern, text string
		want          bool
	}{
		{"", "", true}, {"", "a", false}, {"a", "", false}, {"*", "", true}, {"**", "ab", true}, {"a*", "a", true},
		{"*a", "ba", true}, {"*a", "ab", false}, {"a*b*c", "aXbYc", true}, {"a*b*c", "acb", false}, {"?", "a", true},
		{"?", "", false}, {"a?c", "abc", true}, {"*?", "", false}, {"*?", "x", true}, {"*ab", "aab", true}, {"[ab]", "a", false},
	} {
		if got := wildcard(tc.pattern, tc.text); got != tc.want {
			t.Errorf("wildcard(%q, %q) = %t", tc.pattern, tc.text, got)
		}
	}
	// A pattern of many stars must not take exponential time.
	if wildcard(strings.Repeat("*a", 200), strings.Repeat("a", 5000)+"b") {
		t.Error("a pattern that ends in a matches text that ends in b")
	}
}
