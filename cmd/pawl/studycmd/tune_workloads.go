package studycmd

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/devices"
	"pawl/studies/report"
	"pawl/studies/tune"
)

// tuneWorkloads tunes several workloads of a kernel, one after the other, each in a study of its
// own. What goes wrong with one does not keep the others from being tuned.
func (o *tuneOptions) tuneWorkloads(ctx context.Context, display *console.Display,
	interruption *console.Interruption) error {
	names, err := tune.Workloads(ctx, o.Tools(), o.asked.Kernel, o.Backend, o.Workload)
	if err != nil {
		return err
	}
	budget := o.asked.Study.Budget / time.Duration(len(names))
	if budget > 0 {
		fmt.Fprintf(o.Stderr, "%s, %v for each\n", page.Count(len(names), "workload"), budget.Round(time.Millisecond))
	}
	code := console.ExitOK
	var failed, unconfirmed []string
	for _, name := range names {
		each := *o
		each.Workload, each.asked.Study.Budget = name, budget
		verdict, err := each.tuneOne(ctx, display, interruption)
		var result console.Answer
		switch {
		case errors.As(err, new(*devices.ArgumentError)):
			return err
		case errors.As(err, &result) && result == console.ExitInterrupted, interruption.Stopped():
			return console.Answer(console.ExitInterrupted)
		case ctx.Err() != nil:
			return err
		case errors.As(err, &result):
			code = max(code, int(result))
		case err != nil:
			o.Notice(fmt.Sprintf("workload %s: %v", name, err))
			failed = append(failed, name)
		}
		if verdict == report.Unconfirmed || verdict == report.Nothing {
			unconfirmed = append(unconfirmed, name)
		}
		fmt.Fprintln(o.Stdout)
	}
	if len(failed) > 0 {
		return fmt.Errorf("%d of %s could not be tuned: %s", len(failed), page.Count(len(names), "workload"),
			strings.Join(failed, ", "))
	}
	if !o.JSON && len(names) > 1 {
		o.printNext(unconfirmed)
	}
	return console.Answered(code)
}

// printNext says what to do after several workloads were tuned: a promising winner is enough for dispatch, which
// measures all of them together.
func (o *tuneOptions) printNext(unconfirmed []string) {
	if len(unconfirmed) > 0 {
		fmt.Fprintf(o.Stdout, "No winner is confirmed for %s. The page of each names the command that measures longer.\n",
			strings.Join(unconfirmed, ", "))
		return
	}
	words := []any{"dispatch"}
	if o.asked.Kernel != "" {
		words = append(words, escape.File(o.asked.Kernel))
	}
	if o.Workload != tune.AllWorkloads {
		words = append(words, "--workload", o.Workload)
	}
	if o.Backend != devices.Auto {
		words = append(words, "--backend", o.Backend)
	}
	fmt.Fprintf(o.Stdout, "Next, the few points that are worth shipping: %s\n", o.Pawl(words...))
}
