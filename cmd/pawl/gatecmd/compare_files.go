package gatecmd

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/gate/results"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// compareOptions is the command line of pawl compare.
type compareOptions struct {
	console.Common
	files  []string
	preset string // empty for the default
	choice results.Choice
}

func CompareCommand(env console.Environment) *cli.Command {
	var o compareOptions
	return &cli.Command{
		Name:      "compare",
		Usage:     "judge two result files that already exist",
		ArgsUsage: "BASE CANDIDATE",
		Description: console.Details(
			"Reads pawl's results, those of hyperfine, Google Benchmark and pytest-benchmark, CSV, and with --key any\n"+
				"other JSON. The two sides were not measured together, so the process is the unit and small differences\n"+
				"prove nothing; with one process a side a doubling is found and 30 % is not.",
			"pawl compare before.json after.json --key 'runs.#(seq==512).samples_ms'",
			"0 improved or maintained", "1 regression", "2 no significant difference, new or inconclusive",
			"3 a file cannot be read", "64 usage"),
		Flags: append(o.Flags("json"),
			presetFlag(&o.preset),
			console.Text("key", &o.choice.Key, "",
				"the `PATH` of the list of times in a JSON file, as gjson has it, such as runs.0.samples_ms; the column of "+
					"a CSV file; or the name of one of hyperfine's commands"),
			console.Text("unit", &o.choice.Unit, "",
				"the `UNIT` of the times that --key names: ns, us, ms or s (default: what the name ends with, or ms)"),
		),
		Action: console.Action(func(_ context.Context, arguments []string) error {
			o.files = arguments
			return compareFiles(env, o)
		}),
	}
}

func compareFiles(env console.Environment, o compareOptions) error {
	if len(o.files) != 2 {
		return console.Usagef("two files are compared: pawl compare BASE CANDIDATE")
	}
	p, err := preset(o.preset)
	if err != nil {
		return err
	}
	var sides [2][]results.Series
	for i, path := range o.files {
		if sides[i], err = results.Read(path, o.choice); err != nil {
			return err
		}
	}
	r := ratchet.CompareFiles(sides[0], sides[1], p)
	if o.JSON {
		err = page.JSON(env.Stdout, "pawl compare", 1, r)
	} else {
		err = printCompared(env, r)
	}
	if err != nil {
		return err
	}
	return console.Answered(compareCode(r))
}

func printCompared(env console.Environment, r *reporting.Report) error {
	var rows [][]string
	for _, s := range r.Results {
		c := s.Cells()
		rows = append(rows, []string{s.Kernel, c.Baseline, c.Current, c.Change, c.Interval, c.Delta, c.P, string(s.Verdict)})
	}
	if err := page.Table(env.Stdout, []string{"", "base", "candidate", "change", "95 % interval", "δ", "p", "verdict"},
		rows); err != nil {
		return err
	}
	for _, s := range r.Results {
		fmt.Fprintf(env.Stdout, "\n%s: %s.\n", s.Verdict, escape.Line(s.Reason))
		for _, note := range s.Notes {
			fmt.Fprintf(env.Stdout, "Note: %s.\n", escape.Line(note))
		}
	}
	fmt.Fprintln(env.Stdout,
		"\nPositive means faster. The sides were not measured together: pawl gate does that, and sees smaller differences.")
	return nil
}
