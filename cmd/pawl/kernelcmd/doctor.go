package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"io/fs"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/studies"
)

func DoctorCommand(env console.Environment) *cli.Command {
	var o console.Common
	return &cli.Command{
		Name:  "doctor",
		Usage: "say what this machine has, what is missing, and what to do",
		Description: console.Details("Looks for everything that pawl can use. Only a C compiler and a writable cache are "+
			"needed to tune on this machine.",
			"pawl doctor", "0 pawl can tune here", "3 something needed is missing", "64 usage"),
		Flags: o.Flags("compiler", "out", "db", "cache", "json"),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if len(arguments) > 0 {
				return console.Usagef("doctor takes no arguments, got %q; pawl check KERNEL tries a kernel", arguments)
			}
			return doctor(ctx, env, o)
		}),
	}
}

func doctor(ctx context.Context, env console.Environment, o console.Common) error {
	findings, usable, gpu := devices.Probe(ctx, o.Tools(env))
	if place := o.Database(env); o.DB != "" || env.Getenv(console.DatabaseVariable) != "" {
		findings = append(findings, database(ctx, place))
	}
	if o.JSON {
		if err := page.JSON(env.Stdout, "pawl doctor", 1, page.List("findings", findings)); err != nil {
			return err
		}
	} else {
		printFindings(env, findings, usable, gpu)
	}
	if !usable {
		return console.Answer(console.ExitMachinery)
	}
	return nil
}

// database says whether the study database that is named can be used. Looking makes none.
func database(ctx context.Context, place string) devices.Finding {
	finding := devices.Finding{Name: "study database"}
	store, err := studies.OpenExisting(ctx, place)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		finding.Found = studies.Name(place) + ": no studies yet; pawl tune makes one"
		return finding
	case err != nil:
		finding.Advice = err.Error()
		return finding
	}
	defer store.Close()
	all, err := store.List(ctx)
	if err != nil {
		finding.Advice = err.Error()
		return finding
	}
	finding.Found = fmt.Sprintf("%s: %s", store.Path(), page.Count(len(all), "study", "studies"))
	return finding
}

func printFindings(env console.Environment, findings []devices.Finding, usable, gpu bool) {
	for _, f := range findings {
		switch {
		case f.Found != "":
			fmt.Fprintf(env.Stdout, "ok       %-18s %s\n", f.Name, f.Found)
		case f.Needed:
			fmt.Fprintf(env.Stdout, "MISSING  %-18s %s\n", f.Name, f.Advice)
		default:
			fmt.Fprintf(env.Stdout, "absent   %-18s %s\n", f.Name, f.Advice)
		}
	}
	switch {
	case usable && gpu:
		fmt.Fprintln(env.Stdout, "\npawl can tune on this machine's GPU and on its processor: try pawl tune")
	case usable:
		fmt.Fprintln(env.Stdout, "\npawl can tune on this machine with the host backend: try pawl tune")
	default:
		fmt.Fprintln(env.Stdout, "\npawl cannot tune here until what is MISSING is there")
	}
}
