package objective

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/objective/worker"
	"pawl/space"
)

// plan is what a point is checked on, and what a worker is told for it.
type plan struct {
	point space.Point
	cases []Case
	loads []worker.Load
	// bitwise says that it matters whether two runs give the same bits, for a note.
	bitwise bool
}

// plan plans the check of a point on some cases.
func (e *Evaluator) plan(p Prepared, cases ...Case) (plan, error) {
	made := plan{point: p.Point, cases: cases}
	for _, c := range cases {
		load, err := e.load(p, c)
		if err != nil {
			return made, err
		}
		made.loads = append(made.loads, load)
	}
	return made, nil
}

// check runs a point on cases, twice on each, and compares both results with the
// reference: the poison under the outputs differs between the runs. It stops at
// the first case that fails.
func (e *Evaluator) check(ctx context.Context, s *session, p Prepared, cases ...Case) (*Failure, error) {
	made, err := e.plan(p, cases...)
	if err != nil {
		return nil, err
	}
	return e.follow(ctx, s, made)
}

// follow does what is planned, and says what a failure may mean.
func (e *Evaluator) follow(ctx context.Context, s *session, made plan) (*Failure, error) {
	failure, err := e.followPlan(ctx, s, made)
	if advice := e.generatedAdvice(failure); advice != "" {
		failure.Detail += advice
	}
	return failure, err
}

func (e *Evaluator) followPlan(ctx context.Context, s *session, made plan) (*Failure, error) {
	if e.backend.Resident() {
		return e.followOnDevice(ctx, s, made)
	}
	for i, c := range made.cases {
		if failure, err := e.followHere(ctx, s, made.point, c, made.loads[i]); failure != nil || err != nil {
			return failure, err
		}
	}
	return nil, nil
}

// followOnDevice checks on a device that knows the right answers and compares by
// itself. It is told all cases at once, and judged one by one.
//
// The last case is made ready before the first is run. It is the one that is timed
// next, and known to the device: what that takes is the time for getting the kernel
// there, which is no cost of the check.
func (e *Evaluator) followOnDevice(ctx context.Context, s *session, made plan) (*Failure, error) {
	watched := len(s.slot.Worker.Under) > 0
	var steps []worker.Step
	for _, load := range made.loads {
		load.Watched = watched
		steps = append(steps, worker.Step{Load: load, Run: &worker.Run{Twice: true, Bitwise: made.bitwise}})
	}
	cases, last := made.cases, len(made.cases)-1
	if last > 0 {
		steps = slices.Insert(steps, 0, worker.Step{Load: steps[last].Load})
		cases = slices.Insert(slices.Clone(cases), 0, cases[last])
	}
	var failure *Failure
	var broken error
	start := time.Now()
	at, fault, err := s.check(ctx, steps, func(i int, result worker.Result) bool {
		if steps[i].Run == nil {
			s.loading = time.Since(start)
			return true
		}
		failure, broken = e.judgeDevice(s, made.point, cases[i], result)
		return failure == nil && broken == nil
	})
	switch {
	case failure != nil || broken != nil:
		return failure, broken
	case fault != nil:
		s.distrust()
		return caseFailure(fault, cases[at]), nil
	case err != nil && ctx.Err() == nil:
		err = fmt.Errorf("%w%s", err, rangeAdvice(e.kernel))
	}
	return nil, err
}

// judgeDevice says what a device's own comparisons mean.
func (e *Evaluator) judgeDevice(s *session, point space.Point, c Case, result worker.Result) (*Failure, error) {
	if result.Damage != nil {
		s.found(result.Damage)
		return caseFailure(result.Damage, c), nil
	}
	mismatch, err := judgeComparisons(result)
	if err != nil {
		return nil, err
	}
	if mismatch == nil {
		if result.Differs {
			e.notes.differs(point, c)
		}
		s.evidence.add(c, sharesOf(result))
		return nil, nil
	}
	return failed(WrongResult, mismatch.String(), c), nil
}

// judgeComparisons returns the first output that a device found wrong.
func judgeComparisons(result worker.Result) (*Mismatch, error) {
	if len(result.Comparisons) == 0 {
		return nil, fmt.Errorf("the device compared nothing")
	}
	for _, c := range result.Comparisons {
		switch {
		case c.Undefined > 0:
			return nil, fmt.Errorf("the reference gives %d values for %s that are not finite: the oracle is broken", c.Undefined, c.Argument)
		case c.Bad > 0:
			return &Mismatch{
				Argument: c.Argument, First: int(c.First), Got: c.Got, Want: c.Want,
				Worst: float64(c.Worst), Bad: int(c.Bad), Total: int(c.Total),
			}, nil
		}
	}
	return nil, nil
}

// followHere checks one case on a device that hands its results over.
func (e *Evaluator) followHere(ctx context.Context, s *session, point space.Point, c Case, load worker.Load) (*Failure, error) {
	want, bounds, err := e.oracle.know(ctx, s.slot.Worker, c, load.Arguments)
	if err != nil {
		return nil, err
	}
	if fault, err := s.load(ctx, load); fault != nil || err != nil {
		return caseFailure(fault, c), err
	}
	var earlier [][]byte
	worst := 0.0
	for range 2 {
		result, fault, err := s.run(ctx, worker.Run{})
		if err != nil {
			return nil, err
		}
		if fault == nil {
			fault = result.Damage
		}
		if fault != nil {
			s.distrust()
			return caseFailure(fault, c), nil
		}
		mismatch, err := e.oracle.judge(result.Outputs, want, bounds)
		if err != nil {
			return nil, err
		}
		if mismatch != nil {
			return failed(WrongResult, mismatch.String(), c), nil
		}
		e.notes.repeated(point, c, earlier, result.Outputs)
		if s.evidence != nil {
			worst = max(worst, e.oracle.share(result.Outputs, want, bounds))
		}
		earlier = result.Outputs
	}
	s.evidence.add(c, worst)
	return nil, nil
}

func caseFailure(fault *worker.Fault, c Case) *Failure {
	if fault == nil {
		return nil
	}
	return failed(string(fault.Kind), fault.Explanation(), c)
}
