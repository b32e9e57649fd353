package main

import (
	"context"
	"fmt"
	"io"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/search"
	"pawl/studies/report"
)

func reportCommand(env environment) *cli.Command {
	var o common
	return &cli.Command{
		Name:      "report",
		Usage:     "write a study's report again",
		ArgsUsage: "[STUDY]",
		Description: details(
			"Writes "+report.MarkdownName+", "+report.JSONName+" and "+report.HTMLName+" from the record; the last study when none is named.",
			"pawl report 3 --out tuning",
			"0 done", "2 no study", "3 the machinery failed", "64 usage"),
		Flags: o.flags("out", "json"),
		Action: action(func(ctx context.Context, arguments []string) error {
			store, study, err := openStudy(ctx, env, o.out, arguments)
			if err != nil {
				return err
			}
			defer store.Close()
			summary, err := report.Read(ctx, store, study.ID)
			if err != nil {
				return err
			}
			return concludeStudy(env, o, summary)
		}),
	}
}

// concludeStudy writes the reports of a study and prints the result.
func concludeStudy(env environment, o common, summary *report.Summary) error {
	files, err := report.WriteAll(o.out, summary)
	if err != nil {
		return fmt.Errorf("%w\nThe study itself is recorded: pawl report %d writes the report again", err, summary.Study.ID)
	}
	if o.json {
		return page.JSON(env.stdout, summary)
	}
	return printSummary(env.stdout, summary, files)
}

// printSummary shows the result to a person: what happened, how sure that is,
// and what to do next.
func printSummary(w io.Writer, s *report.Summary, files report.Files) error {
	fmt.Fprintf(w, "%s, workload %s: %s\n\n", escape.Line(s.Study.Kernel), escape.Line(s.Study.Workload), s.Advice.Verdict)
	if rows := summaryRows(s); len(rows) > 0 {
		if err := page.Table(w, []string{"", "median", "95 % interval", "speedup", "95 % interval", "P(best)", "point"}, rows); err != nil {
			return err
		}
		fmt.Fprintln(w)
	}
	fmt.Fprintln(w, s.Advice.Sentence)
	for _, warning := range s.Warnings {
		fmt.Fprintf(w, "Note: %s\n", escape.Line(warning))
	}
	if s.Evidence != nil && s.Winner.Checked != nil {
		fmt.Fprintf(w, "The winner's results are right on %s.\n", escape.Line(s.Winner.Checked.Text()))
	}
	f := s.Search
	fmt.Fprintf(w, "\n%d trials in %.0f s: %d measured%s, %d failed%s%s\n", f.Asked, f.Seconds, f.OK, report.RememberedText(f), f.Failed, failureText(s), abandonedText(f.Abandoned, s.Study.Ended))
	if text := report.RegretText(s.Study.Regret); text != "" {
		fmt.Fprintln(w, text)
	}
	for _, path := range files.Written {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
	if files.Removed != "" {
		fmt.Fprintf(w, "removed %s, the header of an earlier study\n", files.Removed)
	}
	return nil
}

func summaryRows(s *report.Summary) [][]string {
	var rows [][]string
	if s.Default != nil {
		rows = append(rows, timedRow("default", *s.Default))
	}
	for i, t := range s.Top {
		rows = append(rows, timedRow(fmt.Sprint(i+1), t))
	}
	return rows
}

func timedRow(name string, t report.Timed) []string {
	row := []string{name, page.Milliseconds(t.Milliseconds), page.TimeInterval(t.Interval), "", "", "", t.Point.String()}
	if t.Speedup != nil {
		row[3] = fmt.Sprintf("%.2f×", *t.Speedup)
		row[4] = page.RatioInterval(*t.SpeedupInterval)
	}
	if t.Best != nil {
		row[5] = page.WholePercent(*t.Best)
	}
	return row
}

// abandonedText counts the trials that were compiling when the search ended.
func abandonedText(n int, ended search.Ending) string {
	switch {
	case n == 0:
		return ""
	case ended == search.Stopped:
		return fmt.Sprintf(", %d abandoned when it was stopped", n)
	case ended == search.BudgetSpent:
		return fmt.Sprintf(", %d abandoned when the time was over", n)
	}
	return fmt.Sprintf(", %d abandoned when the search ended", n)
}

func failureText(s *report.Summary) string {
	var parts []string
	for _, f := range s.Failures {
		parts = append(parts, fmt.Sprintf("%d %s", f.Count, escape.Line(f.Reason)))
	}
	if len(parts) == 0 {
		return ""
	}
	return " (" + strings.Join(parts, ", ") + ")"
}
