package main

import (
	"context"
	"errors"
	"path/filepath"
	"time"
)

// The plans that are compared, and by what else than our provider they are made.
const (
	planData    = "plan, 200 data sources"
	planNewPins = "plan, 200 new pins"
	planPins    = "plan, 200 recorded pins"
	planEmpty   = "plan, empty configuration"

	byTerraformData = "200 terraform_data"
	byPattern       = "200 git ls-remote, 10 at a time"
	byTime          = "hashicorp/time"
)

// pinned is how many repositories a plan reads.
const pinned = 200

// parallelism is how many nodes Terraform visits at a time: its default.
const parallelism = 10

// plans measures Terraform's own view: whole plans. Beside them stand as many
// git ls-remote as the "external" data source would start, without the time
// that the script and that provider take.
func (s *setup) plans(ctx context.Context, o options) (list results, err error) {
	c, err := newCLI(filepath.Join(s.dir, "plans"), o)
	if err != nil {
		return nil, err
	}
	tag := s.repos[many].tag
	urls := s.http.urls(s.http.addr, s.names...)
	pattern, err := startWorker(ctx, byGit, s.access)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, pattern.close()) }()
	lsRemote := func(context.Context) (time.Duration, error) {
		a, err := pattern.do(job{URLs: urls, Ref: tag, AtOnce: parallelism})
		return a.Took, err
	}
	for _, p := range []struct {
		name     string
		block    string // of ours
		recorded bool   // the state holds what the configuration describes
	}{
		{planData, `data "gitpin_ref"`, false},
		{planNewPins, `resource "gitpin_pin"`, false},
		{planPins, `resource "gitpin_pin"`, true},
	} {
		if !o.only.MatchString(p.name) {
			continue
		}
		progress("%s", p.name)
		floor, err := c.prepare(ctx, "", eachOf(`resource "terraform_data"`, urls, "input = each.value"), p.recorded)
		if err != nil {
			return nil, err
		}
		own, err := c.prepare(ctx, gitpinSource, eachOf(p.block, urls, "url = each.value\n  ref = "+quote(tag)), p.recorded)
		if err != nil {
			return nil, err
		}
		r, err := s.plan(ctx, p.name, []planner{{byGitpin, own.plan}, {byTerraformData, floor.plan}, {byPattern, lsRemote}})
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	if o.other != "" && o.only.MatchString(planEmpty) {
		r, err := s.startup(ctx, c)
		if err != nil {
			return nil, err
		}
		list = append(list, r)
	}
	return list, nil
}

// startup compares plans of configurations in which nothing is but the
// provider.
func (s *setup) startup(ctx context.Context, c *cli) (result, error) {
	progress("%s", planEmpty)
	own, err := c.prepare(ctx, gitpinSource, `provider "gitpin" {}`, false)
	if err != nil {
		return result{}, err
	}
	other, err := c.prepare(ctx, timeSource, `provider "time" {}`, false)
	if err != nil {
		return result{}, err
	}
	return s.plan(ctx, planEmpty, []planner{{byGitpin, own.plan}, {byTime, other.plan}})
}

// planner is one way to come to a plan.
type planner struct {
	by   string
	plan measurement
}

// plan measures plans by turns, and counts what each asks of nginx.
func (s *setup) plan(ctx context.Context, name string, by []planner) (result, error) {
	ways := make([]measurement, len(by))
	for i := range by {
		ways[i] = by[i].plan
	}
	samples, err := interleave(ctx, s.scale.plans, ways)
	if err != nil {
		return result{}, err
	}
	r := result{name: name}
	for i, p := range by {
		connections, requests, err := s.nginx.counters()
		if err != nil {
			return result{}, err
		}
		if _, err := p.plan(ctx); err != nil {
			return result{}, err
		}
		connectionsAfter, requestsAfter, err := s.nginx.counters()
		if err != nil {
			return result{}, err
		}
		r.rows = append(r.rows, row{by: p.by, samples: samples[i], down: -1, up: -1, peak: -1,
			connections: connectionsAfter - connections, requests: requestsAfter - requests})
	}
	return r, nil
}
