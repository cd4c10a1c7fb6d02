package lsremote

import "sync"

// order is in which order a server is asked.
type order int

const (
	postFirst order = iota // ls-refs at once
	getFirst               // the capabilities first
	v0Only                 // the capabilities, without a wish for version 2
)

// learnt is what the servers of this run have shown. Nothing of it
// outlives the Client.
type learnt struct {
	mu sync.Mutex // guards both
	// origins holds what all repositories of an origin need.
	origins map[string]order
	// repos holds how one repository is reached at once.
	repos map[string]way
}

func newLearnt() *learnt {
	return &learnt{origins: map[string]order{}, repos: map[string]way{}}
}

// way is how a repository is to be asked.
type way struct {
	order order
	at    endpoint     // for postFirst
	caps  capabilities // for postFirst: what the server has announced before
}

// Keys hold the credentials' opaque id: what a server shows to one, it may not
// show to another.
func originKey(r *reading) string { return r.remote.Origin() + " " + r.auth.ID }
func repoKey(r *reading) string   { return originKey(r) + " " + r.remote.Path }

// of returns how to ask the remote of r.
func (l *learnt) of(r *reading) way {
	l.mu.Lock()
	defer l.mu.Unlock()
	if w, ok := l.repos[repoKey(r)]; ok {
		return w
	}
	return way{order: l.origins[originKey(r)], at: home(r)}
}

// forget drops what is known of one repository, after it has misled.
func (l *learnt) forget(r *reading) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.repos, repoKey(r))
}

// version0 records that a server answered in version 0 or 1.
func (l *learnt) version0(r *reading, o order, at endpoint) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if o == v0Only || at.foreign {
		// It is this repository that is special, or it was another server that
		// answered.
		l.repos[repoKey(r)] = way{order: max(o, getFirst)}
		return
	}
	delete(l.repos, repoKey(r))
	l.origins[originKey(r)] = getFirst
}

// announced records what a server has announced for a repository on a stream.
func (l *learnt) announced(r *reading, caps capabilities) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.repos[repoKey(r)] = way{at: home(r), caps: caps}
}

// choked records that a repository was not read by a request that was sent
// ahead, and returns how to ask it from now on.
func (l *learnt) choked(r *reading) way {
	l.mu.Lock()
	defer l.mu.Unlock()
	w := way{order: getFirst}
	l.repos[repoKey(r)] = w
	return w
}

// version2 records where and with which capabilities a repository answered
// ls-refs. refused is true when it did not without them.
func (l *learnt) version2(r *reading, at endpoint, caps capabilities, refused bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at.foreign {
		// Where credentials stay behind, the redirect is looked at each time.
		l.repos[repoKey(r)] = way{order: getFirst}
		return
	}
	l.repos[repoKey(r)] = way{at: at, caps: caps}
	moved := at.base.Path != home(r).base.Path
	if refused && !moved && caps.format != "sha256" {
		// It is not this repository that is special, but the server.
		l.origins[originKey(r)] = getFirst
	}
}
