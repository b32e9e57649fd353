package main

import (
	"context"
	"fmt"
	"io"
	"path/filepath"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/ladder"
	"pawl/studies/why"
)

// doctorOptions are the flags of pawl doctor.
type doctorOptions struct {
	common
	preflight string // a kernel
}

func doctorCommand(env environment) *cli.Command {
	var o doctorOptions
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine has, what is missing, and what to do",
		Description: details("Looks for everything that pawl can use. Only a C compiler and a writable cache are needed to tune on this machine.\n"+
			"With --preflight it walks a kernel up before a long search: machine, resources by formula, the smallest shape, the speed\n"+
			"against the reference, larger shapes. It stops at the first rung that does not hold, with what to do, and keeps the ladder.",
			"pawl doctor --preflight attention", "0 pawl can tune here; with --preflight, every rung holds", "1 a rung does not hold", "3 something needed is missing", "64 usage"),
		Flags: append(o.flags("workload", "backend", "compiler", "seed", "out", "cache", "run-timeout", "compile-timeout", "json"),
			&cli.StringFlag{Name: "preflight", Destination: &o.preflight, Usage: "walk up this `KERNEL` or folder instead"}),
		Action: action(func(ctx context.Context, arguments []string) error {
			if o.preflight != "" {
				return preflight(ctx, env, o)
			}
			return doctor(ctx, env, o.common)
		}),
	}
}

func doctor(ctx context.Context, env environment, o common) error {
	findings, usable, gpu := devices.Probe(ctx, o.tools(env))
	if o.json {
		if err := page.JSON(env.stdout, findings); err != nil {
			return err
		}
	} else {
		printFindings(env, findings, usable, gpu)
	}
	if !usable {
		return answer(exitMachinery)
	}
	return nil
}

func printFindings(env environment, findings []devices.Finding, usable, gpu bool) {
	for _, f := range findings {
		switch {
		case f.Found != "":
			fmt.Fprintf(env.stdout, "ok       %-18s %s\n", f.Name, f.Found)
		case f.Needed:
			fmt.Fprintf(env.stdout, "MISSING  %-18s %s\n", f.Name, f.Advice)
		default:
			fmt.Fprintf(env.stdout, "absent   %-18s %s\n", f.Name, f.Advice)
		}
	}
	switch {
	case usable && gpu:
		fmt.Fprintln(env.stdout, "\npawl can tune on this machine's GPU and on its processor: try pawl tune")
	case usable:
		fmt.Fprintln(env.stdout, "\npawl can tune on this machine with the host backend: try pawl tune")
	default:
		fmt.Fprintln(env.stdout, "\npawl cannot tune here until what is MISSING is there")
	}
}

// preflight walks a kernel up and keeps how far it came beside its studies.
func preflight(ctx context.Context, env environment, o doctorOptions) error {
	machine := o.machine(env)
	t, err := o.target(ctx, machine, []string{o.preflight})
	if err != nil {
		return err
	}
	ctx, done := stoppable(ctx, env)
	defer done()
	show := func(r ladder.Rung) { printRung(env.stdout, r) }
	if o.json {
		show = nil
	}
	l, err := ladder.Preflight(ctx, machine, t, objective.Options{Seed: o.seed, RunTimeout: o.runTimeout}, show)
	if err != nil {
		return err
	}
	path := filepath.Join(filepath.Dir(why.Folder(o.out, t.Kernel.Name, t.Workload.Name)), "preflight.json")
	if err := page.WriteFile(path, func(w io.Writer) error { return page.JSON(w, l) }); err != nil {
		return fmt.Errorf("the ladder: %w", err)
	}
	switch {
	case o.json:
		if err := page.JSON(env.stdout, l); err != nil {
			return err
		}
	case l.Holds():
		fmt.Fprintf(env.stdout, "\nEverything holds. Next: %s\n", escape.Shell("pawl", "tune", t.Kernel.Origin))
	}
	env.notice("wrote " + path)
	if !l.Holds() {
		return answer(exitNo)
	}
	return nil
}
