package remote

import (
	"context"
	"fmt"

	"pawl/objective"
	"pawl/space"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
)

// absent is a device as its machine describes it. Nothing can be run on it from here: points are compiled when they
// are opened, and their references travel with them.
type absent struct {
	objective.Backend // nil

	description farm.Description
	evaluator   *ask.Evaluator
	notice      func(string)
}

// Preflight rules nothing out: the device does, when it is to run something.
func (*absent) Preflight(space.Point) *objective.Failure { return nil }

// Facts are what the machines said.
func (a *absent) Facts() objective.Facts {
	d := a.description
	return objective.Facts{Width: 1, Resident: d.Resident, Roofline: d.Roofline, Environment: d.Environment}
}

// Close tells the farm that nothing more is asked.
func (a *absent) Close() {
	if err := a.evaluator.End(context.Background(), true); err != nil {
		a.notice(fmt.Sprintf("the farm was not told that a comparison is over: %v", err))
	}
}
