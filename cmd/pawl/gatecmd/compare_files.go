package gatecmd

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

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
		Usage:     "judge result files that already exist",
		ArgsUsage: "BASE... CANDIDATE...",
		Description: console.Details(
			"Reads pawl's results, those of hyperfine, pytest-benchmark, Google Benchmark, Criterion, nvbench, Catch2 and\n"+
				"go test -bench, CSV, and with --key any other JSON. Several files of a side (old-*.json new-*.json) are as\n"+
				"many processes. The two sides were not measured together, so the process is the unit and small differences\n"+
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
	before, after, err := twoSides(files)
	if err != nil {
		return err
	}
	p, err := preset(o.preset)
	if err != nil {
		return err
	}
	var sides [2][]results.Series
	for i, paths := range [][]string{before, after} {
		if sides[i], err = results.ReadAll(paths, o.choice); err != nil {
			return err
		}
	}
	r := ratchet.CompareFiles(sides[0], sides[1], p)
	if err := o.Show("pawl compare", 1, r, func(w io.Writer) { printCompared(w, r) }); err != nil {
		return err
	}
	return console.Answered(compareCode(r))
}

// digits are what tells the files of one side apart.
var digits = regexp.MustCompile(`[0-9]+`)

// twoSides returns the files of each side: two files or patterns, or more files whose names without their
// digits are two.
func twoSides(files []string) (before, after []string, err error) {
	if len(files) == 2 {
		for i, to := range []*[]string{&before, &after} {
			// A file may have a name that is a pattern.
			if _, missing := os.Stat(files[i]); missing == nil || !strings.ContainsAny(files[i], "*?[") {
				*to = []string{files[i]}
			} else if *to, err = filepath.Glob(files[i]); err == nil && len(*to) == 0 {
				err = fmt.Errorf("no file is called %s", files[i])
			}
			if err != nil {
				return nil, nil, err
			}
		}
		return before, after, nil
	}
	var names []string
	for _, file := range files {
		name := digits.ReplaceAllString(file, "")
		if !slices.Contains(names, name) {
			names = append(names, name)
		}
		if name == names[0] {
			before = append(before, file)
		} else {
			after = append(after, file)
		}
	}
	if len(names) != 2 {
		return nil, nil, console.Usagef("two sides are compared: pawl compare BASE CANDIDATE, each a file or a pattern in " +
			"quotes, or several files of each side whose names differ in digits alone, such as old-1.json old-2.json new-1.json")
	}
	return before, after, nil
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
