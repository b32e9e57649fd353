package main

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/report"
	"pawl/internal/escape"
	"pawl/internal/page"
)

func baselineCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:  "baseline",
		Usage: "what performance is held to: show, verify, history, accept",
		Subcommands: []*cli.Command{
			{
				Name: "show", Usage: "print the entries",
				Description: details("Prints what each kernel is held to.", "pawl baseline show --json", "0 done", "2 no baseline", "3 it cannot be used", "64 usage"),
				Flags:       []cli.Flag{baselineFlag, jsonFlag},
				Action:      func(c *cli.Context) error { return showBaseline(c, env) },
			},
			{
				Name: "verify", Usage: "check the file: its digest, its version, its numbers",
				Description: details("Says whether the file is whole and untouched.", "pawl baseline verify", "0 it is", "2 no baseline", "3 it is not", "64 usage"),
				Flags:       []cli.Flag{baselineFlag},
				Action:      func(c *cli.Context) error { return verifyBaseline(c, env) },
			},
			{
				Name: "history", Usage: "print every gate run, or draw the trend",
				Description: details("Prints what each gate run measured and where the level changed; --svg draws it.", "pawl baseline history --svg trend.svg", "0 done", "2 no history", "3 the machinery failed", "64 usage"),
				Flags: []cli.Flag{baselineFlag, jsonFlag,
					&cli.StringFlag{Name: "svg", Usage: "draw the trend into this `FILE`"}},
				Action: func(c *cli.Context) error { return showHistory(c, env) },
			},
			{
				Name: "accept", Usage: "make the last results the baseline, with a reason", ArgsUsage: "[KERNEL...]",
				Description: details(
					"Moves the baseline to what the last gate run measured, also where that is slower. The reason is\n"+
						"kept for ever. --release makes it the oldest release that erosion is measured against.",
					`pawl baseline accept attention --reason "clearer code, reviewed in 12"`,
					"0 accepted", "2 nothing to accept", "3 the machinery failed", "64 usage"),
				Flags: []cli.Flag{baselineFlag, policyFlag,
					&cli.StringFlag{Name: "reason", Usage: "why, in a `SENTENCE`"},
					&cli.BoolFlag{Name: "release", DisableDefaultText: true, Usage: "erosion is measured against this from now on"},
				},
				Action: func(c *cli.Context) error { return acceptBaseline(c, env) },
			},
		},
	}
}

// readBaseline returns the file, and the answer 2 where there is none.
func readBaseline(c *cli.Context, env environment) (*baseline.File, error) {
	path := c.String("baseline")
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		fmt.Fprintf(env.stderr, "pawl: there is no %s; pawl gate makes one\n", path)
		return nil, answer(exitNothing)
	}
	return baseline.Read(path)
}

func showBaseline(c *cli.Context, env environment) error {
	f, err := readBaseline(c, env)
	if err != nil {
		return err
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, f)
	}
	var rows [][]string
	for _, e := range f.Entries {
		rows = append(rows, []string{
			e.Kernel, e.Workload, e.Type, page.Milliseconds(e.Median),
			page.TimeInterval(e.Interval),
			page.Percent(e.Variation), e.Measured.Format("2006-01-02"), e.Device, e.Point,
		})
	}
	if err := page.Table(env.stdout, []string{"kernel", "workload", "type", "median", "95 % interval", "CV", "measured", "device", "point"}, rows); err != nil {
		return err
	}
	for _, a := range f.Accepted {
		fmt.Fprintf(env.stdout, "accepted %s: %s %s, from %s to %s: %s\n", a.Time.Format("2006-01-02"), a.Kernel, a.Workload, page.Milliseconds(a.From), page.Milliseconds(a.To), escape.Line(a.Reason))
	}
	return nil
}

func verifyBaseline(c *cli.Context, env environment) error {
	f, err := readBaseline(c, env)
	if err != nil {
		return err
	}
	entries := "1 entry"
	if n := len(f.Entries); n != 1 {
		entries = fmt.Sprintf("%d entries", n)
	}
	fmt.Fprintf(env.stdout, "%s is whole: %s, %s\n", c.String("baseline"), entries, f.Digest)
	return nil
}

func showHistory(c *cli.Context, env environment) error {
	path := baseline.HistoryPath(c.String("baseline"))
	events, damaged, err := baseline.ReadHistory(path)
	if err != nil {
		return err
	}
	if damaged > 0 {
		fmt.Fprintf(env.stderr, "pawl: %d lines of %s cannot be read and are left out\n", damaged, path)
	}
	if len(events) == 0 {
		fmt.Fprintf(env.stderr, "pawl: no gate run in %s; pawl gate makes one\n", path)
		return answer(exitNothing)
	}
	trends := report.Trends(events)
	if svg := c.String("svg"); svg != "" {
		if err := page.WriteFile(svg, func(w io.Writer) error { return report.TrendSVG(w, trends) }); err != nil {
			return err
		}
		fmt.Fprintf(env.stderr, "wrote %s\n", svg)
	}
	if c.Bool("json") {
		return page.JSON(env.stdout, events)
	}
	return printHistory(env, trends)
}

func printHistory(env environment, trends []report.Trend) error {
	for _, t := range trends {
		fmt.Fprintf(env.stdout, "%s\n", t.Key)
		var rows [][]string
		for i, e := range t.Events {
			mark := ""
			if slices.Contains(t.Steps, i) {
				mark = "change point"
			}
			change := "~"
			if e.Change != nil {
				change = page.Change(*e.Change)
			}
			commit := strings.TrimSuffix(e.Commit, "-dirty")
			rows = append(rows, []string{e.Time.Format("2006-01-02 15:04"), commit[:min(12, len(commit))], page.Milliseconds(e.Median), change, string(e.Verdict), mark})
		}
		if err := page.Table(env.stdout, []string{"time", "commit", "median", "change", "verdict", ""}, rows); err != nil {
			return err
		}
		fmt.Fprintln(env.stdout)
	}
	return nil
}

func acceptBaseline(c *cli.Context, env environment) error {
	reason := strings.TrimSpace(c.String("reason"))
	if reason == "" {
		return usagef("--reason is missing: say why, for those who come after")
	}
	path := c.String("baseline")
	file, err := baseline.Read(path)
	if err != nil {
		return err
	}
	currentPath := filepath.Join(filepath.Dir(path), currentName)
	current, err := readCurrent(currentPath)
	if err != nil {
		return err
	}
	accepted := chosen(current.Entries, c.Args().Slice())
	if len(accepted) == 0 && c.Bool("release") {
		accepted = chosen(file.Entries, c.Args().Slice()) // nothing new: what is the baseline already
	}
	if len(accepted) == 0 {
		fmt.Fprintf(env.stderr, "pawl: nothing to accept in %s; pawl gate measures first\n", currentPath)
		return answer(exitNothing)
	}
	err = baseline.Update(path, func(file *baseline.File) error {
		if err := errors.Join(checkOvertaken(file, accepted), checkErosion(c, file, accepted)); err != nil {
			return err
		}
		for _, e := range accepted {
			archive := cmp.Or(current.Sources[e.Source], file.Sources[e.Source])
			file.Accept(e, baseline.Acceptance{Time: time.Now().UTC(), Reason: reason, Release: c.Bool("release")})
			file.Keep(e.Source, archive)
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, e := range accepted {
		fmt.Fprintf(env.stdout, "%s is now held to %s\n", e.Key, page.Milliseconds(e.Median))
	}
	return nil
}

// checkOvertaken refuses results that are older than what they would replace.
func checkOvertaken(file *baseline.File, accepted []baseline.Entry) error {
	for _, e := range accepted {
		if now, ok := file.Find(e.Key); ok && now.Measured.After(e.Measured) {
			return fmt.Errorf("%s: its baseline was measured after these results, so that they were held to another one: run pawl gate again", e.Key)
		}
	}
	return nil
}

// readCurrent reads the results of the last gate run. Those of pawl bench have
// another form and no sources to rebuild.
func readCurrent(path string) (*baseline.File, error) {
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return baseline.New(), nil
	}
	current, err := baseline.Read(path)
	var problem *baseline.ProblemError
	if errors.As(err, &problem) && problem.Problem == baseline.Foreign {
		return nil, fmt.Errorf("%s was not written by pawl gate: run that first", path)
	}
	return current, err
}

// chosen returns the entries of the named kernels, or all.
func chosen(entries []baseline.Entry, names []string) []baseline.Entry {
	if len(names) == 0 {
		return entries
	}
	var found []baseline.Entry
	for _, e := range entries {
		if slices.Contains(names, e.Kernel) || slices.Contains(names, e.Origin) {
			found = append(found, e)
		}
	}
	return found
}

// checkErosion refuses what the next gate would fail: an acceptance beyond the
// erosion limit has to be declared a release.
func checkErosion(c *cli.Context, file *baseline.File, accepted []baseline.Entry) error {
	if c.Bool("release") {
		return nil
	}
	limits := map[string]float64{}
	if path := policyPath(c); path != "" {
		rules, err := policy.Read(path)
		if err != nil {
			return err
		}
		for _, k := range rules.Kernels {
			limits[k.Name] = k.Policy.Erosion
		}
	}
	for _, e := range accepted {
		oldest, ok := file.FindOldest(e.Key)
		if !ok {
			if oldest, ok = file.Find(e.Key); !ok {
				continue
			}
		}
		limit, ok := limits[e.Origin]
		if !ok {
			limit = policy.Default(e.Origin).Kernels[0].Policy.Erosion
		}
		if loss := e.Median/oldest.Median - 1; loss > limit {
			return fmt.Errorf("%s is %.1f %% slower than its oldest accepted release, more than the %.1f %% that erosion allows: accept it with --release to make it the new one", e.Key, 100*loss, 100*limit)
		}
	}
	return nil
}

// policyPath returns the policy file in use, or nothing.
func policyPath(c *cli.Context) string {
	if path := c.String("policy"); path != "" {
		return path
	}
	if _, err := os.Stat(policy.FileName); err != nil {
		return ""
	}
	return policy.FileName
}
