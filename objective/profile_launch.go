package objective

import (
	"context"
	"errors"
	"time"

	"pawl/objective/worker"
)

// ErrNoProfiler says that nothing can be profiled here. Errors that wrap it say what is missing
// and what to do.
var ErrNoProfiler = errors.New("no profiler")

// Profiling is a Backend whose workers a profiler can run.
type Profiling interface {
	// Under returns the backend with workers that a tool starts: the tool's program and its
	// arguments, to which the worker's are added.
	Under(tool []string) Backend
}

// Profiled is what came of a launch under a profiler.
type Profiled struct {
	// Failure is the point's own: it does not compile, its result is wrong.
	Failure *Failure
	// Printed is the end of what the profiler and the worker have printed.
	Printed string
	// Trouble is how the profiler failed, nil where it ended well.
	Trouble error
}

// Profile runs a point once, in a worker that the backend starts under a profiler. The result
// is checked first, outside of what the profiler sees, so that no wrong kernel is explained.
// The launch may take as long as allowed: a profiler repeats it many times.
func (e *Evaluator) Profile(ctx context.Context, p Prepared, allowed time.Duration) (Profiled, error) {
	result := Profiled{Failure: p.Failure}
	if p.Failure != nil {
		return result, nil
	}
	failure, err := e.runner.run(ctx, p.subject(), func(s *worker.Session) (err error) {
		result = Profiled{}
		s.Distrust() // it ends with this launch
		failure, err := e.Tester.check(ctx, s, p, e.Tester.WorkloadCase())
		switch {
		case err != nil:
			return err
		case failure != nil && failure.Reason == WrongResult:
			result.Failure = failure
			return nil
		case failure != nil: // a process that dies or hangs there may do so by the profiler's fault
			result.Trouble, result.Printed = errors.New(failure.String()), s.Client.Printed()
			return nil
		}
		_, fault, err := s.Profile(ctx, allowed)
		switch {
		case err != nil:
			return err
		case fault != nil:
			result.Trouble, result.Printed = fault, s.Client.Printed()
			return nil
		}
		leaving, cancel := context.WithTimeout(ctx, allowed)
		defer cancel()
		result.Trouble = s.Client.Leave(leaving)
		result.Printed = s.Client.Printed()
		return nil
	})
	if failure != nil {
		result = Profiled{Failure: failure}
	}
	return result, err
}
