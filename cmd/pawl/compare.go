package main

import (
	"fmt"
	"slices"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/report"
	"pawl/gate/results"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/internal/stats"
)

func compareCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "compare",
		Usage:     "judge two result files that already exist",
		ArgsUsage: "BASE CANDIDATE",
		Description: details(
			"Reads pawl's results, those of other programs, or any JSON or CSV with a list of times. The two sides\n"+
				"were not measured together, so the process is the unit and small differences prove nothing; with one\n"+
				"process a side a doubling is told and 30 % is not. --rule simple is the rule that is common elsewhere:\n"+
				gate.SimpleRule+".",
			"pawl compare before.json after.json --key runs.samples",
			"0 improved or maintained", "1 regression", "2 no significant difference, new or inconclusive", "3 a file cannot be read", "64 usage"),
		Flags: []cli.Flag{
			presetFlag, jsonFlag,
			&cli.StringFlag{Name: "rule", Value: string(gate.ByProcess), Usage: "what the files are judged by: process or simple"},
			&cli.StringFlag{Name: "key", Usage: "the `PATH` of the list in a JSON file, such as runs.samples, or the column of a CSV file"},
			&cli.StringFlag{Name: "select", Usage: "the `VALUES` beside the list of the result that is meant, such as seq=512,batch=32"},
		},
		Action: func(c *cli.Context) error { return compareFiles(c, env) },
	}
}

func compareFiles(c *cli.Context, env environment) error {
	if c.NArg() != 2 {
		return usagef("two files are compared: pawl compare BASE CANDIDATE")
	}
	p, err := preset(c)
	if err != nil {
		return err
	}
	rule := gate.Rule(c.String("rule"))
	if rule != gate.ByProcess && rule != gate.Simple {
		return usagef("no rule %q; there are process and simple", rule)
	}
	if rule == gate.Simple && c.IsSet("preset") {
		return usagef("--rule simple has its own limits: it takes no --preset")
	}
	conditions, err := results.ParseSelect(c.String("select"))
	if err != nil {
		return usagef("--select: %v", err)
	}
	choice := results.Choice{Key: c.String("key"), Select: conditions}
	base, err := results.Read(c.Args().Get(0), choice)
	if err != nil {
		return err
	}
	candidate, err := results.Read(c.Args().Get(1), choice)
	if err != nil {
		return err
	}
	var r report.Report
	for _, pair := range pairs(base, candidate) {
		r.Results = append(r.Results, compareSeries(pair, p, rule))
	}
	if c.Bool("json") {
		err = page.JSON(env.stdout, &r)
	} else {
		err = printCompared(env, &r)
	}
	switch {
	case err != nil:
		return err
	case r.Failed():
		return answer(exitNo)
	case r.Passed():
		return nil
	}
	return answer(exitNothing)
}

// seriesPair is what is compared; a side without processes is missing.
type seriesPair struct{ base, candidate results.Series }

// pairs matches series by name. Two files with one series each are a pair whatever
// the names.
func pairs(base, candidate []results.Series) []seriesPair {
	if len(base) == 1 && len(candidate) == 1 {
		return []seriesPair{{base[0], candidate[0]}}
	}
	var matched []seriesPair
	for _, c := range candidate {
		pair := seriesPair{candidate: c}
		for _, b := range base {
			if b.Name == c.Name && (b.Device == c.Device || pair.base.Name == "") {
				pair.base = b
			}
		}
		matched = append(matched, pair)
	}
	for _, b := range base {
		if !slices.ContainsFunc(candidate, func(c results.Series) bool { return c.Name == b.Name }) {
			matched = append(matched, seriesPair{base: b})
		}
	}
	return matched
}

func compareSeries(pair seriesPair, p gate.Policy, rule gate.Rule) report.Result {
	if len(pair.candidate.Processes) == 0 {
		return report.Result{
			Key: baseline.Key{Kernel: pair.base.Name, Device: pair.base.Device}, Policy: p,
			Comparison: gate.Comparison{Method: gate.Files, Decision: gate.Decision{Verdict: gate.Inconclusive, Reason: "the candidate file does not have it"}},
		}
	}
	result := report.Result{Key: baseline.Key{Kernel: pair.candidate.Name, Device: pair.candidate.Device}, Policy: p}
	if len(pair.base.Processes) == 0 {
		result.Comparison = gate.Comparison{Method: gate.Files, Decision: gate.Decision{Verdict: gate.New, Reason: "the base file does not have it"}}
		return result
	}
	if rule == gate.Simple {
		result.Comparison = gate.CompareSimple(pair.base.Processes, pair.candidate.Processes, p)
	} else {
		result.Comparison = gate.CompareApart(stats.Bootstrap{}, pair.base.Processes, pair.candidate.Processes, p, gate.Files)
		result.Rule = rule
	}
	if note := unitNote(pair); note != "" {
		result.Notes = append(result.Notes, note)
	}
	result.Baseline, result.Current = result.Evidence.Baseline.Median, result.Evidence.Candidate.Median
	if known := pair.base.Device != "" && pair.candidate.Device != ""; known && pair.base.Device != pair.candidate.Device {
		result.Verdict = gate.Inconclusive
		result.Reason = fmt.Sprintf("foreign device: the base was measured on %q, the candidate on %q", pair.base.Device, pair.candidate.Device)
	}
	return result
}

// unitNote says where no unit was named and milliseconds were assumed.
func unitNote(pair seriesPair) string {
	switch base, candidate := pair.base.Unit, pair.candidate.Unit; {
	case base == "" && candidate == "":
		return "neither file names the unit of its times: milliseconds are assumed"
	case base == "":
		return fmt.Sprintf("the base names no unit: milliseconds are assumed, while the candidate's are %s", candidate)
	case candidate == "":
		return fmt.Sprintf("the candidate names no unit: milliseconds are assumed, while the base's are %s", base)
	}
	return ""
}

func printCompared(env environment, r *report.Report) error {
	var rows [][]string
	for _, s := range r.Results {
		row := []string{s.Kernel, page.Milliseconds(s.Baseline), page.Milliseconds(s.Current), report.Change(s), report.Interval(s), "~", "~", string(s.Verdict)}
		if s.Evidence != nil {
			row[5], row[6] = fmt.Sprintf("%+.2f", s.Evidence.Delta), fmt.Sprintf("%.2g", s.Evidence.P)
		}
		rows = append(rows, row)
	}
	if err := page.Table(env.stdout, []string{"", "base", "candidate", "change", "95 % interval", "δ", "p", "verdict"}, rows); err != nil {
		return err
	}
	for _, s := range r.Results {
		fmt.Fprintf(env.stdout, "\n%s: %s.\n", s.Verdict, escape.Line(s.Reason))
		for _, note := range s.Notes {
			fmt.Fprintf(env.stdout, "Note: %s.\n", escape.Line(note))
		}
	}
	fmt.Fprintln(env.stdout, "\nPositive means faster. The sides were not measured together: pawl gate does that, and sees smaller differences.")
	return nil
}
