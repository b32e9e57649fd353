package gatecmd

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/objective/devices"
)

// baselineOptions is the command line of pawl baseline; each subcommand has some of
// it.
type baselineOptions struct {
	console.Common
	kernels   []string // the arguments; of merge, three files
	from, svg string
	reason    string
	release   bool
}

func BaselineCommand(env console.Environment) *cli.Command {
	o := baselineOptions{Common: console.In(env)}
	action := func(do func(context.Context) error) cli.ActionFunc {
		return func(c *cli.Context) error {
			o.kernels = c.Args().Slice()
			return do(c.Context)
		}
	}
	return &cli.Command{
		Name:  "baseline",
		Usage: "show, accept, remove or merge baselines, and their history",
		Subcommands: []*cli.Command{
			{
				Name: "show", Usage: "print the entries",
				Description: console.Details("Prints the baseline of each kernel.", "pawl baseline show --json", "0 done",
					"2 no baseline", "3 it cannot be used", "64 usage"),
				Flags:  append(o.Flags("json"), console.BaselineFlag(&o.Baseline)),
				Action: console.Alone(o.showBaseline),
			},
			{
				Name: "history", Usage: "print every gate run and acceptance, or draw the trend",
				Description: console.Details("Prints what each gate run measured, what was accepted and why, and where the "+
					"level changed; --svg draws it.", "pawl baseline history --svg trend.svg", "0 done", "2 no history",
					"3 internal or environment error", "64 usage"),
				Flags: append(o.Flags("json"), console.BaselineFlag(&o.Baseline),
					console.Text("svg", &o.svg, "", "draw the trend into this `FILE`")),
				Action: console.Alone(o.showHistory),
			},
			{
				Name: "accept", Usage: "make the last results the baseline, with a reason", ArgsUsage: "[KERNEL...]",
				Description: console.Details(
					"Moves the baseline to what the last gate run measured, or the one whose results --from names, even\n"+
						"if it is slower, and accepts what a branch changes about the checks. The history keeps who did it\n"+
						"and why. With --release, erosion is measured against it from now on.",
					`pawl baseline accept attention --reason "clearer code, reviewed in 12"`,
					"0 accepted", "2 nothing to accept", "3 internal or environment error", "64 usage"),
				Flags: []cli.Flag{console.BaselineFlag(&o.Baseline), reasonFlag(&o.reason),
					console.TextOr("from", &o.from, "beside the baseline",
						"the `FOLDER` with the results of a run, such as CI's artifact"),
					console.Switch("release", &o.release, "erosion is measured against this from now on"),
				},
				Action: action(o.acceptBaseline),
			},
			{
				Name: "remove", Usage: "take a kernel out of the baseline, with a reason", ArgsUsage: "KERNEL...",
				Description: console.Details(
					"Removes the entries of kernels that are gone, on all devices. The history keeps who did it and why.\n"+
						"A pull request that deletes a kernel's folder passes the gate only with this.",
					`pawl baseline remove scale --reason "replaced by the library's"`,
					"0 removed", "3 internal or environment error", "64 usage"),
				Flags:  []cli.Flag{console.BaselineFlag(&o.Baseline), reasonFlag(&o.reason)},
				Action: action(o.removeFromBaseline),
			},
			{
				Name: "merge", Usage: "join two baselines, as a merge driver of git", ArgsUsage: "BASE OURS THEIRS",
				Description: console.Details(
					"Replaces OURS with the changes of both sides since BASE; if both moved an entry, the better one\n"+
						"stays. For git: git config merge.pawl.driver 'pawl baseline merge %O %A %B', and in .gitattributes\n"+
						"results/baseline.json merge=pawl.",
					"pawl baseline merge base.json ours.json theirs.json",
					"0 merged", "3 a file cannot be used, nothing was written", "64 usage"),
				Action: action(o.mergeBaselines),
			},
		},
	}
}

func (o *baselineOptions) mergeBaselines(context.Context) error {
	if len(o.kernels) != 3 {
		return console.Usagef("three files are merged: pawl baseline merge BASE OURS THEIRS")
	}
	chosen, err := ratchet.Merge(o.kernels[0], o.kernels[1], o.kernels[2])
	for _, choice := range chosen {
		fmt.Fprintf(o.Stderr, "pawl: %s\n", escape.Line(choice))
	}
	return err
}

func (o *baselineOptions) showBaseline(context.Context) error {
	f, err := ratchet.Baseline(o.Baseline)
	if err != nil {
		return err
	}
	if f == nil {
		return devices.Nothingf("there is no %s; %s makes one", o.Baseline, o.Pawl("gate"))
	}
	return o.Show("pawl baseline show", 2, f, func(w io.Writer) {
		var rows [][]string
		for _, e := range f.Entries {
			state := ""
			if e.Unproven {
				state = "unproven"
			}
			if e.Provisional != nil {
				state = strings.TrimSpace(state + " provisional gain " + page.Change(e.Provisional.Gain))
			}
			rows = append(rows, []string{
				e.Kernel, e.Workload, e.Type, e.Objective.Text(e.Median),
				e.Objective.Interval(e.Interval),
				page.Percent(e.Variation), e.Measured.Format("2006-01-02"), e.Device, e.Point, state,
			})
		}
		page.Table(w,
			[]string{"kernel", "workload", "type", "median", "95 % interval", "CV without drift", "measured", "device",
				"point", ""}, rows)
		for _, e := range f.Entries {
			for _, a := range e.Accepted {
				fmt.Fprintf(w, "accepted %s by %s: %s %s, from %s to %s: %s\n", a.Time.Format("2006-01-02"),
					escape.Line(cmp.Or(a.By, "somebody")), a.Kernel, a.Workload, a.Objective.Text(a.From), a.Objective.Text(a.To),
					escape.Line(a.Reason))
			}
		}
	})
}

func (o *baselineOptions) showHistory(context.Context) error {
	path, events, damaged, err := ratchet.History(o.Baseline)
	if err != nil {
		return err
	}
	if damaged > 0 {
		fmt.Fprintf(o.Stderr, "pawl: %d lines of %s cannot be read and are left out\n", damaged, path)
	}
	if len(events) == 0 {
		return devices.Nothingf("no gate run in %s; %s makes one", path, o.Pawl("gate"))
	}
	trends := reporting.Trends(events)
	if o.svg != "" {
		if err := page.WriteFile(o.svg, func(w io.Writer) error { return reporting.TrendSVG(w, trends) }); err != nil {
			return err
		}
		fmt.Fprintf(o.Stderr, "wrote %s\n", o.svg)
	}
	return o.Show("pawl baseline history", 1, page.List("events", events), func(w io.Writer) {
		printTrends(w, trends)
		for _, e := range events { // what nothing was measured for
			if e.Decision() && e.Median == 0 {
				fmt.Fprintf(w, "%s %s by %s: %s: %s\n", e.Verdict, e.Time.Format("2006-01-02 15:04"),
					escape.Line(cmp.Or(e.By, "somebody")), escape.Line(strings.TrimSpace(e.Kernel+" "+e.Workload)),
					escape.Line(e.Reason))
			}
		}
	})
}

func printTrends(w io.Writer, trends []reporting.Trend) {
	for _, t := range trends {
		fmt.Fprintf(w, "%s\n", t.Key)
		var rows [][]string
		for i, e := range t.Events {
			mark := ""
			if slices.Contains(t.Steps, i) {
				mark = "change point"
			}
			if e.Decision() {
				mark = escape.Line(fmt.Sprintf("%s (%s)", e.Reason, cmp.Or(e.By, "somebody")))
			}
			change := "~"
			if e.Change != nil {
				change = page.Change(*e.Change)
			}
			commit, _ := git.Hash(e.Commit)
			rows = append(rows,
				[]string{e.Time.Format("2006-01-02 15:04"), fmt.Sprintf("%.12s", commit), e.Objective.Text(e.Median), change,
					string(e.Verdict), mark})
		}
		page.Table(w, []string{"time", "commit", "median", "change", "verdict", ""}, rows)
		fmt.Fprintln(w)
	}
}

func reasonFlag(to *string) cli.Flag {
	return console.Text("reason", to, "", "why, in a `SENTENCE`")
}

// decision is what a person has decided, with who it is: the actor of a job, or git's identity.
func (o *baselineOptions) decision(ctx context.Context) (ratchet.Acceptance, error) {
	a := ratchet.Acceptance{
		Baseline: o.Baseline, From: o.from, Kernels: o.kernels, Reason: strings.TrimSpace(o.reason), Release: o.release,
		By: cmp.Or(o.Getenv("GITHUB_ACTOR"), git.Who(ctx, ".")),
	}
	if a.Reason == "" {
		return a, console.Usagef("--reason is missing: say why, for those who come after")
	}
	return a, nil
}

func (o *baselineOptions) acceptBaseline(ctx context.Context) error {
	a, err := o.decision(ctx)
	if err != nil {
		return err
	}
	accepted, err := a.Accept()
	if err != nil {
		return err
	}
	if len(accepted) == 0 {
		return devices.Nothingf("nothing to accept in %s; %s measures first", a.Results(), o.Pawl("gate"))
	}
	for _, key := range accepted {
		fmt.Fprintf(o.Stdout, "accepted %s\n", key)
	}
	return nil
}

func (o *baselineOptions) removeFromBaseline(ctx context.Context) error {
	if len(o.kernels) == 0 {
		return console.Usagef("which kernel? pawl baseline remove KERNEL --reason \"...\"")
	}
	a, err := o.decision(ctx)
	if err != nil {
		return err
	}
	removed, err := a.Remove()
	for _, key := range removed {
		fmt.Fprintf(o.Stdout, "removed %s\n", key)
	}
	return err
}
