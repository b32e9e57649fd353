package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/internal/page"
	"pawl/objective/devices"
)

func doctorCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine has, what is missing, and what to do",
		Description: details("Looks for everything that pawl can use. Only a C compiler and a writable cache are needed to tune on this machine.",
			"pawl doctor", "0 pawl can tune here", "3 something needed is missing", "64 usage"),
		Flags:  o.flags("cache", "json"),
		Action: action(func(ctx context.Context, _ []string) error { return doctor(ctx, env, o) }),
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
