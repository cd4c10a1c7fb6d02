package main

import "fmt"

// The names of the contests, for the table and the bars.
func oneName(transport string, size int) string {
	return fmt.Sprintf("%s, one ref of %s", transport, thousands(int64(size)))
}

func allName(transport string, size int) string {
	return fmt.Sprintf("%s, all refs of %s", transport, thousands(int64(size)))
}

func hostedName(transport string, n, atOnce int) string {
	return fmt.Sprintf("%s, %d repositories, %d at a time", transport, n, atOnce)
}

// The transports as the names have them.
const (
	overHTTP     = "http"
	overHTTPS    = "https"
	overSSH      = "ssh"
	overGit      = "git://"
	overFile     = "file"
	overV0       = "http, v0-only server"
	overFarHTTPS = "https, 50 ms round trip"
	overFarSSH   = "ssh, 50 ms round trip"
)

// all is the size of the repository of which everything is read.
const all = 100_000

var (
	ours      = contender{by: byGitpin}
	oursCold  = contender{by: byGitpin, cold: true}
	goGitWarm = contender{by: byGoGit}
	goGitCold = contender{by: byGoGit, cold: true}
	git       = contender{by: byGit, cold: true}
	canned    = contender{by: byFloor}
)

// contests returns all readings that are compared.
func (s *setup) contests() []contest {
	var list []contest
	for _, t := range []struct {
		name   string
		server *server
		by     []contender
	}{
		{overHTTP, s.http, []contender{ours, canned, goGitWarm, git}},
		{overHTTPS, s.https, []contender{ours, oursCold, canned, goGitWarm, goGitCold, git}},
		{overSSH, s.ssh, []contender{ours, oursCold, canned, goGitCold, git}},
		{overGit, s.git, []contender{ours, goGitCold, git}},
		{overFile, s.files, []contender{ours, goGitCold, git}},
	} {
		for _, size := range s.scale.sizes {
			list = append(list, s.one(t.name, t.server, size, t.by...))
		}
	}
	list = append(list, s.one(overV0, s.v0, all, ours, canned, goGitWarm, git))
	everything := s.one("", s.http, all, ours, goGitWarm, git)
	everything.name, everything.ref = allName(overHTTP, all), ""
	list = append(list, everything)
	list = append(list, s.hostedContests()...)
	return append(list, s.farContests()...)
}

// one returns the contest for one ref.
func (s *setup) one(name string, on *server, size int, by ...contender) contest {
	r := s.repos[size]
	return contest{name: oneName(name, size), server: on, repos: []string{r.name}, ref: r.tag, atOnce: 1, by: by}
}

// hostedContests read many repositories of one host. git takes the longest and
// hardly minds how many run at a time: once is enough.
func (s *setup) hostedContests() []contest {
	var list []contest
	for i, n := range s.scale.atOnce {
		https := s.manyOn(s.https, hostedName(overHTTPS, s.scale.hosted, n), n, ours, oursCold, goGitWarm, goGitCold)
		ssh := s.manyOn(s.ssh, hostedName(overSSH, s.scale.hosted, n), n, ours, oursCold, goGitCold)
		if i == 0 {
			https.by, ssh.by = append(https.by, git), append(ssh.by, git)
		}
		list = append(list, https, ssh)
	}
	return list
}

func (s *setup) manyOn(on *server, name string, atOnce int, by ...contender) contest {
	return contest{name: name, server: on, repos: s.names[:s.scale.hosted], ref: s.repos[many].tag, atOnce: atOnce, by: by}
}

// farContests read from a host that is 50 ms away.
func (s *setup) farContests() []contest {
	list := []contest{
		s.one(overFarHTTPS, s.https, many, ours, oursCold, goGitWarm, goGitCold, git),
		s.one(overFarSSH, s.ssh, many, ours, oursCold, goGitCold, git),
		s.manyOn(s.https, hostedName(overFarHTTPS, s.scale.hosted, 8), 8, oursCold, goGitCold),
		s.manyOn(s.ssh, hostedName(overFarSSH, s.scale.hosted, 8), 8, oursCold, goGitCold),
	}
	for i := range list {
		list[i].far = true
	}
	return list
}
