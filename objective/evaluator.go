package objective

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/worker"
	"pawl/space"
)

// Options bounds the work of an evaluator.
type Options struct {
	// Stopping decides how many samples a benchmark takes.
	Stopping Stopping
	// RunTimeout is how long one run of a kernel may take. Zero means 10 s.
	RunTimeout time.Duration
	// QuickCases is the number of shapes that every trial is checked on beside
	// the workload itself. Zero means 5.
	QuickCases int
	// Seed fixes the inputs of the workload and of the full matrix.
	Seed uint64
	// Residents are the workers to use on a device that keeps them, shared with
	// other evaluators; whoever made them ends them. Nil means workers of one's
	// own.
	Residents *Residents
	// Caches says what timed launches find in the device's caches. Empty means
	// Cold.
	Caches worker.Caches
	// Measurements is where measurements are kept for the rest of the day; nil
	// measures everything.
	Measurements *cache.Cache
}

// Evaluator takes points of one kernel and workload through the stages. Its
// methods are safe for concurrent use: Measure and its like wait for a device.
type Evaluator struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	initial  space.Point // the default point
	backend  Backend
	options  Options
	oracle   *oracle
	notes    notes
	verified verified
	today    *today
	// timedSeeds are of the inputs that are timed: the seed that was asked for and
	// two that nobody can foresee. See stopwatch.
	timedSeeds [3]uint64
	*Residents
}

// NewEvaluator returns an evaluator. Close it to end its worker processes.
func NewEvaluator(k *kernels.Kernel, w kernels.Workload, b Backend, options Options) *Evaluator {
	if options.RunTimeout == 0 {
		options.RunTimeout = 10 * time.Second
	}
	if options.QuickCases == 0 {
		options.QuickCases = 5
		if b.Resident() {
			options.QuickCases = 3 // a trial is short there, and nothing wrong gets past the full tier
		}
	}
	if options.Caches == "" {
		options.Caches = worker.Cold
	}
	residents := options.Residents
	if residents == nil {
		residents = &Residents{}
	}
	e := &Evaluator{kernel: k, workload: w, initial: k.Default(), backend: b, options: options, oracle: newOracle(k, b), Residents: residents}
	e.timedSeeds = [...]uint64{options.Seed, rand.Uint64(), rand.Uint64()}
	e.today = newToday(e)
	return e
}

// Close ends the evaluator's worker processes.
func (e *Evaluator) Close() {
	e.oracle.close()
	if e.options.Residents == nil {
		e.End()
	}
}

// Width is how many points can be measured at once.
func (e *Evaluator) Width() int { return e.backend.Width() }

// Prepared is a point that is ready to be measured, or that failed before.
type Prepared struct {
	Point   space.Point
	Binary  Binary
	Failure *Failure
	Spent   Spent

	// quick is the quick tier, for the evaluator that prepared the point: planned
	// ahead, not while a device waits.
	quick plan
	by    *Evaluator
}

// Prepare does what needs no device: preflight, compile, and plan the check.
func (e *Evaluator) Prepare(ctx context.Context, point space.Point) (Prepared, error) {
	p := Prepared{Point: point}
	if p.Failure = e.backend.Preflight(point); p.Failure != nil {
		return p, nil
	}
	start := time.Now()
	var err error
	p.Binary, p.Failure, err = e.backend.Compile(ctx, point)
	p.Spent.Compile = time.Since(start)
	p.Spent.CacheHit = p.Binary.Hit
	if err != nil {
		return p, fmt.Errorf("compiling %s: %w", point, err)
	}
	if p.Failure != nil {
		return p, nil
	}
	if err := e.oracle.ready(ctx); err != nil {
		return p, err
	}
	p.quick, err = e.plan(p, e.quick(point)...)
	p.by = e
	return p, err
}

// Measure checks a point's results and takes samples of its time. Rival is the
// best time so far in milliseconds, 0 for none: a point that is hopelessly
// behind it gets few samples.
func (e *Evaluator) Measure(ctx context.Context, p Prepared, rival float64) (Outcome, error) {
	outcome := Outcome{Failure: p.Failure, Binary: p.Binary.Digest, Resources: p.Binary.Resources, Spent: p.Spent}
	if p.Failure != nil {
		return outcome, nil
	}
	if past, found := e.today.recall(p, rival, e.options.Stopping); found {
		return outcome.withSamples(past), nil
	}
	begun := outcome
	err := e.onDevice(ctx, p, func(s *session) (err error) {
		outcome = begun
		start := time.Now()
		outcome.Failure, err = e.checkQuickly(ctx, s, p)
		outcome.Spent.Check = time.Since(start) - s.loading
		if err != nil || outcome.Failure != nil {
			return err
		}
		start = time.Now()
		outcome.Failure, err = e.bench(ctx, s, rival, &outcome)
		outcome.Spent.Measure = time.Since(start)
		if err != nil || outcome.Failure != nil {
			return err
		}
		return e.believe(&outcome, p.Point)
	})
	if err == nil {
		outcome = e.today.remember(p, outcome, p.Point == e.initial)
	}
	return outcome, err
}

// believe fails an outcome that is too good to be true.
func (e *Evaluator) believe(outcome *Outcome, point space.Point) error {
	roofline := e.backend.Roofline()
	if e.options.Caches == worker.Warm && !roofline.Loose {
		roofline.Bytes = 0 // what is cached is not read from memory
	}
	floor, err := roofline.Floor(e.kernel.Work, environment(e.workload.Dims, point))
	if err != nil {
		return err
	}
	if roofline.Loose {
		bindings, err := e.workloadCase().bind(e.kernel)
		if err != nil {
			return err
		}
		written, err := bufferBytes(bindings, true)
		if err != nil {
			return err
		}
		floor = max(floor, 1e3*float64(written)/roofline.Bytes)
	}
	if outcome.Failure = veto(outcome.Milliseconds(), floor); outcome.Failure != nil {
		outcome.Samples = nil
	}
	return nil
}

// bufferBytes is the size of all outputs, or of all inputs.
func bufferBytes(bindings []kernels.Binding, out bool) (total int, err error) {
	for _, b := range bindings {
		if !b.IsBuffer() || b.Out != out {
			continue
		}
		element, err := kernels.ElementNamed(b.Type)
		if err != nil {
			return 0, err
		}
		total += int(b.Count) * element.Size
	}
	return total, nil
}

// checkQuickly checks a few small shapes and then the workload itself, with
// the very inputs that are timed next.
func (e *Evaluator) checkQuickly(ctx context.Context, s *session, p Prepared) (*Failure, error) {
	if p.by != e { // another evaluator may have another workload
		return e.check(ctx, s, p, e.quick(p.Point)...)
	}
	return e.follow(ctx, s, p.quick)
}

// Sample takes a fixed number of samples, for comparing points that have passed
// Measure. The result is checked there again. On the processor each call has a
// fresh process; see Refresh for devices that keep theirs.
func (e *Evaluator) Sample(ctx context.Context, p Prepared, samples int) (Outcome, error) {
	return e.sample(ctx, p, worker.Time{Samples: samples, Caches: e.options.Caches})
}

// SampleAlone is Sample for a figure that stands alone: the device rests between
// the samples, so that they do not depend on what it did before. What is compared
// in turns has no need of that.
func (e *Evaluator) SampleAlone(ctx context.Context, p Prepared, samples int) (Outcome, error) {
	return e.sample(ctx, p, worker.Time{Samples: samples, Caches: e.options.Caches, Rested: true})
}

func (e *Evaluator) sample(ctx context.Context, p Prepared, t worker.Time) (Outcome, error) {
	outcome := Outcome{Failure: p.Failure, Binary: p.Binary.Digest}
	if p.Failure != nil {
		return outcome, nil
	}
	begun := outcome
	err := e.onDevice(ctx, p, func(s *session) (err error) {
		outcome = begun
		outcome.Failure, err = e.check(ctx, s, p, e.workloadCase())
		if err != nil || outcome.Failure != nil {
			return err
		}
		take, err := e.sampler(ctx, s, t)
		if err != nil {
			return err
		}
		timing, fault, err := take(ctx, t.Samples)
		if fault != nil {
			s.distrust()
			outcome.Failure = faultFailure(Bench, fault)
		}
		if fault != nil || err != nil {
			return err
		}
		outcome.add(timing)
		if len(outcome.Samples) == 0 {
			outcome.Failure = throttled(outcome.Conditions)
			return nil
		}
		return e.believe(&outcome, p.Point)
	})
	if err == nil && outcome.Failure == nil {
		outcome.Evidence = e.verified.take(p)
	}
	return outcome, err
}

// add appends what a call of the worker has measured.
func (o *Outcome) add(timing worker.Timing) {
	o.Batch = timing.Batch
	o.Samples = append(o.Samples, timing.Samples...)
	o.Conditions = o.Conditions.Join(timing.Conditions)
}

// throttled is the failure of a point none of whose samples can be believed.
func throttled(conditions *worker.Conditions) *Failure {
	reasons := "unknown reasons"
	if conditions != nil && conditions.Reasons != "" {
		reasons = conditions.Reasons
	}
	return &Failure{Bench, Throttled, "every sample was taken while the clock was throttled: " + reasons}
}

// bench takes samples until the stopping rule is content.
func (e *Evaluator) bench(ctx context.Context, s *session, rival float64, outcome *Outcome) (*Failure, error) {
	const chunk = 5
	const throttledTime = 2 * time.Second // long enough for a burst of heat to pass
	take, err := e.sampler(ctx, s, worker.Time{Caches: e.options.Caches})
	if err != nil {
		return nil, err
	}
	start := time.Now()
	for {
		timing, fault, err := take(ctx, chunk)
		if err != nil {
			return nil, err
		}
		if fault != nil {
			s.distrust()
			outcome.Samples = nil
			return faultFailure(Bench, fault), nil
		}
		outcome.add(timing)
		if len(outcome.Samples) == 0 && time.Since(start) > throttledTime {
			return throttled(outcome.Conditions), nil
		}
		if outcome.Stop = e.options.Stopping.Decide(outcome.Samples, rival, time.Since(start)); outcome.Stop != "" {
			return nil, nil
		}
	}
}

func (e *Evaluator) workloadCase() Case {
	return Case{Dims: e.workload.Dims, Seed: e.options.Seed, Layout: worker.Aligned}
}

// onDevice runs something in a worker, with a device reserved for the point.
//
// Where it finds damage that a kernel before it may have done, it is done once more,
// from its beginning, in a worker that no other kernel has used.
func (e *Evaluator) onDevice(ctx context.Context, p Prepared, do func(*session) error) error {
	if err := e.oracle.ready(ctx); err != nil {
		return err
	}
	s, err := e.inWorker(ctx, p, do)
	if err == nil && s.damaged && s.served {
		_, err = e.inWorker(ctx, p, do)
	}
	return err
}

// inWorker reserves a device and does something in a worker there.
func (e *Evaluator) inWorker(ctx context.Context, p Prepared, do func(*session) error) (*session, error) {
	s := &session{allowed: e.options.RunTimeout}
	slot, err := e.backend.Reserve(ctx, p.Point)
	if err != nil {
		return s, err
	}
	s.slot = slot
	defer slot.Release()
	if err := p.Binary.unchanged(); err != nil {
		return s, err
	}
	if e.backend.Resident() {
		s.client, s.served, err = e.take(slot, func(c *worker.Client) error { return e.warm(ctx, slot, c) })
		defer func() { e.putBack(s) }()
	} else {
		s.client, err = worker.Start(slot.Worker)
		defer func() { s.close() }()
	}
	if err != nil {
		return s, err
	}
	if err := do(s); err != nil {
		return s, err
	}
	return s, p.Binary.unchanged()
}
