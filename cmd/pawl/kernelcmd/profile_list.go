package kernelcmd

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"pawl/cmd/pawl/console"
	"pawl/internal/escape"
	"pawl/internal/page"
	"pawl/objective/profile"
)

// profileWanted profiles what the gate has listed, one after the other. A folder that is named is
// where the kernel of its name lies. A point that fails does not keep the others from being looked at.
func profileWanted(ctx context.Context, env console.Environment, o profileOptions, list []profile.Wanted,
	arguments []string) error {
	if len(list) == 0 {
		env.Notice("the gate has found nothing that is worth a profiler's time")
	}
	var profiles []*profile.Profile
	var last error // that no profiler could look, or worse: that a point fails
	for _, w := range list {
		one := o
		one.Workload = w.Workload
		p := &profiler{env: env, options: one, machine: one.Machine(env)}
		where := arguments
		if len(where) == 0 {
			where = []string{w.Kernel}
		}
		if err := p.load(ctx, where); err != nil {
			return err
		}
		if p.target.Kernel.Name != w.Kernel {
			return console.Usagef("%s lists kernel %s, and %s is %s", o.from, w.Kernel, where[0], p.target.Kernel.Name)
		}
		point, err := p.target.Point(w.Point)
		if err != nil {
			return err
		}
		env.Notice(escape.Line(fmt.Sprintf("%s %s: %s", w.Kernel, w.Workload, strings.Join(w.Why, ", "))))
		made, err := p.get(ctx, point)
		switch {
		case ctx.Err() != nil:
			return console.Answer(console.ExitInterrupted)
		case errors.Is(err, console.Answer(console.ExitNo)):
			last = err
			continue
		case err != nil:
			return err
		}
		profiles = append(profiles, made)
		if made.NoMetrics != "" && last == nil {
			last = console.Nothingf("%s", made.NoMetrics)
		}
		if !o.JSON {
			printProfile(env.Stdout, made)
			fmt.Fprintln(env.Stdout)
		}
	}
	if o.JSON {
		if err := page.JSON(env.Stdout, "pawl profiles", 1, page.List("profiles", profiles)); err != nil {
			return err
		}
	}
	return last
}
