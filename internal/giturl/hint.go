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

// PortHint says of a remote in the scp form whose path begins with a number, such
// as "git@git.example.com:2222/acme/app.git", that git reads no port there, and
// how one is written. It is a sentence for an error's advice, "" for all others.
func (r Remote) PortHint() string {
	first, path, _ := strings.Cut(r.Path, "/")
	if r.Scheme != SSH || r.Port != 0 || path == "" || schemeForm.MatchString(r.text) {
		return ""
	}
	port, fe := parsePort(SSH, first)
	if fe != nil || first == "" {
		return ""
	}
	meant := r
	meant.Path, meant.Port = "/"+path, port
	hint := "A number after the colon belongs to the path here, as for git. If it is the port, write " + meant.Canonical()
	if r.User == "" {
		// Without "user@" it is as likely that the scheme was forgotten.
		hint += ", or " + string(HTTPS) + strings.TrimPrefix(meant.Canonical(), string(SSH))
	}
	return hint + "."
}
