package objective

import (
	"context"
	"time"

	"pawl/objective/check"
	"pawl/objective/worker"
)

// Program is a Backend whose points are programs of their own. They run as processes
// without a worker around them, each run in a fresh one, and say by a check of the user's
// whether they are right: there is no reference whose results could be compared.
type Program interface {
	// Check runs a point's program once, within the time allowed, and has what it leaves
	// behind checked. Without anything to check by, that it runs is all that is known.
	Check(ctx context.Context, b Binary, allowed time.Duration) (*worker.Fault, error)
	// Time runs it so many times, or fewer where a run takes long, and checks what the last
	// run leaves behind.
	Time(ctx context.Context, b Binary, samples int, allowed time.Duration) (worker.Timing, *worker.Fault, error)
	// Checked reports whether there is anything to check by.
	Checked() bool
}

// processes is the source of sessions without a worker.
type processes struct{}

var _ worker.Source = processes{}

// Take returns a session that only knows how long things may take.
func (processes) Take(_ context.Context, slot worker.Slot, allowed time.Duration) (*worker.Session, error) {
	return &worker.Session{Slot: slot, Allowed: allowed}, nil
}

// Return does nothing: each run has ended its own process.
func (processes) Return(*worker.Session) {}

type byProgram struct{ Program }

var _ check.Checker = byProgram{}

// Load names the point's file.
func (byProgram) Load(_ context.Context, s check.Subject, _ check.Case) (worker.Load, error) {
	return worker.Load{Module: s.Module.Path}, nil
}

// Check runs the program once for every case, of which there is one: the workload.
func (p byProgram) Check(ctx context.Context, s *worker.Session, plan check.Plan) (*worker.Fault, error) {
	for i, load := range plan.Loads {
		ended := s.Clock()
		fault, err := p.Program.Check(ctx, Binary{Module: Module{Path: load.Module}}, s.Allowed)
		ended()
		if fault, err = killed(fault, err); fault != nil || err != nil {
			return fault, err
		}
		if p.Checked() {
			plan.Evidence.Passed(plan.Cases[i])
		}
	}
	return nil, nil
}

// Outputs has no picture to offer: nobody knows what a program's results look like.
func (byProgram) Outputs(context.Context, *worker.Session, check.Subject, check.Case) (*check.Outputs, error) {
	return nil, nil
}

func timeProgram(program Program) timer {
	return func(_ context.Context, s *worker.Session, p Prepared, _ worker.Time, _ check.Case) (takeSamples, error) {
		return func(ctx context.Context, n int) (worker.Timing, *worker.Fault, error) {
			timing, fault, err := program.Time(ctx, p.Binary, n, s.Allowed)
			fault, err = killed(fault, err)
			return timing, fault, err
		}, nil
	}
}

// killed makes the machine's fault of a program's where somebody else may have killed it.
func killed(fault *worker.Fault, err error) (*worker.Fault, error) {
	if fault != nil && fault.Outside != nil {
		return nil, fault.Outside
	}
	return fault, err
}
