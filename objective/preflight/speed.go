package preflight

import (
	"context"
	"fmt"
	"os"

	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/profile"
)

// halfAsFast is how fast a default must be against its reference: a plain kernel in double
// precision that nobody has tuned. One that is slower has a fault that a search does not fix.
const halfAsFast = 0.5

// speed compares the default with the reference, at a small shape first. One that is too slow there may
// be made for large ones: then the workload decides.
func (t *trial) speed(ctx context.Context) (Step, error) {
	if t.Kernel.Answered() || t.Kernel.PythonReference() {
		return found("not compared: there is no reference that this device runs")
	}
	cases := t.bench.QuickCases(t.prepared.Point)
	slow := ""
	// The workload is the last case.
	for _, dims := range []kernels.Dims{cases[max(0, len(cases)-2)].Dims, t.Workload.Dims} {
		ratio, why, err := t.against(ctx, dims)
		switch {
		case err != nil:
			return Step{}, err
		case why != "":
			return found("not compared at %s: %s", dims, why)
		case ratio >= halfAsFast:
			return found("%.3g times as fast at %s", ratio, dims)
		}
		slow = fmt.Sprintf("%.2g times as fast as its reference at %s", ratio, dims)
	}
	advice, err := t.firstAdvice(ctx)
	return Step{
		Failure: slow,
		Advice:  "fix the kernel, or choose better defaults, before a search: " + advice,
	}, err
}

// against returns how many times as fast as its reference the default is at a shape, or why that
// cannot be said.
func (t *trial) against(ctx context.Context, dims kernels.Dims) (ratio float64, why string, err error) {
	w := kernels.Workload{Name: t.Workload.Name, Dims: dims}
	space, err := t.Kernel.Space(w)
	if err != nil {
		return 0, err.Error(), nil
	}
	var times [2]float64
	for i, k := range []*kernels.Kernel{t.Kernel.AsReference(), t.Kernel} {
		times[i], why, err = t.time(ctx, devices.Target{Kernel: k, Workload: w, Space: space})
		if why != "" || err != nil {
			return 0, why, err
		}
	}
	return times[0] / times[1], "", nil
}

// time measures the default point of a target.
func (t *trial) time(ctx context.Context, target devices.Target) (milliseconds float64, why string, err error) {
	b, err := t.machine.Open(ctx, target, t.options.Options)
	if err != nil {
		return 0, err.Error(), ctx.Err()
	}
	defer b.Close()
	prepared, err := b.Prepare(ctx, t.Kernel.Default())
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
func (t *trial) firstAdvice(ctx context.Context) (string, error) {
	folder, err := os.MkdirTemp("", "pawl-preflight-") // for what a profiler writes
	if err != nil {
		return "", err
	}
	defer os.RemoveAll(folder)
	p, err := profile.Of(ctx, t.machine.Subject(t.bench), t.prepared, 0,
		profile.Options{Folder: folder, Seed: t.options.Seed})
	if err == nil && len(p.Advice) > 0 {
		return fmt.Sprintf("%s: %s. %s", p.Advice[0].Name, p.Advice[0].Seen, p.Advice[0].Try), nil
	}
	return "pawl profile says what it spends its time at", nil
}
