package remote

import (
	"context"
	"errors"
	"fmt"

	"pawl/objective"
	"pawl/objective/worker"
	"pawl/space"
	"pawl/studies/farm"
	"pawl/studies/farm/ask"
)

// absent is a device as its machine describes it. Nothing can be run on it from here.
type absent struct {
	description farm.Description
	evaluator   *ask.Evaluator
	notice      func(string)
}

var _ objective.Backend = (*absent)(nil)

var errAbsent = errors.New("remote: the device is not here")

// Preflight rules nothing out: the device does, when it is to run something.
func (*absent) Preflight(space.Point) *objective.Failure { return nil }

// Compile fails: points are compiled when they are opened.
func (*absent) Compile(context.Context, space.Point) (objective.Binary, *objective.Failure, error) {
	return objective.Binary{}, nil, errAbsent
}

// Reference fails: it travels with a point that is opened.
func (*absent) Reference(context.Context, space.Point) (objective.Binary, error) {
	return objective.Binary{}, errAbsent
}

// Reserve fails.
func (*absent) Reserve(context.Context, space.Point) (worker.Slot, error) {
	return worker.Slot{}, errAbsent
}

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
