package giturl

import "strings"

// Beside returns the prefix of this repository and of those beside it, spelt as
// the remote is: "https://git.example.com/acme/" for
// "https://git.example.com/acme/app.git", "git@git.example.com:" for
// "git@git.example.com:app.git". It is for an example in an error's advice, and
// ParsePrefix takes it for https, http and ssh.
func (r Remote) Beside() string {
	text := strings.TrimRight(r.text, "/")
	return text[:strings.LastIndexAny(text, "/:")+1]
}

// MeantPort returns the ssh:// URL that a remote in the scp form was perhaps meant
// as: "ssh://git@git.example.com:2222/acme/app.git" for
// "git@git.example.com:2222/acme/app.git", which git reads as the path
// "2222/acme/app.git". It is "" for all others.
func (r Remote) MeantPort() string {
	first, path, _ := strings.Cut(r.Path, "/")
	if r.Scheme != SSH || r.Port != 0 || path == "" || schemeForm.MatchString(r.text) {
		return ""
	}
	port, fe := parsePort(SSH, first)
	if fe != nil || first == "" {
		return ""
	}
	r.Path, r.Port = "/"+path, port
	return r.Canonical()
}
