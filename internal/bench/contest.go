package main

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// contest is one thing to read, and those who compete in it.
type contest struct {
	name   string
	server *server
	far    bool     // with the simulated round-trip time
	repos  []string // names on the server
	ref    string   // "" for all refs
	atOnce int
	by     []contender
}

// contender is one who competes, ours first.
type contender struct {
	by   string
	cold bool // begins anew each time
}

func (c contender) String() string {
	if c.cold && c.by != byGit { // git knows no other way
		return c.by + ", cold"
	}
	return c.by
}

// job returns what is asked of a contender at an address of the server.
func (c contest) job(who contender, addr string) job {
	return job{URLs: c.server.urls(addr, c.repos...), Ref: c.ref, AtOnce: c.atOnce, Cold: who.cold}
}

// run measures a contest.
func (c contest) run(ctx context.Context, a access, p pace) (r result, err error) {
	addr := c.server.addr
	if c.far {
		addr = c.server.far.Addr()
	}
	workers, err := c.startWorkers(ctx, a)
	defer func() {
		for _, w := range workers {
			err = errors.Join(err, w.close())
		}
	}()
	if err != nil {
		return result{}, err
	}
	ways := make([]measurement, len(c.by))
	agreed := ""
	for i, who := range c.by {
		ways[i] = func(context.Context) (time.Duration, error) {
			answer, err := workers[i].do(c.job(who, addr))
			if err != nil {
				return 0, err
			}
			if agreed == "" {
				agreed = answer.Read
			}
			if answer.Read == "" || answer.Read != agreed {
				return 0, fmt.Errorf("%s has read %q, and %s %q", who, answer.Read, c.by[0], agreed)
			}
			return answer.Took, nil
		}
	}
	samples, err := interleave(ctx, p, ways)
	if err != nil {
		return result{}, err
	}
	r.name = c.name
	for i, who := range c.by {
		row, err := c.count(ctx, a, who)
		if err != nil {
			return result{}, err
		}
		row.samples = samples[i]
		r.rows = append(r.rows, row)
	}
	return r, nil
}

// startWorkers starts a process for each contender. With an error it returns
// those that run.
func (c contest) startWorkers(ctx context.Context, a access) ([]*worker, error) {
	var workers []*worker
	for _, who := range c.by {
		w, err := startWorker(ctx, who.by, a)
		if err != nil {
			return workers, err
		}
		workers = append(workers, w)
	}
	return workers, nil
}

// count lets a contender do the job once more, in a process of its own and
// through the proxy that counts. Memory is that of the first job.
func (c contest) count(ctx context.Context, a access, who contender) (r row, err error) {
	w, err := startWorker(ctx, who.by, a)
	if err != nil {
		return row{}, err
	}
	defer func() { err = errors.Join(err, w.close()) }()
	r = row{by: who.String(), down: -1, up: -1, requests: -1, connections: -1}
	if c.server.addr == "" {
		answer, err := w.do(c.job(who, ""))
		r.peak, r.reading = answer.Peak, answer.Peak-answer.Idle
		return r, err
	}
	proxy := c.server.counted
	j := c.job(who, proxy.Addr())
	first := answer{}
	if !who.cold {
		if first, err = w.do(j); err != nil {
			return row{}, err
		}
	}
	before, err := c.server.count()
	if err != nil {
		return row{}, err
	}
	last, err := w.do(j)
	if err != nil {
		return row{}, err
	}
	after, err := c.server.count()
	if err != nil {
		return row{}, err
	}
	if who.cold {
		first = last
	}
	r.peak, r.reading = first.Peak, first.Peak-first.Idle
	r.down, r.up = after.down-before.down, after.up-before.up
	r.connections, r.requests = after.connections-before.connections, after.requests-before.requests
	return r, nil
}

// counts is what went over a server's counting proxy so far.
type counts struct {
	down, up              int64
	connections, requests int
}

func (s *server) count() (counts, error) {
	n := counts{down: s.counted.BytesDown(), up: s.counted.BytesUp(), connections: s.counted.Connections()}
	n.requests = n.connections
	if s.requests == nil {
		return n, nil
	}
	var err error
	n.requests, err = s.requests()
	return n, err
}
