package cicmd

import (
	"context"
	"errors"
	"fmt"
	"os/signal"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/gate/reporting"
)

func runnerFlag(to *string) cli.Flag {
	return console.Text("file", to, runner.FileName,
		"the `FILE` with the commands, the price and the longest time awake")
}

func wakeCommand(env console.Environment) *cli.Command {
	var file string
	var leave bool
	return &cli.Command{
		Name:  "wake",
		Usage: "wake the machine that kernels run on, and guard it until it sleeps",
		Description: console.Details(
			"Runs the command wake of "+runner.FileName+
				" without a shell, then check until it succeeds; a machine that does not\n"+
				"answer in time is put to sleep again. Then it guards the machine until it no longer answers, its\n"+
				"longest time is over, or Ctrl-C, and puts it to sleep. --leave returns when it answers, for a\n"+
				"workflow whose jobs guard and sleep do that; they need the output machine in "+runner.Variable+".",
			"pawl ci wake --file runner.yaml", "0 it sleeps, or with --leave it answers",
			"3 it does not, and was put to sleep", "64 usage", "130 stopped before it answered, and put to sleep"),
		Flags: []cli.Flag{runnerFlag(&file), console.Switch("leave", &leave,
			"return when it answers: pawl ci guard and pawl ci sleep are run elsewhere")},
		Action: console.Alone(func(ctx context.Context) error { return wake(ctx, env, file, leave) }),
	}
}

func guardCommand(env console.Environment) *cli.Command {
	var file string
	return &cli.Command{
		Name:  "guard",
		Usage: "wait until the machine sleeps, and put it to sleep when its time is over",
		Description: console.Details(
			"For a job beside the one that measures, after pawl ci wake --leave. Needs its output in "+runner.Variable+";\n"+
				"without it, the longest time begins now.",
			"pawl ci guard --file runner.yaml", "0 it sleeps", "3 it may still be awake", "64 usage",
			"130 stopped; the machine is as it was"),
		Flags: []cli.Flag{runnerFlag(&file)},
		Action: console.Alone(func(ctx context.Context) error {
			c, err := runner.Read(file)
			if err != nil {
				return err
			}
			ctx, done := env.StoppableOnce(ctx)
			defer done()
			woke := time.Now()
			if a := runner.FromEnvironment(env.Getenv, env.Notice); a != nil {
				woke = a.Woke
			}
			err = c.Guard(ctx, woke, env.Notice)
			if ctx.Err() != nil {
				return console.Answer(console.ExitInterrupted)
			}
			return err
		}),
	}
}

func sleepCommand(env console.Environment) *cli.Command {
	var file string
	return &cli.Command{
		Name:  "sleep",
		Usage: "put the machine to sleep again, and say what it cost",
		Description: console.Details(
			"Runs the command sleep of "+runner.FileName+
				" until it succeeds, a few times, regardless of the recorded machine,\n"+
				"and adds the time awake and its cost to the step summary. When it woke is in "+runner.Variable+".\n"+
				"Signals do not stop it.",
			"pawl ci sleep --file runner.yaml", "0 it sleeps", "3 it may still be awake", "64 usage"),
		Flags: []cli.Flag{runnerFlag(&file)},
		Action: console.Alone(func(ctx context.Context) error {
			c, err := runner.Read(file)
			if err != nil {
				return err
			}
			// It is the last thing that a job does, and what costs money when it is left out. Caught
			// and not ignored: what is ignored, the commands would ignore as well.
			_, release := env.Signals()
			defer release()
			if err := c.Stop(ctx, env.Notice); err != nil {
				return err
			}
			return sumUp(env, runner.FromEnvironment(env.Getenv, env.Notice))
		}),
	}
}

func wake(ctx context.Context, env console.Environment, file string, leave bool) error {
	c, err := runner.Read(file)
	if err != nil {
		return err
	}
	ctx, done := env.StoppableOnce(ctx)
	defer done()
	ctx, release := signal.NotifyContext(ctx, syscall.SIGHUP) // a terminal that is closed forgets nothing either
	defer release()
	a, err := c.Start(ctx, env.Notice)
	if err != nil && ctx.Err() != nil {
		env.Notice(err.Error())
		return console.Answer(console.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	fmt.Fprintf(env.Stdout, "the machine answers after %s; it is put to sleep at %s at the latest\n",
		time.Since(a.Woke).Round(time.Second), a.Woke.Add(c.Longest).Format(time.RFC3339))
	err = errors.Join(
		ci.Output(env.Getenv("GITHUB_OUTPUT"), "machine", a.Line()),
		ci.Output(env.Getenv("GITHUB_ENV"), runner.Variable, a.Line()))
	if err == nil && leave {
		return nil
	}
	if err == nil {
		err = c.Guard(ctx, a.Woke, env.Notice)
	}
	if err != nil {
		if errors.Is(err, context.Canceled) { // how a person ends it
			err = nil
		}
		err = errors.Join(err, c.Stop(context.WithoutCancel(ctx), env.Notice))
	}
	return errors.Join(err, sumUp(env, a))
}

// sumUp prints what a machine has taken, and adds it to the summary of the step.
func sumUp(env console.Environment, a *reporting.Cost) error {
	cost := a.Until(time.Now())
	if cost == nil {
		fmt.Fprintln(env.Stdout, "the machine sleeps; when it woke was not recorded")
		return nil
	}
	cost.Asleep = true
	fmt.Fprintln(env.Stdout, cost)
	return ci.Summarise(env.Getenv("GITHUB_STEP_SUMMARY"), cost.Markdown()+"\n\n")
}
