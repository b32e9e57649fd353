package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/gate"
	"pawl/gate/policy"
	"pawl/gate/ratchet"
	"pawl/gate/report"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies/tune"
)

// gateOptions are the flags of pawl gate.
type gateOptions struct {
	common
	kernels          []string
	policy, baseline string
	base             string
	dryRun, strict   bool
	study            int64 // whose winner is gated; 0 for the policy's kernels
}

func gateCommand(env environment) *cli.Command {
	var o gateOptions
	return &cli.Command{
		Name:      "gate",
		Usage:     "hold kernels to their baseline: wrong or slower fails, faster moves it",
		ArgsUsage: "[KERNEL|FOLDER...]",
		Description: details(
			"Checks each kernel of the policy, rebuilds its baseline, measures both interleaved in fresh\n"+
				"processes with an A/A control, and judges. Writes "+report.MarkdownName+" beside the baseline,\n"+
				"and the baseline itself where a gain is confirmed and nothing fails.\n\n"+
				"With --study the winner of a study (or the point of --at) is held to the baseline instead. The\n"+
				"verdict is recorded and stands on the study's page. With --study or --at no baseline moves: a\n"+
				"point that was found is not what is run until somebody applies it.",
			"pawl gate attention --policy gate.yaml",
			"0 no regression shown: improved, maintained or no significant difference", "1 regression or wrong; with --strict also what would be 2",
			"2 nothing could be decided: new, incomparable, vanished, inconclusive or infeasible",
			"3 pawl could not do its work", "64 usage", "130 stopped, the baseline is as it was"),
		Flags: append(o.flags("workload", "at", "out", "backend", "compiler", "cache", "seed", "lock-clocks", "run-timeout", "compile-timeout", "json"), policyFlag(&o.policy), baselineFlag(&o.baseline),
			&cli.StringFlag{Name: "base", Destination: &o.base, DefaultText: "in a pull request, where its branch left the other", Usage: "hold to the baseline of this `COMMIT` instead of the file, and move nothing"},
			&cli.Int64Flag{Name: "study", Destination: &o.study, DefaultText: "none", Action: func(_ *cli.Context, number int64) error {
				if number < 1 {
					return usagef("--study %d is not the number of a study; see pawl studies list", number)
				}
				return nil
			}, Usage: "hold the winner of the study with this `NUMBER` to the baseline"},
			&cli.BoolFlag{Name: "dry-run", Destination: &o.dryRun, DisableDefaultText: true, Usage: "compare and report, but leave the baseline and the history alone"},
			&cli.BoolFlag{Name: "strict", Destination: &o.strict, DisableDefaultText: true, Usage: "fail where nothing could be decided"}),
		Subcommands: []*cli.Command{gateBisectCommand(env), gatePlanCommand(env), gateSelftestCommand(env), gateSimulateCommand(env)},
		Action: action(func(ctx context.Context, arguments []string) error {
			o.kernels = arguments
			if o.study > 0 {
				return runGateStudy(ctx, env, o)
			}
			return runGate(ctx, env, o)
		}),
	}
}

func runGate(ctx context.Context, env environment, o gateOptions) error {
	rules, err := readPolicy(o.policy, o.kernels)
	if err != nil {
		return err
	}
	rules = rules.At(o.workload, o.at)
	if o.base, err = base(ctx, env, o); err != nil {
		return err
	}
	b, err := o.builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, done := stoppable(ctx, env)
	defer done()
	r, written, err := ratchet.Run(ctx, b, ratchet.Options{
		Policy: rules, PolicyFile: cmp.Or(o.policy, policy.FileName), Baseline: o.baseline, Base: o.base, Partial: len(o.kernels) > 0 || o.workload != "", Backend: o.backend, Seed: o.seed, LockClocks: o.lockClocks, DryRun: o.dryRun || o.at != "", Strict: o.strict, Flags: o.repeated(), Exit: gateCode, Cost: machineState(env).Cost,
		Finished: func(s report.Result) {
			fmt.Fprintf(env.stderr, "%s: %s: %s\n", s.Config(), s.Verdict, escape.Line(s.Reason))
		},
		Warn:    func(sentence string) { fmt.Fprintf(env.stderr, "pawl: %s\n", escape.Line(sentence)) },
		Observe: countRounds(env),
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(env.stderr, "stopped; the baseline is as it was")
		return answer(exitInterrupted)
	case r == nil || len(r.Results) == 0:
		return err
	}
	if err := errors.Join(err, stepSummary(env, r), printGate(env, o, r, written)); err != nil {
		return err
	}
	return answered(r.Exit)
}

// repeated are the flags of the command that repeats one comparison.
func (o gateOptions) repeated() []string {
	words := []string{"--seed", fmt.Sprint(o.seed)}
	for _, flag := range []struct{ name, value, usual string }{
		{"policy", o.policy, ""}, {"baseline", o.baseline, defaultBaseline}, {"backend", o.backend, devices.Auto}, {"compiler", o.compiler, devices.Compilers[0]},
	} {
		if flag.value != flag.usual {
			words = append(words, "--"+flag.name, flag.value)
		}
	}
	if o.lockClocks > 0 {
		words = append(words, "--lock-clocks", fmt.Sprint(o.lockClocks))
	}
	return words
}

// base returns the commit whose baseline counts. In a pull request that is by default where
// its branch left the branch that it is to be merged into.
func base(ctx context.Context, env environment, o gateOptions) (string, error) {
	if target := env.getenv("GITHUB_BASE_REF"); o.base == "" && target != "" {
		return ratchet.MergeBase(ctx, o.baseline, "refs/remotes/origin/"+target)
	}
	return o.base, nil
}

// readPolicy returns the policy of the named kernels, or of all that the policy file
// names. Without a path and without a file of the usual name, the kernels have the
// default policy.
func readPolicy(path string, names []string) (*policy.File, error) {
	if path = policyPath(path); path == "" {
		if len(names) == 0 {
			names = []string{tune.DefaultKernel}
		}
		return policy.Default(names...), nil
	}
	file, err := policy.Read(path)
	if err != nil || len(names) == 0 {
		return file, err
	}
	chosen, missing := file.Of(names)
	if missing != "" {
		return nil, usagef("%s gates no kernel %q", path, missing)
	}
	return chosen, nil
}

// policyPath returns the policy file in use, or nothing.
func policyPath(path string) string {
	if path != "" {
		return path
	}
	if _, err := os.Stat(policy.FileName); err != nil {
		return ""
	}
	return policy.FileName
}

// builder makes configurations as the flags say.
func (o *common) builder(env environment) (*ratchet.Builder, error) {
	tools := o.tools(env)
	folder, err := tools.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &ratchet.Builder{
		Machine: devices.Here(tools), Cache: folder, Version: version(),
		Options: objective.Options{Seed: o.seed, RunTimeout: o.runTimeout, Caches: worker.Caches(o.caches)},
	}, nil
}

// stepSummary appends to the file that the CI server shows, where there is one.
func stepSummary(env environment, r *report.Report) error {
	path := env.getenv("GITHUB_STEP_SUMMARY")
	if path == "" {
		return nil
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return fmt.Errorf("writing the step summary: %w", err)
	}
	return errors.Join(report.StepSummary(f, r), f.Close())
}

func printGate(env environment, o gateOptions, r *report.Report, written []string) error {
	w := env.stdout
	if o.json {
		return page.JSON(w, r)
	}
	fmt.Fprintf(w, "%s\n\n", strings.ReplaceAll(report.Headline(r), "**", ""))
	var rows [][]string
	for _, s := range r.Results {
		c := s.Cells()
		rows = append(rows, []string{s.Config(), c.Baseline, c.Current, c.Change, c.Interval, c.P95, string(s.Verdict)})
	}
	if err := page.Table(w, []string{"config", "baseline", "current", "change", "95 % interval", "p95", "verdict"}, rows); err != nil {
		return err
	}
	fmt.Fprintln(w)
	for _, s := range r.Results {
		fmt.Fprintf(w, "%s: %s\n", s.Config(), escape.Line(s.Reason))
		if seen := report.Smallest(s); seen != "" {
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
		fmt.Fprintf(w, "moved the baseline %s\n", o.baseline)
	}
	for _, path := range written {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
	return nil
}

// defaultBaseline is the file that performance is held to where none is named.
const defaultBaseline = "results/baseline.json"

func baselineFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "baseline", Value: defaultBaseline, Destination: to, Usage: "the `FILE` that performance is held to; reports go beside it"}
}

func policyFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "policy", Destination: to, DefaultText: policy.FileName + " where there is one", Usage: "the `FILE` that says what is gated and by which limits"}
}

// presetFlag chooses a policy where no file is asked for.
func presetFlag(to *string) cli.Flag {
	return &cli.StringFlag{Name: "preset", Value: gate.DefaultPreset, Destination: to, Usage: "the policy: " + strings.Join(gate.PresetNames(), ", ")}
}

func preset(name string) (gate.Policy, error) {
	p, ok := gate.Presets[name]
	if !ok {
		return p, usagef("no preset %q; there are %s", name, strings.Join(gate.PresetNames(), ", "))
	}
	return p, nil
}
