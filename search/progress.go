package search

import (
	"time"

	"pawl/space"
)

// The phases that a progress report may be in, beside Confirmation and
// Ablation.
const SearchPhase Phase = "search"

// Progress is a snapshot of a running study.
type Progress struct {
	Phase Phase
	// Told trials of Limit; Limit is 0 when only time bounds the search.
	Told, Limit int
	// Trial is the trial that was just told, nil otherwise.
	Trial *Trial
	// Best is the fastest trial so far, nil before the first.
	Best *Trial
	// Failures counts the failed trials by reason.
	Failures map[string]int
	// Compiling are the points that are being prepared, oldest first.
	Compiling []space.Point
	// Elapsed is the active time, of Budget; 0 means no budget.
	Elapsed, Budget time.Duration
	// Round counts the finished rounds, of Rounds, in a confirmation phase.
	Round, Rounds int
}

// progress keeps the counts behind the snapshots.
type progress struct {
	told     int
	failures map[string]int
}

func (p *progress) count(t Trial) {
	if !t.Told {
		return
	}
	p.told++
	if t.Outcome.Failure != nil {
		p.failures = with(p.failures, t.Outcome.Failure.Reason, p.failures[t.Outcome.Failure.Reason]+1)
	}
}

func (e *engine) observe(phase Phase, trial *Trial) {
	snapshot := Progress{
		Phase: phase, Told: e.progress.told, Limit: e.options.Trials, Trial: trial,
		Failures: copyMap(e.progress.failures),
		Elapsed:  e.elapsed(), Budget: e.options.Budget,
	}
	if best, found := e.study.best(); found {
		snapshot.Best = &best
	}
	for _, f := range e.flight {
		select {
		case <-f.prepared:
		default:
			snapshot.Compiling = append(snapshot.Compiling, f.trial.Point)
		}
	}
	e.options.Observe(snapshot)
}

func (e *engine) observeRound(phase Phase, round, rounds int) {
	snapshot := Progress{
		Phase: phase, Told: e.progress.told, Limit: e.options.Trials, Failures: copyMap(e.progress.failures),
		Elapsed: e.elapsed(), Budget: e.options.Budget, Round: round, Rounds: rounds,
	}
	if best, found := e.study.best(); found {
		snapshot.Best = &best
	}
	e.options.Observe(snapshot)
}
