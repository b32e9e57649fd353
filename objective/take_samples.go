package objective

import (
	"context"
	"time"

	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

// takeSamples takes a number of samples of what is loaded.
type takeSamples func(ctx context.Context, n int) (worker.Timing, *worker.Fault, error)

// timer returns how samples are taken in a session whose worker has loaded the
// workload, on some kind of data: by the device itself where it keeps and compares everything, else by a
// stopwatch.
type timer func(ctx context.Context, s *worker.Session, p Prepared, t worker.Time, on check.Case) (takeSamples, error)

// timeOnDevice is the timer of a device that no kernel can deceive.
func timeOnDevice(_ context.Context, s *worker.Session, _ Prepared, t worker.Time, _ check.Case) (takeSamples, error) {
	return func(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
		t.Samples = n
		timing, fault, err := s.Time(ctx, t)
		t.Batch, t.Energy = timing.Batch, false // once will do
		return timing, fault, err
	}, nil
}

// benchmark takes samples of a kernel that was checked, and fails those that are too
// good to be true.
type benchmark struct {
	kernel   *kernels.Kernel
	workload check.Case
	timer    timer
	stopping Stopping
	caches   worker.Caches
	roofline Roofline
}

// until takes samples until the stopping rule is content.
func (b *benchmark) until(ctx context.Context, s *worker.Session, p Prepared, incumbent float64,
	outcome *Outcome) error {
	const chunk = 5
	const throttledTime = 2 * time.Second // long enough for a burst of heat to pass
	take, err := b.timer(ctx, s, p, worker.Time{
		Caches: b.caches, Energy: b.kernel.Measures(kernels.Energy), Brief: b.stopping.brief(),
		Limit: b.stopping.limit(incumbent),
	}, b.workload)
	if err != nil {
		return err
	}
	for start := time.Now(); ; {
		if err := b.take(ctx, s, take, chunk, outcome); err != nil || outcome.Failure != nil {
			return err
		}
		if len(outcome.Samples) == 0 && time.Since(start) > throttledTime {
			outcome.Failure = throttled(outcome.Conditions)
			return nil
		}
		if outcome.Stop = b.stopping.Decide(outcome.Samples, incumbent, time.Since(start)); outcome.Stop != "" {
			return nil
		}
	}
}

func (b *benchmark) fixed(ctx context.Context, s *worker.Session, p Prepared, t worker.Time, on check.Case,
	outcome *Outcome) error {
	t.Caches, t.Energy = b.caches, b.kernel.Measures(kernels.Energy)
	take, err := b.timer(ctx, s, p, t, on)
	if err != nil {
		return err
	}
	err = b.take(ctx, s, take, t.Samples, outcome)
	if err == nil && outcome.Failure == nil && len(outcome.Samples) == 0 {
		outcome.Failure = throttled(outcome.Conditions)
	}
	return err
}

func (b *benchmark) take(ctx context.Context, s *worker.Session, take takeSamples, n int, outcome *Outcome) error {
	timing, fault, err := take(ctx, n)
	if err != nil {
		return err
	}
	if fault != nil {
		s.Distrust()
		outcome.Samples, outcome.Failure = nil, faultFailure(Bench, fault)
		return nil
	}
	outcome.Batch = timing.Batch
	outcome.Samples = append(outcome.Samples, timing.Samples...)
	outcome.Conditions = outcome.Conditions.Join(timing.Conditions)
	for name, values := range timing.Measured {
		if outcome.series == nil {
			outcome.series = map[string][]float64{}
		}
		outcome.series[name] = append(outcome.series[name], values...)
	}
	return nil
}

// throttled is the failure of a point all of whose samples were discarded.
func throttled(conditions *worker.Conditions) *Failure {
	reasons := "unknown reasons"
	if conditions != nil && conditions.Reasons != "" {
		reasons = conditions.Reasons
	}
	return &Failure{Bench, Throttled, "every sample was discarded, because " + worker.WhyDiscarded + ": " + reasons}
}

// rooflineTolerance is by how much a time must undercut the roofline before it is
// called impossible: clocks and formulas are not exact to the last per cent.
const rooflineTolerance = 1.05

// plausible fails an outcome whose time no device could reach: whatever was timed, it was not all of the work.
func (b *benchmark) plausible(outcome *Outcome, point space.Point) error {
	roofline, work, written, floor := b.roofline, b.kernel.Work, 0, 0.0
	if roofline.Loose {
		bindings, err := b.workload.Bind(b.kernel)
		if err != nil {
			return err
		}
		for _, b := range bindings {
			if b.Out && !b.Restored {
				written += b.Bytes()
			}
		}
	} else if b.caches == worker.Warm {
		roofline.Bytes = 0 // what is cached is not read from memory
	}
	if roofline.Flops == 0 { // a formula that bounds nothing may fail at a point
		work.Flops = nil
	}
	if roofline.Bytes == 0 {
		work.Bytes = nil
	}
	flops, bytes, err := work.For(b.workload.Dims, point)
	if err != nil {
		return err
	}
	if roofline.Flops > 0 {
		floor = 1e3 * flops / roofline.Flops
	}
	if roofline.Bytes > 0 {
		floor = max(floor, 1e3*max(bytes, float64(written))/roofline.Bytes)
	}
	if milliseconds := outcome.Milliseconds(); !(milliseconds*rooflineTolerance >= floor) {
		outcome.Samples, outcome.Failure = nil, Failed(Bench, TooFast, "%.4g ms, and the device cannot do this work in less "+
			"than %.4g ms: the kernel, the work formulas or the timing is wrong", milliseconds, floor)
	}
	return nil
}
