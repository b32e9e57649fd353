// Package gate has the commands that judge: the gate with all that belongs to it, baselines,
// comparisons of files, and other implementations beside ours. The verdicts themselves are
// made in pawl/gate.
package gatecmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/gate/policy"
	"pawl/gate/program"
	"pawl/gate/ratchet"
	"pawl/gate/reporting"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/devices"
)

type options struct {
	console.GateFlags
	dryRun, failUndecided bool
	budget                time.Duration
	shard                 int
	join                  string
	program               programOptions
}

func Command(env console.Environment) *cli.Command {
	o := options{GateFlags: console.GateFlags{Common: console.In(env)}}
	return &cli.Command{
		Name:      "gate",
		Usage:     "compare kernels with their baseline: wrong or slower fails, faster moves it",
		ArgsUsage: "[KERNEL|FOLDER...]",
		Description: console.Details(
			"Checks each kernel of the policy, rebuilds its baseline, measures both interleaved in fresh\n"+
				"processes with an A/A control, and judges. Writes "+reporting.MarkdownName+" beside the baseline,\n"+
				"and updates the baseline if a second build has shown a gain and nothing fails. What is\n"+
				"inconclusive is compared a second time.\n\n"+
				"With --base a change is compared with that commit, built here, and checked by its rules too.\n\n"+
				"With --study it compares the winner of a study (or the point of --at) with the baseline. The\n"+
				"verdict is recorded and shown on the study's page. With --study or --at no baseline moves: a\n"+
				"point that was found is not in use until somebody applies it.\n\n"+
				"With --on, a device of a farm measures, before any queued searches. See docs/farm.md.\n\n"+
				"Behind -- stands a program instead: it is run in the base's tree and in this one, interleaved, and\n"+
				"every row that it prints is judged. {OUT} in it is the file that it writes.",
			"pawl gate attention --policy gate.yaml",
			"0 no regression shown: improved, maintained or no significant difference",
			"1 regression, wrong, vanished, or checks that a branch changes; with --fail-undecided also undecided",
			"2 nothing could be decided: new, inconclusive, infeasible",
			"3 internal or environment error", "64 usage", "130 stopped, the baseline is as it was"),
		Flags: append(o.Flags("workload", "at", "out", "db", "backend", "compiler", "cache", "seed", "order-seed",
			"lock-clocks",
			"run-timeout", "compile-timeout", "json"), console.PolicyFlag(&o.Policy), console.BaselineFlag(&o.Baseline),
			console.TextOr("on", &o.On, "this machine",
				"let a farm's machines with this `LABEL` compile and measure, a part of their device's name such as h200; "+
					"--db says which farm"),
			console.FarmFlag(&o.Farm),
			console.TextOr("base", &o.Base, "in a pull request, the merge base",
				"compare with this `COMMIT` instead of the baseline's file, and move nothing"),
			&cli.DurationFlag{
				Name:        "budget",
				Destination: &o.budget,
				DefaultText: "as long as it takes",
				Usage:       "the `TIME` for the whole run, which its comparisons share",
			},
			console.Number("shard", &o.shard, 1, 0,
				"compare only what job `NUMBER` of the policy's shards has, and move nothing"),
			console.Text("join", &o.join, "",
				"judge by the results of all shards, which are in this `FOLDER` as results-1, results-2, ..."),
			&cli.Int64Flag{
				Name:        "study",
				Destination: &o.Study,
				DefaultText: "none",
				Action: func(_ *cli.Context, number int64) error {
					if number < 1 {
						return console.Usagef("--study %d is not the number of a study; see %s", number, o.Pawl("studies", "list"))
					}
					return nil
				},
				Usage: "compare the winner of the study with this `NUMBER` with the baseline",
			},
			console.Text("before", &o.program.before, "", "behind --: the `COMMAND` for the old side, instead of --base"),
			console.Text("build", &o.program.build, "", "behind --: the `COMMAND` that builds the program, once in each tree"),
			console.Text("rows", &o.program.rows, "", "behind --: compare only rows whose name this `PATTERN` finds"),
			console.Number("rounds", &o.program.rounds, 1, program.DefaultRounds,
				"behind --: how many rounds to measure; many rows may need more"),
			console.Text("key", &o.program.choice.Key, "", "behind --: the `COLUMN` with the times, or the PATH of their list"),
			console.Text("unit", &o.program.choice.Unit, "", "behind --: the `UNIT` of those times: ns, us, ms or s"),
			presetFlag(&o.program.preset),
			console.Switch("dry-run", &o.dryRun, "compare and report, but leave the baseline and the history alone"),
			console.Switch("fail-undecided", &o.failUndecided, "fail if anything but a new kernel or workload is undecided")),
		Subcommands: []*cli.Command{bisectCommand(env), selftestCommand(env), simulateCommand(env)},
		Action: console.Action(func(ctx context.Context, arguments []string) error {
			if o.On == "" && o.Farm != "" {
				return console.Usagef("--farm is for a farm: --on LABEL says which of its machines")
			}
			if o.Command != nil {
				return o.runProgram(ctx, arguments)
			}
			if o.Study > 0 {
				return o.runStudy(ctx, arguments)
			}
			return o.runGate(ctx, arguments)
		}),
	}
}

func (o *options) runGate(ctx context.Context, kernels []string) error {
	rules, err := console.ReadPolicy(o.Policy, kernels)
	if err != nil {
		return o.problem(err)
	}
	rules = rules.At(o.Workload, o.At)
	ctx, done := o.Stoppable(ctx)
	defer done()
	b, setting, end, err := o.Setting(ctx)
	if err != nil {
		return o.problem(err)
	}
	defer end()
	r, written, err := ratchet.Run(ctx, b, ratchet.Options{
		Setting: setting, Policy: rules, PolicyFile: cmp.Or(o.Policy, policy.FileName),
		Within: o.budget, Shard: o.shard, Join: o.join,
		Only: ratchet.Only{Kernels: kernels, Workload: o.Workload, At: o.At}, Backend: o.Backend,
		DryRun: o.dryRun || o.At != "", Strict: o.failUndecided, Again: o.again, Exit: gateCode,
		Cost: runner.FromEnvironment(o.Getenv, o.Notice).Until, Observer: o,
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(o.Stderr, "stopped; the baseline is as it was")
		return console.Answer(console.ExitInterrupted)
	case r == nil || len(r.Results) == 0:
		return o.problem(err)
	}
	if err := errors.Join(err, o.stepSummary(r),
		o.Print(r.JSON, func(w io.Writer) { printGate(w, o.Baseline, r, written) })); err != nil {
		return err
	}
	return console.Answered(r.Exit)
}

// Finished prints a result.
func (o *options) Finished(s reporting.Result) {
	fmt.Fprintf(o.Stderr, "%s: %s: %s\n", s.Config(), s.Verdict, escape.Line(s.Reason))
}

// Warn prints what a person must know about the whole run.
func (o *options) Warn(sentence string) { o.Notice(escape.Line(sentence)) }

// problem tells a job why nothing was compared, on its page and by a report that the comment is made
// from. At a desk the error is enough, and the report of the last run stays.
func (o *options) problem(err error) error {
	if err == nil || o.Getenv("GITHUB_STEP_SUMMARY") == "" {
		return err
	}
	r := &reporting.Report{Time: time.Now().UTC(), Problem: escape.Line(err.Error()), Exit: console.ExitMachinery}
	_, failed := reporting.WriteAll(filepath.Dir(o.Baseline), r)
	return errors.Join(err, failed, o.stepSummary(r))
}

// again is the command that repeats one comparison.
func (o *options) again(words ...any) string {
	words = append(words, "--seed", o.Seed, "--order-seed", o.Order())
	for _, flag := range []struct{ name, value, usual string }{
		{"backend", o.Backend, devices.Auto}, {"compiler", o.Compiler, devices.Compilers[0]}, {"on", o.On, ""},
	} {
		if flag.value != flag.usual {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	if o.LockClocks > 0 {
		words = append(words, "--lock-clocks", o.LockClocks)
	}
	return o.Pawl(words...)
}

// stepSummary appends to the file that the CI server shows, where there is one.
func (o *options) stepSummary(r *reporting.Report) error {
	var text strings.Builder
	return errors.Join(reporting.StepSummary(&text, r), ci.Summarise(o.Getenv("GITHUB_STEP_SUMMARY"), text.String()),
		ci.Output(o.Getenv("GITHUB_OUTPUT"), "headline", reporting.PlainHeadline(r)))
}

func printGate(w io.Writer, baseline string, r *reporting.Report, written []string) {
	fmt.Fprintf(w, "%s\n\n", reporting.PlainHeadline(r))
	columns := []string{"config", "baseline", "current", "change", "95 % interval", "p95", "verdict"}
	page.Table(w, columns, reporting.Rows(r.Results, plain, columns...))
	fmt.Fprintln(w)
	for _, s := range r.Results {
		fmt.Fprintf(w, "%s: %s\n", s.Config(), escape.Line(s.Reason))
		if seen := s.Smallest(); seen != "" {
			fmt.Fprintf(w, "  the smallest regression that would have been seen: %s\n", seen)
		}
		for _, note := range s.Notes {
			fmt.Fprintf(w, "  note: %s\n", escape.Line(note))
		}
	}
	if r.Cost != nil {
		fmt.Fprintln(w, r.Cost)
	}
	if r.Updated {
		fmt.Fprintf(w, "moved the baseline %s\n", baseline)
	}
	for _, path := range written {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
}

// plain leaves text to the table, which escapes it.
func plain(text string) string { return text }

// presetFlag chooses a policy where no file is asked for.
func presetFlag(to *string) cli.Flag {
	return console.TextOr("preset", to, gate.DefaultPreset, "the policy: "+strings.Join(gate.PresetNames(), ", "))
}

func preset(name string) (gate.Policy, error) {
	p, ok := gate.Presets[cmp.Or(name, gate.DefaultPreset)]
	if !ok {
		return p, console.Usagef("no preset %q; there are %s", name, strings.Join(gate.PresetNames(), ", "))
	}
	return p, nil
}
