package studycmd

import (
	"context"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/studies/across"
)

type acrossOptions struct {
	console.Common
	measured across.Options
}

func acrossCommand(env console.Environment) *cli.Command {
	o := acrossOptions{Common: console.In(env)}
	return &cli.Command{
		Name: "across", Usage: "measure a study's winner on the kernel's other workloads", ArgsUsage: "[STUDY]",
		Description: console.Details(
			"Checks the winner and the default in full on every other workload of the kernel and measures them\n"+
				"against each other, interleaved, in fresh processes; then writes the study's report again. What was\n"+
				"measured is kept: after an interruption, the same command continues. The last study when none is named.",
			"pawl studies across 3 --budget 5m",
			"0 done", "2 no studies, no winner, or no other workload", "3 internal or environment error", "64 usage",
			"130 stopped"),
		Flags: append(o.Flags("out", "db", "cache", "json"),
			console.StudyKernelFlag(&o.measured.Kernel),
			console.NumberOr("rounds", &o.measured.Rounds, 3, "the study's", "how many rounds on each workload"),
			console.TimeOr("budget", &o.measured.Budget, "no limit", "the `TIME` for all workloads")),
		Action: console.Action(o.runAcross),
	}
}

func (o *acrossOptions) runAcross(ctx context.Context, arguments []string) error {
	store, study, err := o.OpenStudy(ctx, arguments)
	if err != nil {
		return err
	}
	defer store.Close()
	ctx, interruption, done := o.Interruptible(ctx, o.Stderr, "the same command")
	defer done()
	interruption.Polite.Store(true)
	measured := o.measured
	measured.Tools, measured.Stop = o.Tools(), interruption.Stop.Done()
	measured.Begin = console.NewDisplay(o.Stderr).Across
	if err = across.Run(ctx, store, study.ID, measured); err != nil {
		return err
	}
	if _, err := concludeStudy(context.WithoutCancel(ctx), &o.Common, store, study.ID); err != nil {
		return err
	}
	if interruption.Stopped() {
		return console.Answer(console.ExitInterrupted)
	}
	return nil
}
