package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/fuzz"
	"pawl/space"
	"pawl/studies"
	"pawl/studies/report"
	"pawl/studies/tune"
)

type fuzzOptions struct {
	console.Common
	fuzz.Options
	shape, family, layout string // of the only case, empty for all cases
	finalists             bool
}

func FuzzCommand(env console.Environment) *cli.Command {
	o := fuzzOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "fuzz",
		Usage:     "check results against the reference, on shapes and inputs that break kernels",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Checks one point, or the finalists of the latest study, on the full tier: every shape of the\n"+
				"manifest's matrix, generated shapes with tails, and families of inputs, between guard pages and\n"+
				"on poisoned outputs. A failure is shrunk to the smallest shape and printed as a command that\n"+
				"repeats it.",
			"pawl fuzz attention --at BLOCK_M=96,VECTOR=8 --cases 1000",
			"0 all results right", "1 wrong results", "2 nothing to test", "3 the machinery or the oracle failed", "64 usage"),
		Flags: append(o.Flags("at", "backend", "compiler", "cache", "out", "db", "json", "run-timeout", "compile-timeout",
			"workloads"),
			// Nine digits are fresh enough and can be typed.
			console.Seed("seed", &o.Options.Seed, rand.Uint64N(1e9), "a fresh one",
				"the `NUMBER` that fixes shapes and inputs"),
			console.Switch("all-finalists", &o.finalists, "check the finalists of the kernel's latest study in --out"),
			&cli.IntFlag{
				Name:        "cases",
				Destination: &o.Cases,
				DefaultText: "none",
				Usage:       "a `NUMBER` of random cases after the full tier",
			},
			&cli.DurationFlag{
				Name:        "budget",
				Destination: &o.Time,
				DefaultText: "no limit",
				Usage:       "continue with random cases for this `TIME`",
			},
			console.Text("shape", &o.shape, "", "check one case only, at `SIZES` such as B=1,S=33"),
			console.Text("family", &o.family, "", "the `FAMILY` of that case's inputs, such as signs"),
			console.Text("layout", &o.layout, "", "the `LAYOUT` of that case's buffers: guarded, aligned or misaligned"),
			console.Switch("sanitizer", &o.Sanitizer,
				"run under sanitizers: the compiler's for memory and undefined behavior, or compute-sanitizer's tools on CUDA"),
		),
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if err := o.check(); err != nil {
				return err
			}
			o.Options.RunTimeout = o.Common.RunTimeout
			return o.runFuzz(ctx, arguments)
		}),
	}
}

func (o fuzzOptions) check() error {
	switch {
	case o.Cases < 0 || o.Time < 0:
		return console.Usagef("--cases and --budget must not be negative")
	case o.At != "" && o.finalists:
		return console.Usagef("--at names one point, --all-finalists takes those of a study: use one of them")
	case o.shape == "" && (o.family != "" || o.layout != ""):
		return console.Usagef("--family and --layout describe the case of a --shape")
	case o.shape != "" && (o.Cases > 0 || o.Time > 0):
		return console.Usagef("--shape checks one case; --cases and --budget go with the full tier")
	}
	return nil
}

func (o *fuzzOptions) runFuzz(ctx context.Context, arguments []string) error {
	machine := o.Machine()
	names, err := o.workloads(ctx, arguments)
	if err != nil {
		return err
	}
	var reports []*fuzz.Report
	for _, name := range names {
		o.Workload = name
		report, err := o.fuzzOne(ctx, machine, arguments)
		if errors.As(err, new(*devices.ArgumentError)) && len(names) > 1 { // the sizes decide which points there are
			o.Notice(fmt.Sprintf("workload %s is left out: %s", escape.Line(name), escape.Line(err.Error())))
			continue
		}
		if err != nil {
			return err
		}
		reports = append(reports, report)
	}
	if len(reports) == 0 {
		return devices.Nothingf("the point is not valid for any selected workload: nothing to test")
	}
	if o.JSON {
		if err := page.JSON(o.Stdout, "pawl fuzz", 1, page.List("workloads", reports)); err != nil {
			return err
		}
	}
	switch {
	case slices.ContainsFunc(reports, (*fuzz.Report).Wrong):
		return console.Answer(console.ExitNo)
	case slices.ContainsFunc(reports, (*fuzz.Report).Infeasible):
		return console.Answer(console.ExitNothing)
	}
	return nil
}

// workloads are those that are asked for: one, or all of a list.
func (o *fuzzOptions) workloads(ctx context.Context, arguments []string) ([]string, error) {
	if o.Workload != tune.AllWorkloads && !strings.Contains(o.Workload, ",") {
		return []string{o.Workload}, nil
	}
	name, err := console.KernelName(arguments)
	if err != nil {
		return nil, err
	}
	return tune.Workloads(ctx, o.Tools(), name, o.Backend, o.Workload)
}

// fuzzOne checks on one workload, and says what it found unless that is wanted as JSON.
func (o *fuzzOptions) fuzzOne(ctx context.Context, machine *devices.Machine,
	arguments []string) (*fuzz.Report, error) {
	t, err := o.Target(ctx, machine, arguments)
	if missing, ok := errors.AsType[*kernels.NotFoundError](err); ok {
		if info, err := os.Stat(missing.Name); err == nil && info.IsDir() {
			// The command line is right, as a script's loop over folders is.
			return nil, devices.Nothingf("there is no %s in %s: nothing to test", kernels.ManifestName, missing.Name)
		}
	}
	if err != nil {
		return nil, err
	}
	var points []space.Point
	if o.finalists {
		t, points, err = o.ofFinalists(ctx, t)
	} else {
		points = make([]space.Point, 1)
		points[0], err = t.Point(o.At)
	}
	if err != nil {
		return nil, err
	}
	if o.shape != "" {
		if o.Case, err = fuzz.NewCase(t, o.shape, o.family, o.layout, o.Options.Seed); err != nil {
			return nil, err
		}
	}
	show, clear := console.ProgressLine(o.Stderr)
	o.Observe = show
	result, err := fuzz.Run(ctx, machine, t, points, o.Options)
	clear()
	if errors.Is(err, objective.ErrNoSanitizer) {
		return nil, devices.Nothingf("%w: nothing was tested; without --sanitizer the other checks run", err)
	}
	if err != nil || o.JSON {
		return result, err
	}
	for _, p := range result.Points {
		printFuzzed(o.Stdout, result, p)
	}
	return result, nil
}

// ofFinalists returns the points of the kernel's latest study, with its workload.
func (o *fuzzOptions) ofFinalists(ctx context.Context, t devices.Target) (devices.Target, []space.Point, error) {
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return t, nil, err
	}
	defer store.Close()
	study, points, err := report.Finalists(ctx, store, t.Kernel.Name, t.Kernel.Backend, o.Workload)
	switch {
	case errors.Is(err, studies.ErrNoStudy):
		return t, nil, devices.Nothingf("there is no study of %s in %s: nothing to test", t.Kernel.Name, store.Path())
	case err != nil:
		return t, nil, err
	case len(points) == 0:
		return t, nil, devices.Nothingf("study %d has no point that passed: nothing to test", study.ID)
	}
	if digest, err := t.Kernel.Digest(); err != nil || digest != study.Source {
		o.Notice(fmt.Sprintf("the sources of %s have changed since study %d: its finalists are checked as they "+
			"compile now", t.Kernel.Name, study.ID))
	}
	if t, err = devices.NewTarget(t.Kernel, study.Workload); err != nil {
		return t, nil, err
	}
	for _, point := range points {
		if err := t.Space.Check(point); err != nil {
			return t, nil, fmt.Errorf("study %d: point %s: %w; the manifest has changed since, tune again", study.ID, point, err)
		}
	}
	return t, points, nil
}

func printFuzzed(w io.Writer, r *fuzz.Report, p fuzz.Point) {
	with := ""
	if p.Sanitizer != "" {
		with = " with " + p.Sanitizer
	}
	if p.Failure == nil {
		right := "the case is right"
		if p.Cases != 1 {
			right = fmt.Sprintf("all %d cases right", p.Cases)
		}
		fmt.Fprintf(w, "%s at %s: %s%s, workload %s, seed %d\n", r.Kernel, p.Point, right, with, r.Workload, r.Seed)
	} else {
		fmt.Fprintf(w, "%s at %s%s: %s\n", r.Kernel, p.Point, with, escape.Line(p.Failure.String()))
	}
	if p.Once {
		fmt.Fprintln(w,
			"It did not fail again when the case was repeated alone: a race, or something that an earlier case left behind.")
	}
	if p.Command != "" {
		fmt.Fprintf(w, "found at case %d, %s; to repeat the smallest that fails:\n  %s\n", p.Cases, p.Found.Dims, p.Command)
	}
	if p.Note != "" {
		fmt.Fprintf(w, "Note: %s\n", p.Note)
	}
}
