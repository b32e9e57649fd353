package objective

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/kernels"
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
}

// Evaluator takes points of one kernel and workload through the stages.
// Prepare is safe for concurrent use; Measure, Verify and Sample are called by
// one goroutine at a time.
type Evaluator struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	backend  Backend
	options  Options
	oracle   *oracle
	notes    notes
}

// NewEvaluator returns an evaluator. Close it to end its worker processes.
func NewEvaluator(k *kernels.Kernel, w kernels.Workload, b Backend, options Options) *Evaluator {
	if options.RunTimeout == 0 {
		options.RunTimeout = 10 * time.Second
	}
	if options.QuickCases == 0 {
		options.QuickCases = 5
	}
	return &Evaluator{kernel: k, workload: w, backend: b, options: options, oracle: newOracle(k, b)}
}

// Close ends the evaluator's worker processes.
func (e *Evaluator) Close() { e.oracle.close() }

// Prepared is a point that is ready to be measured, or that failed before.
type Prepared struct {
	Point   space.Point
	Binary  Binary
	Failure *Failure
	Spent   Spent
}

// Prepare does what needs no device: preflight and compile.
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
	return p, nil
}

// Measure checks a point's results and takes samples of its time. Rival is the
// best time so far in milliseconds, 0 for none: a point that is hopelessly
// behind it gets few samples.
func (e *Evaluator) Measure(ctx context.Context, p Prepared, rival float64) (Outcome, error) {
	outcome := Outcome{Failure: p.Failure, Binary: p.Binary.Digest, Spent: p.Spent}
	if p.Failure != nil {
		return outcome, nil
	}
	err := e.onDevice(ctx, p, func(s *session) (err error) {
		start := time.Now()
		outcome.Failure, err = e.checkQuickly(ctx, s, p)
		outcome.Spent.Check = time.Since(start)
		if err != nil || outcome.Failure != nil {
			return err
		}
		start = time.Now()
		outcome.Failure, err = e.bench(ctx, s, rival, &outcome)
		outcome.Spent.Measure = time.Since(start)
		return err
	})
	return outcome, err
}

// checkQuickly checks a few small shapes and then the workload itself, with
// the very inputs that are timed next.
func (e *Evaluator) checkQuickly(ctx context.Context, s *session, p Prepared) (*Failure, error) {
	for _, c := range e.quick(p.Point) {
		if failure, err := e.check(ctx, s, p, c); failure != nil || err != nil {
			return failure, err
		}
	}
	return nil, nil
}

// Verify checks a point on the full tier.
func (e *Evaluator) Verify(ctx context.Context, p Prepared) (*Failure, error) {
	finding, err := e.Try(ctx, p, slices.Values(e.FullCases(p.Point)), nil)
	return finding.Failure, err
}

// Sample takes a fixed number of samples in a fresh process, for comparing
// points that have passed Measure. The result is checked there again.
func (e *Evaluator) Sample(ctx context.Context, p Prepared, samples int) (Outcome, error) {
	outcome := Outcome{Failure: p.Failure, Binary: p.Binary.Digest}
	if p.Failure != nil {
		return outcome, nil
	}
	err := e.onDevice(ctx, p, func(s *session) (err error) {
		outcome.Failure, err = e.check(ctx, s, p, e.workloadCase())
		if err != nil || outcome.Failure != nil {
			return err
		}
		timing, fault, err := s.time(ctx, worker.Time{Samples: samples})
		if fault != nil {
			outcome.Failure = faultFailure(Bench, fault)
		}
		outcome.Samples, outcome.Batch = timing.Samples, timing.Batch
		return err
	})
	return outcome, err
}

// bench takes samples until the stopping rule is content.
func (e *Evaluator) bench(ctx context.Context, s *session, rival float64, outcome *Outcome) (*Failure, error) {
	const chunk = 5
	start := time.Now()
	for {
		timing, fault, err := s.time(ctx, worker.Time{Samples: chunk, Batch: outcome.Batch})
		if err != nil {
			return nil, err
		}
		if fault != nil {
			outcome.Samples = nil
			return faultFailure(Bench, fault), nil
		}
		outcome.Batch = timing.Batch
		outcome.Samples = append(outcome.Samples, timing.Samples...)
		if outcome.Stop = e.options.Stopping.Decide(outcome.Samples, rival, time.Since(start)); outcome.Stop != "" {
			return nil, nil
		}
	}
}

// check runs a point twice on one case and compares both results with the
// reference: the poison under the outputs differs between the runs.
func (e *Evaluator) check(ctx context.Context, s *session, p Prepared, c Case) (*Failure, error) {
	bindings, err := c.bind(e.kernel)
	if err != nil {
		return nil, err
	}
	want, err := e.oracle.answer(ctx, c, bindings)
	if err != nil {
		return nil, err
	}
	bounds, err := e.oracle.bounds(ctx, c, bindings, want)
	if err != nil {
		return nil, err
	}
	if fault, err := s.load(ctx, e.load(p, c, bindings)); fault != nil || err != nil {
		return e.caseFailure(fault, c), err
	}
	var earlier [][]byte
	for range 2 {
		result, fault, err := s.run(ctx)
		if err != nil {
			return nil, err
		}
		if fault == nil {
			fault = result.Damage
		}
		if fault != nil {
			return e.caseFailure(fault, c), nil
		}
		mismatch, err := e.oracle.judge(result.Outputs, want, bounds)
		if err != nil {
			return nil, err
		}
		if mismatch != nil {
			return failed(WrongResult, mismatch.String(), c), nil
		}
		e.notes.repeated(p.Point, c, earlier, result.Outputs)
		earlier = result.Outputs
	}
	return nil, nil
}

func (e *Evaluator) load(p Prepared, c Case, bindings []kernels.Binding) worker.Load {
	return worker.Load{Module: p.Binary.Path, Support: p.Binary.Support, Arguments: bindings, Seed: c.Seed, Layout: c.layout()}
}

func (e *Evaluator) caseFailure(fault *worker.Fault, c Case) *Failure {
	if fault == nil {
		return nil
	}
	return failed(string(fault.Kind), fault.Explanation(), c)
}

func (e *Evaluator) workloadCase() Case {
	return Case{Dims: e.workload.Dims, Seed: e.options.Seed, Layout: worker.Aligned}
}

// onDevice runs something in a fresh worker, with the device reserved for the
// point.
func (e *Evaluator) onDevice(ctx context.Context, p Prepared, do func(*session) error) error {
	if err := e.oracle.ready(ctx); err != nil {
		return err
	}
	release, err := e.backend.Reserve(ctx, p.Point)
	if err != nil {
		return err
	}
	defer release()
	if err := p.Binary.unchanged(); err != nil {
		return err
	}
	client, err := worker.Start(e.backend.Worker())
	if err != nil {
		return err
	}
	defer client.Close()
	if err := do(&session{client: client, allowed: e.options.RunTimeout}); err != nil {
		return err
	}
	return p.Binary.unchanged()
}
