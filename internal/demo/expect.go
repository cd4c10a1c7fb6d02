package main

import (
	"fmt"
	"maps"
	"slices"

	tfjson "github.com/hashicorp/terraform-json"
)

// attribute is one attribute of an object as the CLI's JSON holds it; nil where
// there is no such object or attribute.
func attribute(object any, name string) any {
	attributes, _ := object.(map[string]any)
	return attributes[name]
}

// change finds what the plan does to the pin.
func change(plan *tfjson.Plan) (*tfjson.Change, error) {
	for _, r := range plan.ResourceChanges {
		if r.Address == pinAddress {
			return r.Change, nil
		}
	}
	return nil, fmt.Errorf("the plan has nothing about %s", pinAddress)
}

// planned fails unless the plan does just action to the pin and shows its
// attributes as in want.
func planned(plan *tfjson.Plan, action tfjson.Action, want map[string]any) error {
	c, err := change(plan)
	if err != nil {
		return err
	}
	if len(c.Actions) != 1 || c.Actions[0] != action {
		return fmt.Errorf("the plan does %v to %s, want %s", c.Actions, pinAddress, action)
	}
	return shows("the plan", c.After, want)
}

// plannedCommit is the commit that a first plan shows.
func plannedCommit(plan *tfjson.Plan) (string, error) {
	c, err := change(plan)
	if err != nil {
		return "", err
	}
	commit, _ := attribute(c.After, "commit").(string)
	if commit == "" {
		return "", fmt.Errorf("the plan shows no commit for %s", pinAddress)
	}
	return commit, nil
}

// shows fails unless the pin's attributes are as in want. The name "latest" is
// the commit of that object.
func shows(where string, pin any, want map[string]any) error {
	for _, name := range slices.Sorted(maps.Keys(want)) {
		got := attribute(pin, name)
		if name == "latest" {
			got = attribute(got, "commit")
		}
		if got != want[name] {
			return fmt.Errorf("%s has %s = %v, want %v", where, name, got, want[name])
		}
	}
	return nil
}
