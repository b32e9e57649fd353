package gatecmd

import (
	"context"
	"fmt"
	"io"

	"pawl/cmd/pawl/console"
	"pawl/gate/winner"
	"pawl/internal/escape"
	"pawl/studies"
	study "pawl/studies/report"
)

// runStudy holds the winner of a study, or another point, to the baseline.
func (o *options) runStudy(ctx context.Context, kernels []string) error {
	kernel, err := console.AtMostOne(kernels, "kernel")
	if err != nil {
		return err
	}
	store, err := o.OpenStudies(ctx)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, done := o.Stoppable(ctx)
	defer done()
	outcome, err := o.HoldWinner(ctx, store, kernel)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(o.Stderr, "stopped; nothing was recorded, and the baseline is as it was")
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	}
	_, files, err := study.Publish(context.WithoutCancel(ctx), store, o.Out, o.Study)
	if err != nil {
		return err
	}
	if err := o.Show("pawl gate winner", 1, outcome, func(w io.Writer) { printWinner(w, outcome, files) }); err != nil {
		return err
	}
	return console.Answered(winnerCode(outcome.Gating.Standing, o.failUndecided))
}

func printWinner(w io.Writer, o winner.Outcome, files study.Files) {
	g := o.Gating
	fmt.Fprintf(w, "%s, workload %s, study %d, %s\n\n", o.Study.Kernel, g.Workload, o.Study.ID, g.Point)
	fmt.Fprintf(w, "against what you run today: %s\n%s\n", study.Against(g), escape.Line(g.Reason))
	if g.BaselinePoint != "" {
		fmt.Fprintf(w, "what you run today: %s, %s\n", g.BaselinePoint, o.Study.Environment.Objective.Text(g.Baseline))
	}
	for _, note := range g.Notes {
		fmt.Fprintf(w, "note: %s\n", escape.Line(note))
	}
	if g.Standing == studies.Faster {
		fmt.Fprintln(w, "The baseline is as it was: it moves when this is applied and gated.")
	} else {
		fmt.Fprintln(w, "The baseline is as it was.")
	}
	files.Text(w)
}
