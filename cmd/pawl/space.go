package main

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/space"
	"pawl/studies"
)

func spaceCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "space",
		Usage:     "show a kernel's parameters, constraints and number of points",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: details(
			"Counts the valid points and says what each constraint and the machine's limits remove.",
			"pawl space matmul --json",
			"0 done", "3 the manifest is wrong", "64 usage"),
		Flags:  []cli.Flag{workloadFlag, backendFlag, compilerFlag, jsonFlag},
		Action: func(c *cli.Context) error { return showSpace(c, env) },
	}
}

// spaceReport is what the command prints.
type spaceReport struct {
	Kernel      string             `json:"kernel"`
	Workload    string             `json:"workload"`
	Dims        string             `json:"dims"`
	Fingerprint string             `json:"fingerprint"`
	Space       studies.SpaceFacts `json:"space"`
	Default     space.Point        `json:"default"`
}

func showSpace(c *cli.Context, env environment) error {
	t, err := openTarget(c, env)
	if err != nil {
		return err
	}
	pool, err := t.space.Pool(space.PoolOptions{})
	if err != nil {
		return fmt.Errorf("kernel %s: %w", t.kernel.Name, err)
	}
	result := spaceReport{
		Kernel: t.kernel.Name, Workload: t.workload.Name, Dims: t.workload.Dims.String(),
		Fingerprint: t.space.Fingerprint(), Space: studies.NewSpaceFacts(pool),
		Default: t.space.Default(),
	}
	if _, result.Space.Infeasible, err = feasible(pool, t.limits().Preflight); err != nil {
		return err
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, result)
	}
	return printSpace(env, result)
}

func printSpace(env environment, r spaceReport) error {
	fmt.Fprintf(env.stdout, "%s, workload %s (%s)\n\n", r.Kernel, r.Workload, r.Dims)
	var rows [][]string
	for _, p := range r.Space.Params {
		order := ""
		if !p.Ordered {
			order = "unordered"
		}
		rows = append(rows, []string{p.Name, strings.Join(p.Values, " "), p.Default, order})
	}
	if err := page.Table(env.stdout, []string{"parameter", "values", "default", ""}, rows); err != nil {
		return err
	}
	fmt.Fprintf(env.stdout, "\n%.0f combinations, %d valid under %d constraints%s\n", r.Space.Product, r.Space.Valid, len(r.Space.Constraints), sampledText(r.Space))
	for _, constraint := range r.Space.Constraints {
		fmt.Fprintf(env.stdout, "  %s\n", constraint)
	}
	fmt.Fprintf(env.stdout, "%d of the valid points are infeasible on this machine\n", r.Space.Removed())
	for _, limit := range slices.Sorted(maps.Keys(r.Space.Infeasible)) {
		fmt.Fprintf(env.stdout, "  %d: %s\n", r.Space.Infeasible[limit], limit)
	}
	fmt.Fprintf(env.stdout, "fingerprint %s\n", r.Fingerprint)
	return nil
}

func sampledText(facts studies.SpaceFacts) string {
	if facts.Sampled {
		return " in a random sample: the space is too large to enumerate"
	}
	return ""
}
