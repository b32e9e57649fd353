package ci

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate/ci"
	"pawl/gate/ci/runner"
	"pawl/gate/report"
)

// machineOptions are the flags of pawl ci wake, sleep and guard.
type machineOptions struct {
	runner, state, report string
	detached              bool
}

func (o *machineOptions) flags(more ...cli.Flag) []cli.Flag {
	return append([]cli.Flag{
		&cli.StringFlag{
			Name:        "runner",
			Value:       runner.FileName,
			Destination: &o.runner,
			Usage:       "the `FILE` with the commands, the price and the longest time awake",
		},
		&cli.StringFlag{
			Name:        "state",
			Destination: &o.state,
			DefaultText: "below the user's cache folder",
			Usage:       "the `FILE` that remembers when the machine woke",
		},
	}, more...)
}

func wakeCommand(env console.Environment) *cli.Command {
	var o machineOptions
	return &cli.Command{
		Name:  "wake",
		Usage: "wake the machine that kernels run on, and wait until it answers",
		Description: console.Details(
			"Runs the command wake of "+runner.FileName+" without a shell, then check until it succeeds. Where that does not\n"+
				"happen in time, the machine is put to sleep again. A guard that outlives the job puts it to sleep after\n"+
				"the longest time. Later steps have the state in "+runner.Variable+", later jobs in the output machine.",
			"pawl ci wake --runner runner.yaml", "0 it answers", "3 it does not, and was put to sleep", "64 usage",
			"130 stopped, and put to sleep"),
		Flags:  o.flags(),
		Action: console.Alone(func(ctx context.Context) error { return wake(ctx, env, o) }),
	}
}

func sleepCommand(env console.Environment) *cli.Command {
	var o machineOptions
	return &cli.Command{
		Name:  "sleep",
		Usage: "put the machine to sleep again, and say what it cost",
		Description: console.Details(
			"Runs the command sleep of "+runner.FileName+
				" until it succeeds, a few times, whatever is known about the machine,\n"+
				"ends the guard, and adds the time awake and its cost to the step summary and to the gate's report.\n"+
				"A job on another machine takes the state from "+runner.Variable+". Signals do not stop it.",
			"pawl ci sleep --runner runner.yaml", "0 it sleeps", "3 it may still be awake", "64 usage"),
		Flags: o.flags(
			&cli.StringFlag{
				Name:        "report",
				Value:       filepath.Join("results", report.JSONName),
				Destination: &o.report,
				Usage:       "the gate's report to add the cost to, where this `FILE` is there",
			}),
		Action: console.Alone(func(ctx context.Context) error { return sleepMachine(ctx, env, o) }),
	}
}

func guardCommand(env console.Environment) *cli.Command {
	var o machineOptions
	return &cli.Command{
		Name:  "guard",
		Usage: "wait until the machine sleeps, and put it to sleep when its time is over",
		Description: console.Details(
			"For a job beside the one that measures: a runner that GitHub lends ends with its job, and the guard that\n"+
				"pawl ci wake starts ends with it. Needs the state in "+runner.Variable+".",
			"pawl ci guard --runner runner.yaml", "0 it sleeps", "3 it may still be awake", "64 usage",
			"130 stopped; the machine is as it was"),
		Flags: o.flags(&cli.BoolFlag{
			Name:        "detached",
			Destination: &o.detached,
			Hidden:      true,
			Usage:       "be the guard that pawl ci wake starts",
		}),
		Action: console.Alone(func(ctx context.Context) error { return guardMachine(ctx, env, o) }),
	}
}

// machine reads the file.
func (o machineOptions) machine(env console.Environment) (m runner.Machine, err error) {
	if m.Config, err = runner.Read(o.runner); err != nil {
		return m, err
	}
	m.Say = env.Notice
	if m.State = o.state; m.State == "" {
		if m.State, err = m.Config.StatePath(); err != nil {
			return m, err
		}
	}
	if m.State, err = filepath.Abs(m.State); err != nil {
		return m, err
	}
	m.Known = runner.FromEnvironment(env.Getenv, env.Notice)
	program, err := os.Executable()
	m.Guard = []string{program, "ci", "guard", "--detached"}
	return m, err
}

func wake(ctx context.Context, env console.Environment, o machineOptions) error {
	m, err := o.machine(env)
	if err != nil {
		return err
	}
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	began := time.Now()
	s, err := m.Wake(ctx)
	if err != nil {
		if !s.Woke.IsZero() {
			err = errors.Join(err, sumUp(env, s))
		}
		if ctx.Err() != nil && !s.Awake() {
			env.Notice(err.Error())
			return console.Answer(console.ExitInterrupted)
		}
		return err
	}
	fmt.Fprintf(env.Stdout, "the machine answers after %s; it is put to sleep at %s at the latest\n",
		time.Since(began).Round(time.Second), s.Longest.Format(time.RFC3339))
	return errors.Join(
		ci.Output(env.Getenv("GITHUB_OUTPUT"), "machine", s.Text()),
		ci.Output(env.Getenv("GITHUB_ENV"), runner.Variable, s.Text()))
}

func sleepMachine(ctx context.Context, env console.Environment, o machineOptions) error {
	m, err := o.machine(env)
	if err != nil {
		return err
	}
	// It is the last thing that a job does, and what costs money when it is left out. Caught
	// and not ignored: what is ignored, the commands would ignore as well.
	_, release := env.Signals()
	defer release()
	s, err := m.Sleep(ctx)
	if err != nil {
		return err
	}
	if s.Guarded {
		env.Notice("the guard had put it to sleep: the run took longer than the longest time awake")
	}
	return errors.Join(sumUp(env, s), addCost(o.report, s))
}

func guardMachine(ctx context.Context, env console.Environment, o machineOptions) error {
	if o.detached {
		signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGHUP) // meant for the job
		return runner.Keep(ctx, os.Stdin, env.Stdout)
	}
	m, err := o.machine(env)
	if err != nil {
		return err
	}
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	s, err := m.Watch(ctx, time.Minute)
	if ctx.Err() != nil {
		return console.Answer(console.ExitInterrupted)
	}
	if err != nil {
		return err
	}
	return sumUp(env, s)
}

// sumUp prints what a machine has taken, and adds it to the summary of the step.
func sumUp(env console.Environment, s runner.State) error {
	cost := s.Cost(time.Now())
	if cost == nil {
		fmt.Fprintln(env.Stdout, "the machine sleeps; nobody has written down when it woke")
		return nil
	}
	fmt.Fprintln(env.Stdout, cost)
	return ci.Summarise(env.Getenv("GITHUB_STEP_SUMMARY"), cost.Markdown()+"\n\n")
}

// addCost adds it to a report of the gate, where there is one.
func addCost(path string, s runner.State) error {
	cost := s.Cost(time.Now())
	if cost == nil || path == "" {
		return nil
	}
	if err := report.SetCost(path, cost); !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	return nil
}
