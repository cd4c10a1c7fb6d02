package giturl

import "testing"

func TestBeside(t *testing.T) {
	for text, want := range map[string]string{
		"https://git.example.com/acme/app.git":       "https://git.example.com/acme/",
		"https://git.example.com/acme/app/":          "https://git.example.com/acme/",
		"https://me@git.example.com:8443/app.git":    "https://me@git.example.com:8443/",
		"ssh://git@git.example.com:2222/acme/app":    "ssh://git@git.example.com:2222/acme/",
		"git@git.example.com:acme/app.git":           "git@git.example.com:acme/",
		"git@git.example.com:app.git":                "git@git.example.com:",
		"[git@git.example.com:2222]:acme/app.git":    "[git@git.example.com:2222]:acme/",
		"ssh://git@[2001:db8::1]:2222/acme/app.git":  "ssh://git@[2001:db8::1]:2222/acme/",
		"https://git.example.com/acme/sub/%20/a.git": "https://git.example.com/acme/sub/%20/",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Beside()
		if got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
		prefix, err := ParsePrefix(got)
		if err != nil {
			t.Errorf("%q is no prefix: %v", got, err)
		} else if _, ok := prefix.Match(r); !ok {
			t.Errorf("%q does not match %s", got, text)
		}
	}
}

func TestPortHint(t *testing.T) {
	for text, want := range map[string]string{
		"git@git.example.com:2222/acme/app.git":       "ssh://git@git.example.com:2222/acme/app.git",
		"git.example.com:8443/app.git":                "ssh://git.example.com:8443/app.git, or https://git.example.com:8443/app.git",
		"git@git.example.com:22/acme/app.git":         "ssh://git@git.example.com/acme/app.git",
		"git@git.example.com:2222":                    "", // a repository called 2222
		"git@git.example.com:/2222/app.git":           "",
		"git@git.example.com:70000/app.git":           "",
		"git@git.example.com:acme/2222/app.git":       "",
		"[git@git.example.com:2222]:2223/app.git":     "",
		"ssh://git@git.example.com/2222/acme/app.git": "",
		"https://git.example.com/2222/app.git":        "",
	} {
		r, err := Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if want != "" {
			want = "A number after the colon belongs to the path here, as for git. If it is the port, write " + want + "."
		}
		if got := r.PortHint(); got != want {
			t.Errorf("%s: %q, want %q", text, got, want)
		}
	}
}
