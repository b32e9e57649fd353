package objective

import (
	"context"

	"pawl/objective/worker"
)

// check runs a point on cases, twice on each, and compares both results with the
// reference: the poison under the outputs differs between the runs. It stops at
// the first case that fails.
func (e *Evaluator) check(ctx context.Context, s *session, p Prepared, cases ...Case) (*Failure, error) {
	if e.backend.Resident() {
		return e.checkOnDevice(ctx, s, p, cases)
	}
	for _, c := range cases {
		if failure, err := e.checkHere(ctx, s, p, c); failure != nil || err != nil {
			return failure, err
		}
	}
	return nil, nil
}

// checkOnDevice checks on a device that knows the right answers and compares by
// itself. It is told all cases at once, and judged one by one.
func (e *Evaluator) checkOnDevice(ctx context.Context, s *session, p Prepared, cases []Case) (*Failure, error) {
	var steps []worker.Step
	for _, c := range cases {
		load, err := e.load(p, c)
		if err != nil {
			return nil, err
		}
		reference, err := e.reference(c)
		if err != nil {
			return nil, err
		}
		load.Reference, load.Watched = &reference, len(s.slot.Worker.Under) > 0
		steps = append(steps, worker.Step{Load: load, Run: worker.Run{Twice: true}})
	}
	var failure *Failure
	var broken error
	at, fault, err := s.check(ctx, steps, func(i int, result worker.Result) bool {
		failure, broken = e.judgeDevice(s, cases[i], result)
		return failure == nil && broken == nil
	})
	switch {
	case failure != nil || broken != nil:
		return failure, broken
	case fault != nil:
		s.distrust()
		return caseFailure(fault, cases[at]), nil
	}
	return nil, err
}

// judgeDevice says what a device's own comparisons mean.
func (e *Evaluator) judgeDevice(s *session, c Case, result worker.Result) (*Failure, error) {
	if result.Damage != nil {
		s.distrust()
		return caseFailure(result.Damage, c), nil
	}
	mismatch, err := judgeComparisons(result)
	if err != nil || mismatch == nil {
		return nil, err
	}
	return failed(WrongResult, mismatch.String(), c), nil
}

// checkHere checks one case on a device that hands its results over.
func (e *Evaluator) checkHere(ctx context.Context, s *session, p Prepared, c Case) (*Failure, error) {
	load, err := e.load(p, c)
	if err != nil {
		return nil, err
	}
	want, bounds, err := e.oracle.know(ctx, s.slot.Worker, c, load.Arguments)
	if err != nil {
		return nil, err
	}
	if fault, err := s.load(ctx, load); fault != nil || err != nil {
		return caseFailure(fault, c), err
	}
	var earlier [][]byte
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
		e.notes.repeated(p.Point, c, earlier, result.Outputs)
		earlier = result.Outputs
	}
	return nil, nil
}

func caseFailure(fault *worker.Fault, c Case) *Failure {
	if fault == nil {
		return nil
	}
	return failed(string(fault.Kind), fault.Explanation(), c)
}
