package check

import (
	"cmp"
	"context"

	"pawl/objective/worker"
)

// Here compares in this process the results that workers hand over.
type Here struct{ Target }

var _ Checker = Here{}

// Load has neither a launch nor a reference: what runs on the processor is called.
func (h Here) Load(_ context.Context, s Subject, c Case) (worker.Load, error) {
	return h.load(s, c)
}

// Check goes through the cases one by one.
func (h Here) Check(ctx context.Context, s *worker.Session, plan Plan) (*worker.Fault, error) {
	for i := range plan.Cases {
		if fault, err := h.checkCase(ctx, s, plan, i); fault != nil || err != nil {
			return fault, err
		}
	}
	return nil, nil
}

func (h Here) checkCase(ctx context.Context, s *worker.Session, plan Plan, i int) (*worker.Fault, error) {
	c, load := plan.Cases[i], plan.Loads[i]
	answer, err := h.Oracle.Know(ctx, s.Slot.Worker, plan.Point, c, load.Arguments)
	if err != nil {
		return nil, err
	}
	if fault, err := s.Load(ctx, load); fault != nil || err != nil {
		return h.at(c, fault), err
	}
	var earlier worker.Result
	worst := 0.0
	for run := range 2 {
		result, fault, err := s.Run(ctx)
		if err != nil {
			return nil, err
		}
		if fault = cmp.Or(fault, result.Damage); fault != nil {
			s.Distrust()
			return h.at(c, fault), nil
		}
		mismatch, err := answer.Compare(result.Outputs)
		if run == 0 {
			earlier = result
		}
		if mismatch != nil || err != nil {
			if detail := answer.unwritten(earlier.Outputs, result.Outputs); detail != "" {
				return h.at(c, &worker.Fault{Kind: WrongResult, Detail: detail}), nil
			}
		}
		if err != nil {
			return nil, err
		}
		if mismatch != nil {
			return h.wrong(c, mismatch), nil
		}
		if run > 0 {
			h.Notes.repeated(plan.Point, c, earlier, result)
		}
		for i, output := range h.Kernel.Arguments.Outputs() {
			if plan.Evidence != nil {
				largest, mean := answer.errors(i, result.Outputs[i])
				worst = max(worst, largest)
				h.Notes.biased(plan.Point, c, output.Name, mean)
			}
		}
	}
	plan.Evidence.add(c, worst)
	return nil, nil
}

// Outputs runs the subject here and asks the oracle.
func (h Here) Outputs(ctx context.Context, s *worker.Session, subject Subject, c Case) (*Outputs, error) {
	load, err := h.Load(ctx, subject, c)
	if err != nil {
		return nil, err
	}
	got, err := outputsOf(ctx, s, load)
	if err != nil || got == nil {
		return nil, err
	}
	answer, err := h.Oracle.Know(ctx, s.Slot.Worker, subject.Point, c, load.Arguments)
	return &Outputs{answer, load.Arguments}, err
}
