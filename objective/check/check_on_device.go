package check

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/inputs"
	"pawl/objective/worker"
	"pawl/space"
)

// OnDevice checks on a device that knows the right answers and compares by itself.
type OnDevice struct{ Target }

var _ Checker = OnDevice{}

// Load says also how the kernel is launched and how the device gets the right answer.
func (d OnDevice) Load(ctx context.Context, s Subject, c Case) (worker.Load, error) {
	load, err := d.load(s, c)
	if err != nil {
		return load, err
	}
	env := environment(c.Dims, s.Point)
	if load.Calls, err = d.Kernel.Launch.Calls(env); err != nil {
		return load, err
	}
	kernels.Complete(load.Calls, s.Module.Functions)
	if load.Maps, err = d.Kernel.Arguments.TensorLayouts(env); err != nil {
		return load, fmt.Errorf("kernel %s at %s: %w", d.Kernel.Name, c.Dims, err)
	}
	load.Reference = &worker.Reference{Tolerance: d.Kernel.Tolerance}
	if d.Kernel.Answered() {
		return load, nil
	}
	if d.Kernel.PythonReference() {
		load.Reference.Answers, err = d.known(ctx, s.Point, c, load.Arguments)
		return load, err
	}
	reference := d.Oracle.Reference(s.Point)
	call, err := d.Kernel.Launch.Reference.At(environment(c.Dims, d.Kernel.ReferencePoint(s.Point)))
	calls := []kernels.Call{call}
	kernels.Complete(calls, reference.Functions)
	load.Reference.Module, load.Reference.Call = reference.Path, calls[0]
	return load, err
}

// known are the right answers that a device is given because it cannot compute them: to the case
// and, where it is what is timed, to further contents, each of which a timed launch sees once. Their
// seeds are drawn anew in every process, so that no kernel can foresee them.
func (d OnDevice) known(ctx context.Context, point space.Point, c Case,
	bindings []arguments.Binding) (all []worker.KnownAnswer, err error) {
	seeds, asked := d.ask(point, c, bindings)
	for i, a := range asked {
		entry, err := a.wait(ctx)
		if err != nil {
			return nil, err
		}
		all = append(all, worker.KnownAnswer{Seed: seeds[i], Path: entry.Path, Digest: entry.Digest})
	}
	return all, nil
}

func (d OnDevice) ask(point space.Point, c Case, bindings []arguments.Binding) (seeds []uint64, all []*asked) {
	seeds = []uint64{c.Seed}
	if maps.Equal(c.Dims, d.Workload.Dims) && c.family() == arguments.Declared {
		seeds = append(seeds, d.Oracle.furtherSeeds[:]...)
	}
	for i, seed := range seeds {
		q := question{c, d.Kernel.ReferencePoint(point)}
		if i > 0 {
			q.Timed = inputs.Content{Pool: seed, Seed: seed}
		}
		all = append(all, d.Oracle.ask(q, bindings))
	}
	return seeds, all
}

// Foresee has answers worked out that a device is given, of the first cases that lack theirs and of so many at most.
// It returns how many cases come before them.
func (d OnDevice) Foresee(point space.Point, cases []Case, most int) (known int) {
	if !d.Kernel.PythonReference() {
		return len(cases)
	}
	known = len(cases)
	for i := 0; i < len(cases) && most > 0; i++ {
		bindings, err := cases[i].Bind(d.Kernel)
		if err != nil { // it shows when the case is loaded
			continue
		}
		_, all := d.ask(point, cases[i], bindings)
		select {
		case <-all[len(all)-1].done: // the others are as large and were asked before
		default:
			known, most = min(known, i), most-1
		}
	}
	return known
}

// Answer lets a worker get a case and its right answer ready, by loading the reference
// as if it were the kernel. The oracle must be ready. Answers in files are there already, and
// Python's are when a case is loaded.
func (d OnDevice) Answer(ctx context.Context, client *worker.Client, point space.Point, c Case) error {
	if d.Kernel.Answered() || d.Kernel.PythonReference() {
		return nil
	}
	load, err := d.Load(ctx, Subject{point, d.Oracle.Reference(point)}, c)
	if err != nil {
		return err
	}
	load.Calls, load.Maps = []kernels.Call{load.Reference.Call}, nil
	ctx, cancel := process.Allow(ctx, referenceTimeout)
	defer cancel()
	return client.Load(ctx, load)
}

// Check asks for all cases at once, and looks at the answers one by one.
//
// The last case is made ready before the first is run. It is the one that is timed
// next, and known to the device: what that takes is the time for getting the kernel
// there, which is no cost of the check.
func (d OnDevice) Check(ctx context.Context, s *worker.Session, plan Plan) (*worker.Fault, error) {
	var steps []worker.Step
	for _, load := range plan.Loads {
		load.Watched = s.Slot.Watched()
		steps = append(steps, worker.Step{Load: load, Run: &worker.Run{Twice: true, Bitwise: plan.Evidence != nil}})
	}
	cases, last := plan.Cases, len(plan.Cases)-1
	if last > 0 {
		steps = slices.Insert(steps, 0, worker.Step{Load: steps[last].Load})
		cases = slices.Insert(slices.Clone(cases), 0, cases[last])
	}
	var found *worker.Fault
	var broken error
	start := time.Now()
	at, fault, err := s.Check(ctx, steps, func(i int, result worker.Result) bool {
		if steps[i].Run == nil {
			s.Loading = time.Since(start)
			return true
		}
		found, broken = d.judge(s, plan, cases[i], result)
		return found == nil && broken == nil
	})
	switch {
	case found != nil || broken != nil:
		return found, broken
	case fault != nil:
		s.Distrust()
		return d.at(cases[at], fault), nil
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("%w%s", err, rangeAdvice(d.Kernel))
	}
	return nil, err
}

// judge says what a device's own comparisons mean.
func (d OnDevice) judge(s *worker.Session, plan Plan, c Case, result worker.Result) (*worker.Fault, error) {
	if result.Damage != nil {
		s.Damaged(result.Damage)
		return d.at(c, result.Damage), nil
	}
	mismatch, err := firstMismatch(result, c.special())
	if err != nil {
		return nil, err
	}
	if mismatch != nil {
		return d.wrong(c, mismatch), nil
	}
	if result.Differs {
		d.Notes.differs(plan.Point, c)
	}
	worst := 0.0
	for _, comparison := range result.Comparisons {
		worst = max(worst, float64(comparison.Share))
		d.Notes.biased(plan.Point, c, comparison.Argument, float64(comparison.Bias))
	}
	plan.Evidence.add(c, min(worst, 1))
	return nil, nil
}

// firstMismatch returns the first output that a device found wrong.
func firstMismatch(result worker.Result, special bool) (*worker.Comparison, error) {
	if len(result.Comparisons) == 0 {
		return nil, fmt.Errorf("the device compared nothing")
	}
	for _, c := range result.Comparisons {
		switch {
		case c.Undefined > 0 && !special:
			return nil, &ReferenceError{fmt.Errorf("the reference gives %d values for %s that are not finite: the oracle is "+
				"broken, or does not write them; is the shape of %s too large?", c.Undefined, c.Argument, c.Argument)}
		case c.Bad > 0:
			return &c, nil
		}
	}
	return nil, nil
}

// Outputs runs the subject and the reference and copies both results out.
func (d OnDevice) Outputs(ctx context.Context, s *worker.Session, subject Subject, c Case) (*Outputs, error) {
	load, err := d.Load(ctx, subject, c)
	if err != nil {
		return nil, err
	}
	reference := load.Reference
	load.Reference = nil // the results themselves are wanted
	got, err := outputsOf(ctx, s, load)
	if err != nil || got == nil {
		return nil, err
	}
	var want [][]byte
	switch {
	case d.Kernel.Answered():
		want, err = d.Oracle.read(c, load.Arguments)
	case d.Kernel.PythonReference():
		want, err = splitOutputs(reference.Answers[0].Path, load.Arguments)
	default:
		load.Module, load.Calls, load.Maps = reference.Module, []kernels.Call{reference.Call}, nil
		want, err = outputsOf(ctx, s, load)
	}
	if err != nil || want == nil {
		return nil, err
	}
	return &Outputs{Answer{d.Kernel, want, d.Oracle.bounds(), c.special()}, load.Arguments}, nil
}
