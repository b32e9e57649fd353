package tune

import (
	"context"
	"errors"
	"time"

	"pawl/objective/devices"
	"pawl/studies"
	"pawl/studies/across"
)

// acrossShare is the part of the budget that is for the winner on other workloads, where
// that is asked for.
const acrossShare = 0.3

// elsewhere reports whether the winner is to be measured on other workloads.
func (r *run) elsewhere(study studies.Study) bool {
	return r.Study.Across && len(study.Others()) > 0
}

// across measures the winner on the other workloads, in the time that the search and the
// confirmation have left of the budget, and at least in its own share of it.
func (r *run) across(ctx context.Context, study studies.Study) error {
	if !r.elsewhere(study) {
		return nil
	}
	head, err := r.store.Study(ctx, study.ID)
	if err != nil {
		return err
	}
	r.close() // its workers would wait beside those of other workloads
	budget := r.limited().Budget
	if budget > 0 {
		budget = max(budget-head.Elapsed, time.Duration(acrossShare*float64(budget)))
	}
	err = across.Measure(ctx, r.store, study.ID, across.Options{
		Budget: budget, Rounds: r.Study.Rounds, Tools: r.Tools, Begin: r.Observer.Across, Stop: r.Stop,
	})
	if errors.As(err, new(*devices.NothingError)) {
		r.Tools.Notice(err.Error())
		return nil
	}
	return err
}
