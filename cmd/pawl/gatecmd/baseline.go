package gatecmd

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/internal/escape"
	"pawl/internal/git"
	"pawl/internal/page"
)

// baselineOptions is the command line of pawl baseline; each subcommand has some of
// it.
type baselineOptions struct {
	console.Common
	kernels               []string // the arguments; of merge, three files
	baseline, policy, svg string
	reason                string
	release               bool
}

func BaselineCommand(env console.Environment) *cli.Command {
	var o baselineOptions
	alone := func(do func(console.Environment, baselineOptions) error) cli.ActionFunc {
		return console.Alone(func(context.Context) error { return do(env, o) })
	}
	action := func(do func(console.Environment, baselineOptions) error) cli.ActionFunc {
		return func(c *cli.Context) error {
			o.kernels = c.Args().Slice()
			return do(env, o)
		}
	}
	return &cli.Command{
		Name:  "baseline",
		Usage: "show, verify, accept or merge baselines, and their history",
		Subcommands: []*cli.Command{
			{
				Name: "show", Usage: "print the entries",
				Description: console.Details("Prints what each kernel is held to.", "pawl baseline show --json", "0 done",
					"2 no baseline", "3 it cannot be used", "64 usage"),
				Flags:  append(o.Flags("json"), console.BaselineFlag(&o.baseline)),
				Action: alone(showBaseline),
			},
			{
				Name: "verify", Usage: "check the file: its digest, its version, its numbers",
				Description: console.Details("Says whether the file is whole and untouched.", "pawl baseline verify", "0 it is",
					"2 no baseline", "3 it is not", "64 usage"),
				Flags:  []cli.Flag{console.BaselineFlag(&o.baseline)},
				Action: alone(verifyBaseline),
			},
			{
				Name: "history", Usage: "print every gate run and acceptance, or draw the trend",
				Description: console.Details("Prints what each gate run measured, what was accepted and why, and where the "+
					"level changed; --svg draws it.", "pawl baseline history --svg trend.svg", "0 done", "2 no history",
					"3 internal or environment error", "64 usage"),
				Flags: append(o.Flags("json"), console.BaselineFlag(&o.baseline),
					&cli.StringFlag{Name: "svg", Destination: &o.svg, Usage: "draw the trend into this `FILE`"}),
				Action: alone(showHistory),
			},
			{
				Name: "accept", Usage: "make the last results the baseline, with a reason", ArgsUsage: "[KERNEL...]",
				Description: console.Details(
					"Moves the baseline to what the last gate run measured, also where that is slower. The reason is\n"+
						"kept for ever. --release makes it what erosion is measured against.",
					`pawl baseline accept attention --reason "clearer code, reviewed in 12"`,
					"0 accepted", "2 nothing to accept", "3 internal or environment error", "64 usage"),
				Flags: []cli.Flag{console.BaselineFlag(&o.baseline), console.PolicyFlag(&o.policy),
					&cli.StringFlag{Name: "reason", Destination: &o.reason, Usage: "why, in a `SENTENCE`"},
					&cli.BoolFlag{
						Name:               "release",
						Destination:        &o.release,
						DisableDefaultText: true,
						Usage:              "erosion is measured against this from now on",
					},
				},
				Action: action(acceptBaseline),
			},
			{
				Name: "merge", Usage: "join two baselines, as a merge driver of git", ArgsUsage: "BASE OURS THEIRS",
				Description: console.Details(
					"Writes over OURS what both sides have moved since BASE; where both moved the same, the better entry\n"+
						"stays. For git: git config merge.pawl.driver 'pawl baseline merge %O %A %B', and in .gitattributes\n"+
						"results/baseline.json merge=pawl.",
					"pawl baseline merge base.json ours.json theirs.json",
					"0 merged", "3 a file cannot be used, nothing was written", "64 usage"),
				Action: action(mergeBaselines),
			},
		},
	}
}

func mergeBaselines(env console.Environment, o baselineOptions) error {
	if len(o.kernels) != 3 {
		return console.Usagef("three files are merged: pawl baseline merge BASE OURS THEIRS")
	}
	chosen, err := ratchet.Merge(o.kernels[0], o.kernels[1], o.kernels[2])
	for _, choice := range chosen {
		fmt.Fprintf(env.Stderr, "pawl: %s\n", escape.Line(choice))
	}
	return err
}

// noBaseline is the answer where there is no file.
func noBaseline(o baselineOptions) error {
	return console.Nothingf("there is no %s; pawl gate makes one", o.baseline)
}

func showBaseline(env console.Environment, o baselineOptions) error {
	f, err := ratchet.Baseline(o.baseline)
	if err != nil {
		return err
	}
	if f == nil {
		return noBaseline(o)
	}
	if o.JSON {
		return page.JSON(env.Stdout, f)
	}
	var rows [][]string
	for _, e := range f.Entries {
		rows = append(rows, []string{
			e.Kernel, e.Workload, e.Type, e.Objective.Text(e.Median),
			e.Objective.Interval(e.Interval),
			page.Percent(e.Variation), e.Measured.Format("2006-01-02"), e.Device, e.Point,
		})
	}
	if err := page.Table(env.Stdout,
		[]string{"kernel", "workload", "type", "median", "95 % interval", "CV without drift", "measured", "device",
			"point"}, rows); err != nil {
		return err
	}
	for _, a := range f.Accepted {
		fmt.Fprintf(env.Stdout, "accepted %s: %s %s, from %s to %s: %s\n", a.Time.Format("2006-01-02"), a.Kernel,
			a.Workload, a.Objective.Text(a.From), a.Objective.Text(a.To), escape.Line(a.Reason))
	}
	return nil
}

func verifyBaseline(env console.Environment, o baselineOptions) error {
	f, err := ratchet.Baseline(o.baseline)
	if err != nil {
		return err
	}
	if f == nil {
		return noBaseline(o)
	}
	fmt.Fprintf(env.Stdout, "%s is whole: %s, each under its own digest\n", o.baseline,
		page.Count(len(f.Entries), "entry", "entries"))
	return nil
}

func showHistory(env console.Environment, o baselineOptions) error {
	path, events, damaged, err := ratchet.History(o.baseline)
	if err != nil {
		return err
	}
	if damaged > 0 {
		fmt.Fprintf(env.Stderr, "pawl: %d lines of %s cannot be read and are left out\n", damaged, path)
	}
	if len(events) == 0 {
		return console.Nothingf("no gate run in %s; pawl gate makes one", path)
	}
	trends := reporting.Trends(events)
	if o.svg != "" {
		if err := page.WriteFile(o.svg, func(w io.Writer) error { return reporting.TrendSVG(w, trends) }); err != nil {
			return err
		}
		fmt.Fprintf(env.Stderr, "wrote %s\n", o.svg)
	}
	if o.JSON {
		return page.JSON(env.Stdout, events)
	}
	return printHistory(env, trends)
}

func printHistory(env console.Environment, trends []reporting.Trend) error {
	for _, t := range trends {
		fmt.Fprintf(env.Stdout, "%s\n", t.Key)
		var rows [][]string
		for i, e := range t.Events {
			mark := ""
			if slices.Contains(t.Steps, i) {
				mark = "change point"
			}
			if e.Verdict == ratchet.Accepted {
				mark = escape.Line(e.Reason)
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
		if err := page.Table(env.Stdout, []string{"time", "commit", "median", "change", "verdict", ""}, rows); err != nil {
			return err
		}
		fmt.Fprintln(env.Stdout)
	}
	return nil
}

func acceptBaseline(env console.Environment, o baselineOptions) error {
	a := ratchet.Acceptance{
		Baseline: o.baseline,
		Kernels:  o.kernels,
		Reason:   strings.TrimSpace(o.reason),
		Release:  o.release,
	}
	if a.Reason == "" {
		return console.Usagef("--reason is missing: say why, for those who come after")
	}
	if path := console.PolicyPath(o.policy); path != "" && !o.release {
		var err error
		if a.Policy, err = policy.Read(path); err != nil {
			return err
		}
	}
	accepted, err := a.Accept()
	if err != nil {
		return err
	}
	if len(accepted) == 0 {
		return console.Nothingf("nothing to accept in %s; pawl gate measures first", a.Results())
	}
	for _, e := range accepted {
		fmt.Fprintf(env.Stdout, "%s is now held to %s\n", e.Key, e.Objective.Text(e.Median))
	}
	return nil
}
