package kernelcmd

import (
	"context"
	"fmt"
	"io"
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
	o := console.In(env)
	return &cli.Command{
		Name:      "space",
		Usage:     "show a kernel's parameters, constraints and number of points",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Counts the valid points and says what each constraint and the machine's limits remove.",
			"pawl space matmul --json",
			"0 done", "3 the manifest is wrong", "64 usage"),
		Flags: append(o.Flags("workload", "backend", "compiler", "json"),
			console.Switch("wide", &o.Wide, "also count the values listed under more in the manifest"),
			console.Fix(&o.Fix), console.Only(&o.Only)),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			return showSpace(ctx, &o, arguments)
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

func showSpace(ctx context.Context, o *console.Common, arguments []string) error {
	tools := o.Tools()
	tools.Absent = true // a space can be shown without the device
	machine := devices.Here(tools)
	t, err := o.Target(ctx, machine, arguments)
	if err != nil {
		return err
	}
	searched, err := o.Searched(t.Space)
	if err != nil {
		return console.Usage(err)
	}
	pool, err := searched.Pool(space.PoolOptions{})
	if err != nil {
		return fmt.Errorf("kernel %s: %w", t.Kernel.Name, err)
	}
	result := spaceReport{
		Kernel: t.Kernel.Name, Workload: t.Workload.Name, Dims: t.Workload.Dims.String(),
		Fingerprint: searched.Fingerprint(), Space: studies.NewSpaceFacts(pool), Default: searched.Default(),
	}
	if _, result.Space.Infeasible, err = devices.Feasible(pool, machine.Limits(ctx, t)); err != nil {
		return err
	}
	return o.Show("pawl space", 1, result, func(w io.Writer) { printSpace(w, result) })
}

func printSpace(w io.Writer, r spaceReport) {
	fmt.Fprintf(w, "%s, workload %s (%s)\n\n", r.Kernel, r.Workload, r.Dims)
	var rows [][]string
	for _, p := range r.Space.Params {
		order := ""
		if !p.Ordered {
			order = "unordered"
		}
		rows = append(rows, []string{p.Name, strings.Join(p.Values, " "), p.Default, order})
	}
	page.Table(w, []string{"parameter", "values", "default", ""}, rows)
	sampled := ""
	if r.Space.Sampled {
		sampled = " in a random sample: the space is too large to enumerate"
	}
	fmt.Fprintf(w, "\n%.0f combinations, %d valid under %d constraints%s\n", r.Space.Product, r.Space.Valid,
		len(r.Space.Constraints), sampled)
	if r.Space.Wide > 0 {
		fmt.Fprintf(w, "%.0f combinations with --wide\n", r.Space.Wide)
	}
	for _, constraint := range r.Space.Constraints {
		fmt.Fprintf(w, "  %s\n", constraint)
	}
	fmt.Fprintf(w, "%d of the valid points are infeasible on this machine\n", r.Space.Removed())
	for _, limit := range slices.Sorted(maps.Keys(r.Space.Infeasible)) {
		fmt.Fprintf(w, "  %d: %s\n", r.Space.Infeasible[limit], limit)
	}
	fmt.Fprintf(w, "fingerprint %s\n", r.Fingerprint)
}
