package kernelcmd

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/space"
	"pawl/studies"
)

func SpaceCommand(env console.Environment) *cli.Command {
	var o console.Common
	return &cli.Command{
		Name:      "space",
		Usage:     "show a kernel's parameters, constraints and number of points",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Counts the valid points and says what each constraint and the machine's limits remove.",
			"pawl space matmul --json",
			"0 done", "3 the manifest is wrong", "64 usage"),
		Flags: o.Flags("workload", "backend", "compiler", "json"),
		Action: console.Action(func(ctx context.Context,
			arguments []string) error {
			return showSpace(ctx, env, o, arguments)
		}),
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

func showSpace(ctx context.Context, env console.Environment, o console.Common, arguments []string) error {
	tools := o.Tools(env)
	tools.Absent = true // a space can be shown without the device
	machine := devices.Here(tools)
	t, err := o.Target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	pool, err := t.Space.Pool(space.PoolOptions{})
	if err != nil {
		return fmt.Errorf("kernel %s: %w", t.Kernel.Name, err)
	}
	result := spaceReport{
		Kernel: t.Kernel.Name, Workload: t.Workload.Name, Dims: t.Workload.Dims.String(),
		Fingerprint: t.Space.Fingerprint(), Space: studies.NewSpaceFacts(pool), Default: t.Space.Default(),
	}
	if _, result.Space.Infeasible, err = devices.Feasible(pool, machine.Limits(ctx, t)); err != nil {
		return err
	}
	if o.JSON {
		return page.JSON(env.Stdout, "pawl space", 1, result)
	}
	return printSpace(env, result)
}

func printSpace(env console.Environment, r spaceReport) error {
	fmt.Fprintf(env.Stdout, "%s, workload %s (%s)\n\n", r.Kernel, r.Workload, r.Dims)
	var rows [][]string
	for _, p := range r.Space.Params {
		order := ""
		if !p.Ordered {
			order = "unordered"
		}
		rows = append(rows, []string{p.Name, strings.Join(p.Values, " "), p.Default, order})
	}
	if err := page.Table(env.Stdout, []string{"parameter", "values", "default", ""}, rows); err != nil {
		return err
	}
	sampled := ""
	if r.Space.Sampled {
		sampled = " in a random sample: the space is too large to enumerate"
	}
	fmt.Fprintf(env.Stdout, "\n%.0f combinations, %d valid under %d constraints%s\n", r.Space.Product, r.Space.Valid,
		len(r.Space.Constraints), sampled)
	for _, constraint := range r.Space.Constraints {
		fmt.Fprintf(env.Stdout, "  %s\n", constraint)
	}
	fmt.Fprintf(env.Stdout, "%d of the valid points are infeasible on this machine\n", r.Space.Removed())
	for _, limit := range slices.Sorted(maps.Keys(r.Space.Infeasible)) {
		fmt.Fprintf(env.Stdout, "  %d: %s\n", r.Space.Infeasible[limit], limit)
	}
	fmt.Fprintf(env.Stdout, "fingerprint %s\n", r.Fingerprint)
	return nil
}
