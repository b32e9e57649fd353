package gatecmd

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/cmd/pawl/console"
	"pawl/gate"
	"pawl/gate/ratchet"
	"pawl/internal/escape"
	"pawl/internal/page"
)

// planOptions are the flags of pawl gate plan.
type planOptions struct {
	console.Common
	ownPolicy
	kernel string
	effect string // a percentage, empty for none
	budget time.Duration
	rounds int
}

func planCommand(env console.Environment) *cli.Command {
	var o planOptions
	return &cli.Command{
		Name:      "plan",
		Usage:     "say how many rounds show a slowdown, and which slowdown a time shows",
		ArgsUsage: "[KERNEL|FOLDER]",
		Description: console.Details(
			"Measures the kernel against itself on this machine, then simulates comparisons from these rounds with\n"+
				"a slowdown put in, judged by the gate's rule. Prints the shortest comparison that finds --effect nine\n"+
				"times of ten, and the smallest slowdown that is found in --budget, or by the policy as it is.",
			"pawl gate plan attention --effect 3% --budget 30s",
			"0 done", "2 no comparison shows the effect, or the budget is too short to prove anything",
			"3 the kernel fails, or internal or environment error", "64 usage", "130 stopped"),
		Flags: append(append([]cli.Flag{
			&cli.StringFlag{Name: "effect", Destination: &o.effect, Usage: "the slowdown to be seen, a `PERCENTAGE` such as 3%"},
			&cli.DurationFlag{
				Name:        "budget",
				Destination: &o.budget,
				DefaultText: "the policy's, with its rounds",
				Action:      console.Positive("budget"),
				Usage:       "the `TIME` of one comparison, such as 30s",
			},
			&cli.IntFlag{
				Name:        "rounds",
				Destination: &o.rounds,
				Value:       30,
				Action:      console.AtLeast("rounds", 10),
				Usage:       "how many rounds of the kernel against itself are measured",
			},
		},
			o.Common.Flags("workload", "at", "backend", "compiler", "cache", "seed", "order-seed", "run-timeout",
				"compile-timeout",
				"json")...), o.ownPolicy.flags()...),
		Action: func(c *cli.Context) (err error) {
			if o.kernel, err = console.KernelName(c.Args().Slice()); err != nil {
				return err
			}
			return runPlan(c.Context, env, o)
		},
	}
}

func runPlan(ctx context.Context, env console.Environment, o planOptions) error {
	p, err := o.read()
	if err != nil {
		return err
	}
	effect, err := o.share()
	if err != nil {
		return err
	}
	b, err := o.Builder(env)
	if err != nil {
		return err
	}
	defer b.Close()
	ctx, done := console.Stoppable(ctx, env)
	defer done()
	k, err := b.Machine.Load(ctx, o.kernel, o.Backend)
	if err != nil {
		return err
	}
	c, err := b.Open(ctx, k, o.Workload, o.At)
	if err != nil {
		return err
	}
	defer c.Close()
	power, err := ratchet.PlanPower(ctx, c, p, gate.PowerOptions{
		Effect: effect, Budget: o.budget, Rounds: o.rounds,
		Options: gate.Options{
			Seed:    o.Order(),
			Observe: func(round, ceiling int) { console.CountRounds(env)(k.Name, c.Workload.Name, round, ceiling) },
		},
	})
	switch {
	case ctx.Err() != nil:
		fmt.Fprintln(env.Stderr, "stopped")
		return console.Answer(console.ExitInterrupted)
	case err != nil:
		return err
	case o.JSON:
		err = page.JSON(env.Stdout, "pawl gate plan", 1, power)
	default:
		fmt.Fprintf(env.Stdout, "%s, workload %s, at %s\n", k.Name, c.Workload.Name, c.Prepared.Point)
		printPower(env, power, p, effect, o.budget)
	}
	if err == nil && (effect > 0 && power.Asked == nil || power.Within == nil && (effect == 0 || o.budget > 0)) {
		return console.Answer(console.ExitNothing)
	}
	return err
}

// share reads the effect.
func (o planOptions) share() (float64, error) {
	if o.effect == "" {
		return 0, nil
	}
	value, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(o.effect, "%")), 64)
	if err != nil || !(value > 0 && value <= 100) {
		return 0, console.Usagef("--effect %q: a percentage above 0 and up to 100, such as 3%%", o.effect)
	}
	return value / 100, nil
}

func printPower(env console.Environment, power gate.Power, p gate.Policy, effect float64, budget time.Duration) {
	w := env.Stdout
	if power.Seconds > 0 {
		fmt.Fprintf(w, "against itself in %s of %s a process: a round takes %s, and its ratio scatters by %s\n",
			page.Count(power.Rounds, "round"), page.Count(power.Samples, "sample"), page.Milliseconds(1000*power.Seconds),
			page.Percent(power.Spread))
	}
	if effect > 0 && power.Seconds > 0 {
		fmt.Fprintln(w)
		printAsked(env, power.Asked, p, effect)
	}
	within, what := power.Within, "by the policy as it is"
	if budget > 0 {
		what = fmt.Sprintf("in %v", budget)
	}
	switch {
	case power.Seconds == 0:
	case within == nil:
		fmt.Fprintf(w, "\n%s: no slowdown up to a doubling is found nine times of ten\n", what)
	default:
		fmt.Fprintf(w, "\n%s: a slowdown of %s is the smallest that is found nine times of ten (limit %s)\n", what,
			page.Percent(within.Effect), page.Percent(within.Limit))
		printDesign(env, within)
		if power.Noise > 0 && power.Noise < within.Effect {
			fmt.Fprintf(w, "  a lower limit would show more: the noise hides what is below %s\n", page.Percent(power.Noise))
		}
	}
	for _, note := range power.Notes {
		fmt.Fprintf(w, "note: %s\n", escape.Line(note))
	}
}

// printAsked says what it takes to see the effect.
func printAsked(env console.Environment, asked *gate.Design, p gate.Policy, effect float64) {
	if asked == nil {
		fmt.Fprintf(env.Stdout,
			"%s: no number of rounds that a policy may have finds it nine times of ten: a quieter machine is needed\n",
			page.Percent(effect))
		return
	}
	fmt.Fprintf(env.Stdout, "%s: found nine times of ten\n", page.Percent(effect))
	printDesign(env, asked)
	if asked.Limit < p.Regression {
		fmt.Fprintf(env.Stdout,
			"  and with regression: %.3g%%, because the policy's limit of %s would let most of it pass\n", 100*asked.Limit,
			page.Percent(p.Regression))
	}
}

// printDesign writes a comparison as a policy has it.
func printDesign(env console.Environment, d *gate.Design) {
	fmt.Fprintf(env.Stdout, "  %d rounds at most, about %s: rounds: %s, budget: %v\n",
		d.Rounds[len(d.Rounds)-1], page.Seconds(d.Seconds), strings.ReplaceAll(fmt.Sprint(d.Rounds), " ", ", "), d.Budget)
}
