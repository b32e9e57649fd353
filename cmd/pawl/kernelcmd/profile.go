package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/internal/collect"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/objective/profile"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies/tune"
)

type profileOptions struct {
	console.Common
	from, compare string
}

func ProfileCommand(env console.Environment) *cli.Command {
	o := profileOptions{Common: console.In(env)}
	return &cli.Command{
		Name:      "profile",
		Usage:     "say why a point is as fast as it is, and what to try",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Checks and times a point, lets Nsight Compute count in exactly one launch of it, names what limits it\n"+
				"and ranks what to try. Gains are bounds, not promises.\n"+
				"The counters stay in the study that has tried the point, and ncu's report beside it. --compare A B says what "+
				"differs\n"+
				"between two points, or between two profiles in files, and why one is faster.",
			"pawl profile attention_hopper --compare default CONSUMERS=4,BLOCK_N=64",
			"0 profiled", "1 the point fails", "2 no profiler can look here: what is known without one is printed",
			"3 internal or environment error", "64 usage", "130 stopped"),
		Flags: append(o.Flags("at", "workload", "backend", "compiler", "caches", "seed", "out", "db", "cache",
			"run-timeout", "compile-timeout", "json"),
			console.Text("from", &o.from, "",
				"explain a `FILE` instead: a profile of pawl's (.json), ncu's report (.ncu-rep) or what it prints with "+
					"--page raw --csv --print-units base (.csv)"),
			console.Text("compare", &o.compare, "",
				"compare two `POINTS` or files, A and B: B follows as an argument, without it A is compared with --at")),
		Action: console.Action(o.runProfile),
	}
}

func (o *profileOptions) runProfile(ctx context.Context, arguments []string) error {
	ctx, done := o.Stoppable(ctx)
	defer done()
	machine := o.Machine()
	wanted := []string{o.At}
	switch {
	case o.from != "" && (o.At != "" || o.compare != "" || len(arguments) > 0):
		return console.Usagef("--from explains one file, and nothing beside it")
	case o.from != "" && !profile.IsFile(o.from):
		return console.Usagef("--from %s: a profile is a file that ends in .json, .csv or .ncu-rep", o.from)
	case o.from != "":
		wanted = []string{o.from}
	case o.compare != "":
		wanted, arguments = o.comparedNames(arguments)
	}
	target := sync.OnceValues(func() (devices.Target, error) {
		t, err := o.Target(ctx, machine, arguments)
		if errors.As(err, new(*devices.AbsentError)) {
			err = devices.Nothingf("%w", err)
		}
		return t, err
	})
	points, profiles := make([]space.Point, len(wanted)), make([]*profile.Profile, len(wanted))
	for i, name := range wanted { // all of them make sense before the first is run
		if name == "default" {
			name = ""
		}
		var err error
		var t devices.Target
		if profile.IsFile(name) {
			profiles[i], err = profile.Read(ctx, o.Getenv, name)
			if errors.As(err, new(*profile.FileError)) {
				return console.Usage(err)
			}
		} else if t, err = target(); err == nil {
			points[i], err = t.Point(name)
		}
		if err != nil {
			return err
		}
	}
	for i := range wanted {
		if profiles[i] != nil {
			continue
		}
		t, err := target()
		if err == nil {
			profiles[i], err = o.get(ctx, machine, t, points[i])
		}
		if ctx.Err() != nil {
			return console.Answer(console.ExitInterrupted)
		}
		if err != nil {
			return err
		}
	}
	return o.show(profiles)
}

// comparedNames returns the two that are compared, and what is left of the arguments: the
// kernel, if any. A point has a =, and no kernel has.
func (o *profileOptions) comparedNames(arguments []string) ([]string, []string) {
	last := len(arguments) - 1
	if last >= 0 &&
		(last > 0 || strings.Contains(arguments[last], "=") || arguments[last] == "default" ||
			profile.IsFile(arguments[last])) {
		return []string{o.compare, arguments[last]}, arguments[:last]
	}
	return []string{o.At, o.compare}, arguments
}

func (o *profileOptions) get(ctx context.Context, machine *devices.Machine, t devices.Target,
	point space.Point) (*profile.Profile, error) {
	folder := tune.ProfileFolder(o.Out, t.Kernel.Name, t.Workload.Name)
	made, failure, err := machine.Profile(ctx, t, point, profile.Options{
		Folder: folder, Seed: o.Seed, Caches: worker.Caches(o.Caches), RunTimeout: o.RunTimeout, Now: time.Now(),
	})
	switch {
	case err != nil:
		return nil, err
	case failure != nil:
		fmt.Fprintf(o.Stdout, "%s at %s: %s\n", t.Kernel.Name, point, escape.Line(failure.String()))
		return nil, console.Answer(console.ExitNo)
	}
	study, err := tune.RecordProfile(ctx, o.Database(), made)
	if err != nil {
		return nil, err
	}
	path, err := made.Write(folder)
	if err != nil {
		return nil, err
	}
	o.Notice("wrote " + path)
	if study > 0 {
		o.Notice(fmt.Sprintf("its counters stay with study %d", study))
	}
	return made, nil
}

// show prints one profile, or how two compare. Where no profiler could look, it says so.
func (o *profileOptions) show(profiles []*profile.Profile) error {
	var comparison *profile.Comparison
	if len(profiles) == 2 {
		comparison = new(profile.Compare(profiles[0].Facts, profiles[1].Facts))
	}
	err := error(nil)
	if comparison == nil {
		err = o.Print(profiles[0].JSON, func(w io.Writer) { printProfile(w, profiles[0]) })
	} else {
		err = o.Show("pawl profiles", 1, struct {
			Profiles   []*profile.Profile  `json:"profiles"`
			Comparison *profile.Comparison `json:"comparison"`
		}{profiles, comparison}, func(w io.Writer) { printComparison(w, profiles, comparison) })
	}
	if err != nil {
		return err
	}
	if i := slices.IndexFunc(profiles, func(one *profile.Profile) bool { return one.NoMetrics != "" }); i >= 0 {
		return devices.Nothingf("%s", profiles[i].NoMetrics)
	}
	return nil
}

// mostAdvice is how much advice a terminal is shown; JSON has all of it.
const mostAdvice = 5

func printProfile(w io.Writer, p *profile.Profile) {
	if p.Workload == "" {
		fmt.Fprintln(w, escape.Line(p.Kernel))
	} else {
		printBuilt(w, &p.Static)
	}
	for _, line := range p.Summary() {
		fmt.Fprintln(w, line)
	}
	if p.Report != "" {
		fmt.Fprintf(w, "ncu's own report: %s\n", escape.Line(p.Report))
	}
	for i, s := range p.Stalls[:min(len(p.Stalls), 4)] {
		if i == 0 {
			fmt.Fprintln(w, "\nWhat warps spend their time at:")
		}
		fmt.Fprintf(w, "  %4s  %s (%s)\n", page.WholePercent(s.Share), s.Meaning, s.Reason)
	}
	for i, a := range p.Advice[:min(len(p.Advice), mostAdvice)] {
		fmt.Fprintf(w, "\n%d. %s: %s.\n   %s\n   Try: %s\n   Gain: %s.\n   Counter: %s\n", i+1, a.Name, a.Seen, a.Meaning,
			a.Try, a.Gain(), a.Counter)
	}
	if len(p.Advice) == 0 && len(p.Stalls) > 0 {
		fmt.Fprintln(w, "\nNo rule finds anything to do.")
	}
}

func printComparison(w io.Writer, profiles []*profile.Profile, c *profile.Comparison) {
	fmt.Fprintf(w, "A: %s\nB: %s\n\n%s\n\n", escape.Line(profiles[0].Name()), escape.Line(profiles[1].Name()), c.Why)
	fmt.Fprintf(w, "What limits A: %s\nWhat limits B: %s\n", c.Before.Text, c.After.Text)
	if !c.Profiled {
		fmt.Fprintln(w, "Only what the compiler knows is compared: not both were profiled.")
	}
	if len(c.Changes) == 0 {
		return
	}
	fmt.Fprintln(w)
	page.Table(w, []string{"from A to B", ""}, collect.Each(c.Changes, func(change profile.Change) []string {
		return []string{change.Name, change.Text}
	}))
}
