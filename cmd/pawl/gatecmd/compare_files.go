package gatecmd

import (
	"context"
	"fmt"
	"io"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/gate/results"
	"pawl/internal/escape"
	"pawl/internal/page"
)

type compareOptions struct {
	console.Common
	preset string // empty for the default
	choice results.Choice
}

func CompareCommand(env console.Environment) *cli.Command {
	o := compareOptions{Common: console.In(env)}
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
		Action: console.Action(o.compareFiles),
	}
}

func (o *compareOptions) compareFiles(_ context.Context, files []string) error {
	if len(files) != 2 {
		return console.Usagef("two files are compared: pawl compare BASE CANDIDATE")
	}
	p, err := preset(o.preset)
	if err != nil {
		return err
	}
	var sides [2][]results.Series
	for i, path := range files {
		if sides[i], err = results.Read(path, o.choice); err != nil {
			return err
		}
	}
	r := ratchet.CompareFiles(sides[0], sides[1], p)
	if err := o.Show("pawl compare", 1, r, func(w io.Writer) { printCompared(w, r) }); err != nil {
		return err
	}
	return console.Answered(compareCode(r))
}

func printCompared(w io.Writer, r *reporting.Report) {
	page.Table(w, []string{"", "base", "candidate", "change", "95 % interval", "δ", "p", "verdict"},
		reporting.Rows(r.Results, plain, "kernel", "baseline", "current", "change", "95 % interval", "δ", "p", "verdict"))
	for _, s := range r.Results {
		fmt.Fprintf(w, "\n%s: %s.\n", s.Verdict, escape.Line(s.Reason))
		for _, note := range s.Notes {
			fmt.Fprintf(w, "Note: %s.\n", escape.Line(note))
		}
	}
	fmt.Fprintln(w,
		"\nPositive means faster. The sides were not measured together: pawl gate does that, and sees smaller differences.")
}
