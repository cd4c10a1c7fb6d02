package main

import (
	"context"
	"fmt"
	"path/filepath"
	"time"
)

// The plans that are compared.
const (
	planAll   = "plan, 200 repositories"
	planEmpty = "plan, empty configuration"
)

// What is planned.
const (
	byData          = "data gitpin_ref"
	byNewPins       = "new gitpin_pin"
	byPins          = "recorded gitpin_pin"
	byTerraformData = "new terraform_data"
	byRecordedData  = "recorded terraform_data"
	byScripts       = "scripts with git ls-remote"
	byTime          = "hashicorp/time"
	byRecordedTime  = "recorded time_static"
)

// pinned is how many repositories a plan reads.
const pinned = 200

// planner is one way to come to a plan.
type planner struct {
	by             string
	source, blocks string // of the provider, and the configuration
	recorded       bool   // the state holds what the configuration describes
}

// plans measures Terraform's own view: whole plans, over https.
func (s *setup) plans(ctx context.Context, o options) (results, error) {
	c, err := newCLI(filepath.Join(s.dir, "plans"), o, s.access)
	if err != nil {
		return nil, err
	}
	var list results
	for _, contest := range []struct {
		name string
		by   []planner
	}{{planAll, s.planners(o)}, {planEmpty, startups(o)}} {
		if !o.only.MatchString(contest.name) {
			continue
		}
		progress("%s", contest.name)
		r, err := s.plan(ctx, c, contest.by)
		if err != nil {
			return nil, err
		}
		r.name = contest.name
		list = append(list, r)
	}
	return list, nil
}

// planners are the ways to plan what is read from many repositories of one
// host. The pattern's data source has no record. Between the floor, which needs
// no provider, and ours is what any provider costs: time_static reads nothing.
func (s *setup) planners(o options) []planner {
	urls, tag := s.https.urls(s.https.addr, s.names...), s.repos[many].tag
	provider := fmt.Sprintf("provider \"gitpin\" {\n  credentials = [{ url = %s, secret = { \"ca.crt\" = file(%s) } }]\n}\n\n",
		quote(s.https.prefix+s.https.addr), quote(s.access.CAFile))
	body := "url = each.value\n  ref = " + quote(tag)
	pins := provider + eachOf(`resource "gitpin_pin"`, urls, body)
	data := eachOf(`resource "terraform_data"`, urls, "input = each.value")
	list := []planner{
		{by: byData, source: gitpinSource, blocks: provider + eachOf(`data "gitpin_ref"`, urls, body)},
		{by: byNewPins, source: gitpinSource, blocks: pins},
		{by: byPins, source: gitpinSource, blocks: pins, recorded: true},
		{by: byTerraformData, blocks: data},
		{by: byRecordedData, blocks: data, recorded: true},
		{by: byScripts, source: externalSource, blocks: eachOf(`data "external"`, urls, lsRemoteEach(tag))},
	}
	if o.other != "" {
		list = append(list, planner{by: byRecordedTime, source: timeSource, recorded: true,
			blocks: eachOf(`resource "time_static"`, urls, "triggers = { url = each.value }")})
	}
	return list
}

// startups are plans of configurations in which nothing is but the provider.
func startups(o options) []planner {
	list := []planner{{by: byGitpin, source: gitpinSource, blocks: `provider "gitpin" {}`}}
	if o.other != "" {
		list = append(list, planner{by: byTime, source: timeSource, blocks: `provider "time" {}`})
	}
	return list
}

// plan measures plans by turns, and counts what each asks of nginx.
func (s *setup) plan(ctx context.Context, c *cli, by []planner) (result, error) {
	ways := make([]measurement, len(by))
	rows := make([]row, len(by))
	for i, p := range by {
		w, err := c.prepare(ctx, p.source, p.blocks, p.recorded)
		if err != nil {
			return result{}, err
		}
		ways[i] = func(ctx context.Context) (time.Duration, error) {
			connections, requests, err := s.nginx.counters()
			if err != nil {
				return 0, err
			}
			took, err := w.plan(ctx)
			if err != nil {
				return 0, err
			}
			rows[i] = row{by: p.by, down: -1, up: -1, peak: -1, reading: -1}
			rows[i].connections, rows[i].requests, err = s.nginx.counters()
			rows[i].connections -= connections
			rows[i].requests -= requests
			return took, err
		}
	}
	samples, err := interleave(ctx, s.scale.plans, ways)
	for i := range samples {
		rows[i].samples = samples[i]
	}
	return result{rows: rows}, err
}
