package objective

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"time"

	"pawl/internal/stats"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/space"
)

// Options bounds the work of an evaluator.
type Options struct {
	// Stopping decides how many samples a benchmark takes.
	Stopping Stopping
	// RunTimeout is how long one run of a kernel may take. Zero means 10 s. Points beside the default have less where
	// the default is quick.
	RunTimeout time.Duration
	// Budget is the time of the whole search, of which a point that hangs may cost a tenth. Zero means any.
	Budget time.Duration
	// Seed fixes the inputs of the workload and of the quick tier.
	Seed uint64
	// FullSeed fixes those of the full tier. Zero means another for every evaluator, so that no
	// kernel is made for them.
	FullSeed uint64
	// Residents are the workers to use on a device that keeps them, shared with
	// other evaluators; whoever made them ends them. Nil means workers of one's
	// own.
	Residents *worker.Residents
	// Caches says what timed launches find in the device's caches. Empty means what the backend says.
	Caches worker.Caches
	// Python computes references that are written in it. Nil means that there are none.
	Python *check.Python
	// CompileOnly says that nothing will be run: points are compiled, and no more.
	CompileOnly bool
}

// Evaluator takes points of one kernel and workload through the stages. Its
// methods are safe for concurrent use: Measure and its like wait for a device.
//
// The parts do the work, and the evaluator calls them in order: the runner reserves a
// device and finds a worker, the tester checks results, the verifier takes finalists
// through the full tier, and the benchmark takes samples.
type Evaluator struct {
	Tester *Tester
	*verifier

	backend   Backend
	workers   *worker.Residents
	facts     Facts
	options   Options
	oracle    *check.Oracle
	onDevice  check.OnDevice // where results are compared there
	runner    *runner
	benchmark *benchmark
	score     *score
	faults    *machineFaults
	sources   *sources
	// stopwatches time what shares a worker's memory; nil on other devices.
	stopwatches *stopwatches
}

// NewEvaluator returns an evaluator. Close it to end its worker processes.
func NewEvaluator(k *kernels.Kernel, w kernels.Workload, b Backend, options Options) *Evaluator {
	facts, quick := b.Facts(), 5
	if facts.Resident {
		quick = 3 // a trial is short there, and nothing wrong gets past the full tier
	}
	options.RunTimeout = cmp.Or(options.RunTimeout, 10*time.Second)
	options.Caches = cmp.Or(options.Caches, worker.Caches(k.On().Caches))
	reference := func(ctx context.Context, given space.Point) (Module, error) {
		binary, err := b.Reference(ctx, given)
		return binary.Module, err
	}
	e := &Evaluator{
		backend: b,
		facts:   facts,
		options: options,
		oracle:  check.NewOracle(k, reference, options.Python),
		workers: cmp.Or(options.Residents, &worker.Residents{}),
		faults:  &machineFaults{},
		sources: newSources(k),
	}
	e.score = &score{kernel: k, dims: w.Dims}
	e.runner = &runner{
		reserve: b.Reserve,
		workers: worker.Fresh{},
		ready:   e.oracle.Ready,
		restore: e.compileAgain,
		faults:  e.faults,
		sources: e.sources,
		allowed: options.RunTimeout,
		budget:  options.Budget,
		least:   leastHere,
		initial: k.Default(),
	}
	e.Tester = &Tester{
		kernel:   k,
		workload: w,
		seed:     options.Seed,
		full:     cmp.Or(options.FullSeed, stats.FreshSeed()),
		quick:    quick,
		notes:    &check.Notes{},
		runner:   e.runner,
	}
	e.verifier = &verifier{tester: e.Tester, passed: map[string]int{}, evidence: map[string]*check.Evidence{}}
	e.benchmark = &benchmark{
		kernel:   k,
		workload: e.Tester.WorkloadCase(),
		stopping: options.Stopping,
		caches:   options.Caches,
		roofline: facts.Roofline,
	}
	target := check.Target{Kernel: k, Workload: w, Oracle: e.oracle, Notes: e.Tester.notes}
	if program, ok := b.(Program); ok {
		e.Tester.checker, e.benchmark.timer, e.runner.workers = byProgram{program}, timeProgram(program), processes{}
		e.runner.ready = func(context.Context, space.Point) error { return nil }
	} else if facts.Resident {
		e.onDevice = check.OnDevice{Target: target}
		e.Tester.checker, e.benchmark.timer = e.onDevice, timeOnDevice
		e.runner.workers, e.runner.least = e.workers.Warm(e.warm), leastOnDevice
	} else {
		e.stopwatches = &stopwatches{kernel: k, oracle: e.oracle}
		e.Tester.checker, e.benchmark.timer = check.Here{Target: target}, e.stopwatches.timer
	}
	return e
}

// Beside returns an evaluator of the same workload that runs kernels under a tool. Close it too.
func (e *Evaluator) Beside(tool Backend, o Options) *Evaluator {
	o.Python = e.options.Python
	return NewEvaluator(e.Tester.kernel, e.Tester.workload, tool, o)
}

// Close ends the evaluator's worker processes.
func (e *Evaluator) Close() {
	e.oracle.Close()
	if e.options.Residents == nil {
		e.End()
	}
}

// End ends the worker processes: a device is free for others.
func (e *Evaluator) End() { e.workers.End() }

// Refresh begins a round: the samples that follow come from fresh processes, and inputs whose answers
// are known are others than before.
func (e *Evaluator) Refresh() {
	e.workers.Refresh()
	if e.stopwatches != nil {
		e.stopwatches.renew()
	}
}

// Prepared is a point that is ready to be measured, or that failed before.
type Prepared struct {
	Point   space.Point
	Binary  Binary
	Failure *Failure
	Spent   Spent
	// Kinds are the kinds of data on which Sample measures the point beside the declared one, in the same process.
	// KindSamples is how many samples it takes of each; zero means as many as of the declared.
	Kinds       []string
	KindSamples int

	// quick is the quick tier, for the evaluator that prepared the point: planned
	// ahead, not while a device waits.
	quick check.Plan
	by    *Evaluator
}

func (p Prepared) subject() check.Subject {
	return check.Subject{Point: p.Point, Module: p.Binary.Module}
}

// Prepare does what needs no device: preflight, compile, and plan the check.
func (e *Evaluator) Prepare(ctx context.Context, point space.Point) (p Prepared, err error) {
	err = e.faults.persist(ctx, point, func() (err error) {
		p, err = e.prepare(ctx, point)
		return err
	})
	return p, err
}

func (e *Evaluator) prepare(ctx context.Context, point space.Point) (Prepared, error) {
	p := Prepared{Point: point}
	if p.Failure = e.backend.Preflight(point); p.Failure != nil {
		return p, nil
	}
	if !e.options.CompileOnly {
		e.Tester.foresee(point, e.Tester.QuickCases(point), math.MaxInt)
	}
	start := time.Now()
	var err error
	p.Binary, p.Failure, err = e.backend.Compile(ctx, point)
	p.Spent.Compile = time.Since(start)
	p.Spent.CacheHit = p.Binary.Hit
	if changed := e.sources.unchanged(); changed != nil {
		return p, changed
	}
	if err != nil {
		return p, fmt.Errorf("compiling %s: %w", point, err)
	}
	if p.Failure != nil {
		return p, nil
	}
	if p.Failure = e.score.beforehand(p); p.Failure != nil {
		return p, nil
	}
	p.Binary = e.score.distinguish(p.Binary, point)
	if e.options.CompileOnly {
		return p, nil
	}
	if err := e.runner.ready(ctx, point); err != nil {
		return p, err
	}
	p.quick, p.Failure, err = e.Tester.plan(ctx, p, e.Tester.QuickCases(point)...)
	p.by = e
	return p, err
}

// compileAgain puts a point's compiled files back in their place, and those that it is compared with.
func (e *Evaluator) compileAgain(ctx context.Context, point space.Point) error {
	_, failure, err := e.backend.Compile(ctx, point)
	if failure != nil {
		return fmt.Errorf("compiling %s again: %s", point, failure)
	}
	if err != nil {
		return err
	}
	return e.runner.ready(ctx, point)
}

// Measure checks a point's results and takes samples of its time. Incumbent is the
// best time so far in milliseconds, 0 for none: a point that is hopelessly
// behind it gets few samples.
func (e *Evaluator) Measure(ctx context.Context, p Prepared, incumbent float64) (outcome Outcome, err error) {
	outcome = Outcome{Failure: p.Failure, Binary: p.Binary.Digest, Resources: p.Binary.Resources, Spent: p.Spent}
	defer func() { outcome.MachineFaults = e.faults.take(p.Point) }()
	if p.Failure != nil {
		return outcome, nil
	}
	incumbent = e.score.incumbent(p.Point, incumbent)
	if err := e.Tester.discern(ctx, p); err != nil {
		return outcome, err
	}
	outcome, err = e.inWorker(ctx, p, outcome, func(s *worker.Session, o *Outcome) (err error) {
		start := time.Now()
		o.Failure, err = e.checkQuickly(ctx, s, p)
		o.Spent.Check = time.Since(start) - s.Loading
		if err == nil && o.Failure == nil {
			start = time.Now()
			err = e.benchmark.until(ctx, s, p, incumbent, o)
			o.Spent.Measure = time.Since(start)
		}
		return err
	})
	if err == nil {
		outcome = e.score.apply(p, outcome, outcome.series)
	}
	return outcome, err
}

// inWorker measures a point in a worker. The outcome begins anew where the runner tries once more, and where the runner
// itself finds a failure.
func (e *Evaluator) inWorker(ctx context.Context, p Prepared, begun Outcome,
	measure func(*worker.Session, *Outcome) error) (Outcome, error) {
	outcome := begun
	failure, err := e.runner.run(ctx, p.subject(), func(s *worker.Session) error {
		outcome = begun
		if err := measure(s, &outcome); err != nil || outcome.Failure != nil {
			return err
		}
		return e.benchmark.plausible(&outcome, p.Point)
	})
	if failure != nil {
		outcome = begun
		outcome.Failure = failure
	}
	return outcome, err
}

// checkQuickly checks a few small shapes and then the workload itself.
func (e *Evaluator) checkQuickly(ctx context.Context, s *worker.Session, p Prepared) (*Failure, error) {
	if p.by != e { // another evaluator may have another workload
		return e.Tester.check(ctx, s, p, e.Tester.QuickCases(p.Point)...)
	}
	return e.Tester.follow(ctx, s, p.quick)
}

// Sample takes a fixed number of samples, for comparing points that have passed
// Measure. The result is checked there again. On the processor each call has a
// fresh process; see Refresh for devices that keep theirs.
func (e *Evaluator) Sample(ctx context.Context, p Prepared, samples int) (Outcome, error) {
	return e.sample(ctx, p, worker.Time{Samples: samples})
}

// SampleAlone is Sample for a figure that stands alone: the device rests between
// the samples, so that they do not depend on what it did before. What is compared
// in turns has no need of that.
func (e *Evaluator) SampleAlone(ctx context.Context, p Prepared, samples int) (Outcome, error) {
	return e.sample(ctx, p, worker.Time{Samples: samples, IdleFirst: true})
}

func (e *Evaluator) sample(ctx context.Context, p Prepared, t worker.Time) (outcome Outcome, err error) {
	outcome = Outcome{Failure: p.Failure, Binary: p.Binary.Digest}
	defer func() { outcome.MachineFaults = e.faults.take(p.Point) }()
	if p.Failure != nil {
		return outcome, nil
	}
	outcome, err = e.inWorker(ctx, p, outcome, func(s *worker.Session, o *Outcome) (err error) {
		if _, program := e.backend.(Program); !program { // whose timed run is checked, and may be long
			o.Failure, err = e.Tester.check(ctx, s, p, e.Tester.WorkloadCase())
		}
		if err == nil && o.Failure == nil {
			err = e.benchmark.fixed(ctx, s, p, t, e.Tester.WorkloadCase(), o)
		}
		for _, kind := range p.Kinds {
			if err != nil || o.Failure != nil {
				return err
			}
			err = e.sampleKind(ctx, s, p, t, kind, o)
		}
		return err
	})
	if err == nil && outcome.Failure == nil {
		outcome.Evidence = e.TakeEvidence(p)
		outcome = e.score.apply(p, outcome, outcome.series)
	}
	return outcome, err
}

// sampleKind measures the loaded point on another kind of data, after its result there is checked. What fails on one
// kind fails.
func (e *Evaluator) sampleKind(ctx context.Context, s *worker.Session, p Prepared, t worker.Time, kind string,
	o *Outcome) (err error) {
	defer func(start time.Time) { o.Spent.Kinds += time.Since(start) }(time.Now())
	c := e.Tester.WorkloadCase()
	c.Family = kind
	if o.Failure, err = e.Tester.check(ctx, s, p, c); err != nil || o.Failure != nil {
		o.Samples = nil
		return err
	}
	t.Samples = cmp.Or(p.KindSamples, t.Samples)
	t.Batch = o.Batch // the check has warmed up
	on := Outcome{Binary: o.Binary}
	if err = e.benchmark.fixed(ctx, s, p, t, c, &on); err != nil {
		return err
	}
	if on.Failure != nil && on.Failure.Reason == Throttled { // it says nothing, and the declared data was measured
		return nil
	}
	if on = e.score.apply(p, on, on.series); on.Failure != nil {
		o.Samples, o.Failure = nil, on.Failure
		return nil
	}
	o.Kinds = append(o.Kinds, KindSamples{kind, on.Samples})
	return nil
}

// warm lets a fresh worker of a device that keeps things get the workload and its
// right answer ready. Under a tool that would take long, and the workload is not run
// there.
func (e *Evaluator) warm(ctx context.Context, slot worker.Slot, client *worker.Client) error {
	if slot.Watched() {
		return nil
	}
	return e.onDevice.Answer(ctx, client, e.runner.initial, e.Tester.WorkloadCase())
}

// Anticipate works out the right answers that a point will be checked against,
// for a device that has time to spare while the point is compiled. What goes wrong
// shows when it is checked.
func (e *Evaluator) Anticipate(ctx context.Context, point space.Point) error {
	if e.Tester.kernel.Answered() || e.Tester.kernel.PythonReference() {
		return nil
	}
	if err := e.oracle.Ready(ctx, point); err != nil {
		return err
	}
	_, err := e.runner.run(ctx, check.Subject{Point: point, Module: e.oracle.Reference(point)},
		func(s *worker.Session) error {
			for _, c := range e.Tester.QuickCases(point) {
				if err := e.onDevice.Answer(ctx, s.Client, point, c); err != nil {
					s.Distrust()
					return ctx.Err()
				}
			}
			return nil
		})
	return err
}

// Problem identifies what the kernel is called with when it is timed.
func (e *Evaluator) Problem() (string, error) {
	bindings, err := e.Tester.WorkloadCase().Bind(e.Tester.kernel)
	if err != nil {
		return "", err
	}
	// Scratch is the kernel's own: one that needs more of it solves the same problem.
	bindings = slices.DeleteFunc(bindings, func(b arguments.Binding) bool { return b.Scratch })
	encoded, err := json.Marshal(bindings)
	return cache.Digest(encoded), err
}
