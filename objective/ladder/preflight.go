package ladder

import (
	"context"
	"fmt"
	"slices"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/devices"
	"pawl/objective/explain"
	"pawl/objective/profile"
)

// Preflight is the ladder before a long search: what the machine lacks, resources by formula, the
// smallest shape, the speed against the reference at a small shape, and then larger shapes. It
// stops at the first rung that does not hold, with what to do.
func Preflight(ctx context.Context, m *devices.Machine, t devices.Target, o objective.Options,
	observe func(Rung)) (*Ladder, error) {
	return climb(ctx, m, t, o, observe, func(c *climber) []step {
		if program, ok := c.bench.Backend.(objective.Program); ok {
			return append([]step{c.environment}, c.programSteps(program)...)
		}
		return []step{c.environment, c.launch, c.compile, c.smallest, c.speed, c.small, c.full, c.run}
	})
}

// environment says what the kernel runs on.
func (c *climber) environment(ctx context.Context) (Rung, error) {
	e := c.bench.Backend.Facts().Environment
	found := e.Device
	if e.Driver != "" {
		found += ", " + e.Driver
	}
	if c.Kernel.On().GPU {
		if _, err := c.machine.Profiler(); err != nil {
			found += "; no ncu, so that nothing can be profiled"
		}
	}
	return Rung{Name: "the machine has what it takes", Found: found}, nil
}

// smallest checks the cheapest shape alone.
func (c *climber) smallest(ctx context.Context) (Rung, error) {
	r := Rung{Name: "the default is right on the smallest shape"}
	first := c.bench.QuickCases(c.prepared.Point)[0]
	found, err := c.bench.Try(ctx, c.prepared, slices.Values([]check.Case{first}), nil)
	if err != nil {
		return r, err
	}
	if found.Failure != nil {
		r.Failure, r.Advice = found.Failure.String(), wrong
		return r, nil
	}
	r.Found = first.Dims.String()
	return r, nil
}

// halfAsFast is how fast a default must be against its reference: a plain kernel in double
// precision that nobody has tuned. One that is slower has a fault that a search does not mend.
const halfAsFast = 0.5

// speed holds the default to the reference, at a small shape first. One that is too slow there may
// be made for large ones: then the workload decides.
func (c *climber) speed(ctx context.Context) (Rung, error) {
	r := Rung{Name: "the default is not much slower than its reference"}
	cases := c.bench.QuickCases(c.prepared.Point)
	shapes := []kernels.Dims{cases[max(0, len(cases)-2)].Dims, c.Workload.Dims} // the workload is the last case
	for _, dims := range shapes {
		ratio, why, err := c.against(ctx, dims)
		switch {
		case err != nil:
			return r, err
		case why != "":
			r.Found = "not compared at " + dims.String() + ": " + why
			return r, nil
		case ratio >= halfAsFast:
			r.Found = fmt.Sprintf("%.3g times as fast at %s", ratio, dims)
			return r, nil
		}
		r.Failure = fmt.Sprintf("%.2g times as fast as its reference at %s", ratio, dims)
	}
	r.Advice = "mend the kernel, or choose better defaults, before a search: " + c.firstAdvice(ctx)
	return r, nil
}

// against returns how many times as fast as its reference the default is at a shape, or why that
// cannot be said.
func (c *climber) against(ctx context.Context, dims kernels.Dims) (ratio float64, why string, err error) {
	var times []float64
	for _, k := range []*kernels.Kernel{c.Kernel.AsReference(), c.Kernel} {
		w := kernels.Workload{Name: c.Workload.Name, Dims: dims}
		space, err := c.Kernel.Space(w)
		if err != nil {
			return 0, err.Error(), nil
		}
		ms, why, err := c.time(ctx, devices.Target{Kernel: k, Workload: w, Space: space})
		if why != "" || err != nil {
			return 0, why, err
		}
		times = append(times, ms)
	}
	return times[0] / times[1], "", nil
}

// time measures the default point of a target.
func (c *climber) time(ctx context.Context, t devices.Target) (milliseconds float64, why string, err error) {
	b, err := c.machine.Open(ctx, t, c.options)
	if err != nil {
		return 0, err.Error(), ctx.Err()
	}
	defer b.Close()
	prepared, err := b.Prepare(ctx, c.Kernel.Default())
	if err != nil {
		return 0, err.Error(), ctx.Err()
	}
	outcome, err := b.Measure(ctx, prepared, 0)
	switch {
	case err != nil:
		return 0, err.Error(), ctx.Err()
	case outcome.Failure != nil:
		return 0, outcome.Failure.String(), nil
	}
	return outcome.Milliseconds(), "", nil
}

// firstAdvice is what a profiler, or the compiler, says first about a slow point.
func (c *climber) firstAdvice(ctx context.Context) string {
	const otherwise = "pawl profile says what it spends its time at"
	p, err := profile.Of(ctx, c.machine, c.bench, c.prepared, 0, profile.Options{Folder: c.folder, Seed: c.options.Seed})
	if err != nil {
		return otherwise
	}
	advice := explain.Advise(p.Facts())
	if len(advice) == 0 {
		return otherwise
	}
	return fmt.Sprintf("%s: %s. %s", advice[0].Name, advice[0].Seen, advice[0].Try)
}
