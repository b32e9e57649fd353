package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/baseline"
	"pawl/gate/policy"
	"pawl/gate/report"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
)

var (
	baselineFlag = &cli.StringFlag{Name: "baseline", Value: "results/baseline.json", Usage: "the `FILE` that performance is held to; reports go beside it"}
	policyFlag   = &cli.StringFlag{Name: "policy", DefaultText: policy.FileName + " where there is one", Usage: "the `FILE` that says what is gated and by which limits"}
)

// currentName is the file beside the baseline with the results of the last run.
const currentName = "current.json"

func gateCommand(env environment) *cli.Command {
	return &cli.Command{
		Name:      "gate",
		Usage:     "hold kernels to their baseline: wrong or slower fails, faster moves it",
		ArgsUsage: "[KERNEL|FOLDER...]",
		Description: details(
			"Checks each kernel of the policy, rebuilds its baseline, measures both interleaved in fresh\n"+
				"processes with an A/A control, and judges. Writes "+report.MarkdownName+" beside the baseline,\n"+
				"and the baseline itself where a gain is confirmed and nothing fails.",
			"pawl gate attention --policy gate.yaml",
			"0 improved or maintained", "1 regression or wrong", "2 no significant difference, new or inconclusive",
			"3 the machinery failed", "64 usage", "130 stopped, nothing changed"),
		Flags: append(gateFlags(), jsonFlag,
			&cli.BoolFlag{Name: "dry-run", DisableDefaultText: true, Usage: "compare and report, but leave the baseline and the history alone"}),
		Subcommands: []*cli.Command{gateSelftestCommand(env), gateSimulateCommand(env)},
		Action:      func(c *cli.Context) error { return runGate(c, env) },
	}
}

// gateFlags are what comparing on a device needs.
func gateFlags() []cli.Flag {
	return []cli.Flag{policyFlag, baselineFlag, backendFlag, compilerFlag, seedFlag, cacheFlag, timeoutFlag, compileFlag}
}

func runGate(c *cli.Context, env environment) error {
	if err := checkDeviceFlags(c); err != nil {
		return err
	}
	rules, err := readPolicy(c)
	if err != nil {
		return err
	}
	path := c.String("baseline")
	file, err := baseline.Read(path)
	if err != nil {
		return err
	}
	ctx, done := stoppable(c.Context, env)
	defer done()
	run := &gateRun{c: c, env: env, file: file, current: baseline.New()}
	defer run.residents.End()
	for _, k := range rules.Kernels {
		if err := run.kernel(ctx, k); err != nil {
			if ctx.Err() != nil {
				fmt.Fprintln(env.stderr, "stopped; the baseline is as it was")
				return answer(exitInterrupted)
			}
			return err
		}
	}
	return run.conclude(path, rules.Profile)
}

// readPolicy returns the policy of the kernels on the command line, or of all
// that the policy file names.
func readPolicy(c *cli.Context) (*policy.File, error) {
	path := policyPath(c)
	if path == "" {
		names := c.Args().Slice()
		if len(names) == 0 {
			names = []string{defaultKernel}
		}
		return policy.Default(names...), nil
	}
	file, err := policy.Read(path)
	if err != nil || c.NArg() == 0 {
		return file, err
	}
	chosen := &policy.File{Profile: file.Profile}
	for _, name := range c.Args().Slice() {
		before := len(chosen.Kernels)
		for _, k := range file.Kernels {
			if filepath.Clean(k.Name) == filepath.Clean(name) {
				chosen.Kernels = append(chosen.Kernels, k)
			}
		}
		if len(chosen.Kernels) == before {
			return nil, usagef("%s gates no kernel %q", path, name)
		}
	}
	return chosen, nil
}

// stoppable returns a context that ends with the user's first request to stop.
// Nothing needs to be finished politely: a gate writes only at its end.
func stoppable(ctx context.Context, env environment) (context.Context, func()) {
	ctx, cancel := context.WithCancel(ctx)
	signals, release := env.signals()
	finished := make(chan struct{})
	go func() {
		select {
		case <-signals:
			cancel()
		case <-finished:
		}
	}()
	return ctx, func() {
		close(finished)
		release()
		cancel()
	}
}

// gateRun is a gate under way.
type gateRun struct {
	c    *cli.Context
	env  environment
	file *baseline.File
	// current are the candidates as measured in this run.
	current *baseline.File
	report  report.Report
	// moving are the entries that become the baseline if nothing fails.
	moving []baseline.Entry
	// residents are shared by all sides of a comparison: on a GPU they are
	// measured in the same processes.
	residents objective.Residents
}

// kernel gates the workloads of one kernel.
func (r *gateRun) kernel(ctx context.Context, k policy.Kernel) error {
	workloads := k.Workloads
	if len(workloads) == 0 {
		workloads = []string{""}
	}
	for _, name := range workloads {
		began := time.Now()
		configuration, err := r.open(ctx, k, name)
		if err != nil {
			return err
		}
		// The candidate's, whatever comes of it; an embedded kernel has none.
		r.report.Commit = cmp.Or(configuration.backend.Environment().Commit, r.report.Commit)
		outcome, err := r.compare(ctx, configuration, k.Policy)
		configuration.close()
		if err != nil {
			return fmt.Errorf("gating %s: %w", k.Name, err)
		}
		outcome.result.Seconds = time.Since(began).Seconds()
		r.add(outcome)
	}
	return nil
}

// add takes a finished configuration into the report.
func (r *gateRun) add(o outcome) {
	r.report.Device = o.result.Device
	if o.entry.Median > 0 {
		r.current.Put(o.entry)
		r.current.Keep(o.entry.Source, o.source)
	}
	if o.moves {
		r.moving = append(r.moving, o.entry)
	}
	r.report.Results = append(r.report.Results, o.result)
	fmt.Fprintf(r.env.stderr, "%s: %s: %s\n", o.result.Config(), o.result.Verdict, escape.Line(o.result.Reason))
}

// conclude writes everything: reports always, the baseline only if nothing fails.
func (r *gateRun) conclude(path string, triggers []policy.Trigger) error {
	r.report.Time = time.Now().UTC()
	folder := filepath.Dir(path)
	if err := r.moveBaseline(path); err != nil {
		return err
	}
	// After the baseline: results that could not be concluded are not for accepting.
	if err := r.current.WriteResults(filepath.Join(folder, currentName)); err != nil {
		return err
	}
	switch {
	case r.report.Failed():
		r.report.Exit = exitNo
	case !r.report.Passed():
		r.report.Exit = exitNothing
	}
	paths, err := report.WriteAll(folder, &r.report, triggers)
	if err != nil {
		return err
	}
	if !r.c.Bool("dry-run") {
		if err := baseline.AppendHistory(baseline.HistoryPath(path), r.events()); err != nil {
			return err
		}
	}
	if err := r.stepSummary(); err != nil {
		return err
	}
	if r.c.Bool("json") {
		if err := page.JSON(r.env.stdout, &r.report); err != nil {
			return err
		}
	} else if err := r.print(paths); err != nil {
		return err
	}
	if r.report.Exit == exitOK {
		return nil
	}
	return answer(r.report.Exit)
}

// moveBaseline makes the improved and the new configurations the baseline, in the
// file as it is now: other gates may have moved others meanwhile. Where another one
// moved the same, its entry stays, because this run has not been held to it.
func (r *gateRun) moveBaseline(path string) error {
	if len(r.moving) == 0 || r.report.Failed() || r.c.Bool("dry-run") {
		return nil
	}
	overtaken := map[baseline.Key]bool{}
	err := baseline.Update(path, func(now *baseline.File) error {
		for _, e := range r.moving {
			was, _ := r.file.Find(e.Key)
			is, _ := now.Find(e.Key)
			if overtaken[e.Key] = !reflect.DeepEqual(was, is); overtaken[e.Key] {
				continue
			}
			now.Put(e)
			now.Keep(e.Source, r.current.Sources[e.Source])
		}
		return nil
	})
	if err != nil {
		return err
	}
	// Results that were not held to what is the baseline now are not for accepting.
	r.current.Entries = slices.DeleteFunc(r.current.Entries, func(e baseline.Entry) bool { return overtaken[e.Key] })
	for i := range r.report.Results {
		result := &r.report.Results[i]
		for _, e := range r.moving {
			switch {
			case result.Key != e.Key:
			case overtaken[e.Key]:
				result.Notes = append(result.Notes, "another run has moved this baseline meanwhile: it stays as that run left it; gate again to be held to it")
			default:
				result.Moved, r.report.Updated = true, true
			}
		}
	}
	return nil
}

func (r *gateRun) events() []baseline.Event {
	var events []baseline.Event
	for _, result := range r.report.Results {
		e := baseline.Event{
			Time: r.report.Time, Key: result.Key, Commit: r.report.Commit, Point: result.Point,
			Verdict: result.Verdict, Reason: result.Reason,
		}
		measured := result.Evidence != nil || result.Verdict == gate.New
		if entry, ok := r.current.Find(result.Key); ok && measured {
			e.Median, e.Interval = entry.Median, entry.Interval
		}
		if result.Evidence != nil {
			e.Change = &result.Evidence.Change
		}
		events = append(events, e)
	}
	return events
}

// stepSummary appends to the file that the CI server shows, where there is one.
func (r *gateRun) stepSummary() error {
	path := r.env.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("writing the step summary: %w", err)
	}
	return errors.Join(report.StepSummary(f, &r.report), f.Close())
}

func (r *gateRun) print(paths []string) error {
	w := r.env.stdout
	fmt.Fprintf(w, "%s\n\n", strings.ReplaceAll(report.Headline(&r.report), "**", ""))
	var rows [][]string
	for _, s := range r.report.Results {
		rows = append(rows, []string{s.Config(), page.Milliseconds(s.Baseline), page.Milliseconds(s.Current), report.Change(s), report.Interval(s), report.TailChange(s), string(s.Verdict)})
	}
	if err := page.Table(w, []string{"config", "baseline", "current", "change", "95 % interval", "p95", "verdict"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range r.report.Results {
		fmt.Fprintf(w, "%s: %s\n", s.Config(), escape.Line(s.Reason))
		if seen := report.Smallest(s); seen != "" {
			fmt.Fprintf(w, "  the smallest regression that would have been seen: %s\n", seen)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(w, "  note: %s\n", escape.Line(note))
		}
	}
	if r.report.Updated {
		fmt.Fprintf(w, "moved the baseline %s\n", r.c.String("baseline"))
	}
	for _, path := range paths {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
	return nil
}

// presetFlag chooses a policy where no file is asked for.
var presetFlag = &cli.StringFlag{Name: "preset", Value: gate.DefaultPreset, Usage: "the policy: " + strings.Join(gate.PresetNames(), ", ")}

func preset(c *cli.Context) (gate.Policy, error) {
	p, ok := gate.Presets[c.String("preset")]
	if !ok {
		return p, usagef("no preset %q; there are %s", c.String("preset"), strings.Join(gate.PresetNames(), ", "))
	}
	return p, nil
}
