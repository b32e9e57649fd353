package main

import (
	"context"
	"errors"
	"fmt"
	"io"

	"pawl/gate/policy"
	"pawl/gate/winner"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/studies"
	study "pawl/studies/report"
)

// runGateStudy holds the winner of a study, or another point, to the baseline.
func runGateStudy(ctx context.Context, env environment, o gateOptions) error {
	kernel, err := atMostOne(o.kernels, "kernel")
	if err != nil {
		return err
	}
	store, err := openStudies(ctx, env, o.out)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, done := stoppable(ctx, env)
	defer done()
	outcome, err := holdWinner(ctx, env, o, store, kernel)
	var none *winner.NoWinnerError
	switch {
	case errors.As(err, &none):
		return nothing{err}
	case errors.Is(err, studies.ErrNoStudy):
		return usage(err)
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(env.stderr, "stopped; nothing was recorded, and the baseline is as it was")
		return answer(exitInterrupted)
	case err != nil:
		return err
	}
	_, files, err := study.Publish(context.WithoutCancel(ctx), store, o.out, o.study)
	if err != nil {
		return err
	}
	if !o.json {
		printWinner(env.stdout, outcome, files)
	} else if err := page.JSON(env.stdout, outcome); err != nil {
		return err
	}
	return answered(winnerCode(outcome.Gating.Standing, o.strict))
}

// holdWinner gates a point of a study as the flags say, and records what came of it.
func holdWinner(ctx context.Context, env environment, o gateOptions, store *studies.Store, kernel string) (winner.Outcome, error) {
	commit, err := base(ctx, env, o)
	if err != nil {
		return winner.Outcome{}, err
	}
	var rules *policy.File
	if path := policyPath(o.policy); path != "" {
		if rules, err = policy.Read(path); err != nil {
			return winner.Outcome{}, err
		}
	}
	b, err := o.builder(env)
	if err != nil {
		return winner.Outcome{}, err
	}
	defer b.Close()
	return winner.Gate(ctx, b, store, winner.Options{
		Study: o.study, Kernel: kernel, Workload: o.workload, At: o.at, Policy: rules, Baseline: o.baseline, Base: commit,
		Seed: o.seed, LockClocks: o.lockClocks, Observe: countRounds(env),
	})
}

// winnerCode is the exit code for a point of a study, as for any gate.
func winnerCode(s studies.Standing, strict bool) int {
	switch {
	case s == studies.Refused, s == studies.Undecided && strict:
		return exitNo
	case s == studies.Undecided:
		return exitNothing
	}
	return exitOK
}

func printWinner(w io.Writer, o winner.Outcome, files study.Files) {
	g := o.Gating
	fmt.Fprintf(w, "%s, workload %s, study %d, %s\n\n", o.Study.Kernel, g.Workload, o.Study.ID, g.Point)
	fmt.Fprintf(w, "against what you run today: %s\n%s\n", study.Against(g), escape.Line(g.Reason))
	if g.BaselinePoint != "" {
		fmt.Fprintf(w, "what you run today: %s, %s\n", g.BaselinePoint, o.Study.Environment.Measure.Text(g.Baseline))
	}
	for _, note := range g.Notes {
		fmt.Fprintf(w, "note: %s\n", escape.Line(note))
	}
	if g.Standing == studies.Faster {
		fmt.Fprintln(w, "The baseline is as it was: it moves when this is applied and gated.")
	} else {
		fmt.Fprintln(w, "The baseline is as it was.")
	}
	printFiles(w, files)
}

func printFiles(w io.Writer, files study.Files) {
	for _, path := range files.Written {
		fmt.Fprintf(w, "wrote %s\n", path)
	}
	if files.Removed != "" {
		fmt.Fprintf(w, "removed %s, the header of what is no longer suggested\n", files.Removed)
	}
}

// countRounds says how far a comparison is. A log has no bar: one line per ten rounds.
func countRounds(env environment) func(kernel, workload string, round, ceiling int) {
	return func(kernel, workload string, round, ceiling int) {
		if round%10 == 0 {
			fmt.Fprintf(env.stderr, "%s %s: %d of up to %d rounds\n", kernel, workload, round, ceiling)
		}
	}
}
