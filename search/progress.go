package search

import (
	"maps"
	"time"

	"pawl/search/trial"
	"pawl/space"
)

// SearchPhase is the phase of a progress report before Confirmation and Ablation.
const SearchPhase trial.Phase = "search"

// Progress is a snapshot of a running study.
type Progress struct {
	Phase trial.Phase
	// Finished trials of Limit; Limit is 0 when only time bounds the search.
	Finished, Limit int
	// Trial is the trial that has just finished, nil otherwise.
	Trial *trial.Trial
	// Best is the fastest trial so far, nil before the first.
	Best *trial.Trial
	// Default is the default point's trial, nil before it has a time.
	Default *trial.Trial
	// Failures counts the failed trials by reason.
	Failures map[string]int
	// Compiling are the points that are being prepared, oldest first.
	Compiling []space.Point
	// Elapsed is the active time, of Budget; 0 means no budget. The search may take SearchTime of it.
	Elapsed, Budget, SearchTime time.Duration
	// Plan says once, when the first run's time is known, what the budget allows; mostly nothing.
	Plan string
	// Round counts the finished rounds, of Rounds, in a confirmation phase.
	Round, Rounds int
}

// observer keeps the counts behind the snapshots and hands these out.
type observer struct {
	options  Options
	study    *study
	budget   *budget
	planned  bool // said what the budget allows
	finished int
	failures map[string]int
}

func (o *observer) finish(t trial.Trial) {
	if !t.Finished {
		return
	}
	o.finished++
	if t.Outcome.Failure != nil {
		o.failures[t.Outcome.Failure.Reason]++
	}
}

func (o *observer) search(flights []*flight, finished *trial.Trial) {
	snapshot := Progress{Phase: SearchPhase, Trial: finished}
	for _, f := range flights {
		if !done(f.prepared) {
			snapshot.Compiling = append(snapshot.Compiling, f.trial.Point)
		}
	}
	o.report(snapshot)
}

func (o *observer) round(phase trial.Phase, rounds int) {
	o.report(Progress{Phase: phase, Round: rounds, Rounds: o.options.Rounds})
}

func (o *observer) report(snapshot Progress) {
	snapshot.Finished, snapshot.Limit, snapshot.Failures = o.finished, o.options.Trials, maps.Clone(o.failures)
	snapshot.Elapsed, snapshot.Budget = o.budget.elapsed(), o.options.Budget
	snapshot.SearchTime = o.budget.searchTime()
	if best, found := o.study.best(); found {
		snapshot.Best = &best
	}
	if initial, found := o.study.initial(); found {
		snapshot.Default = &initial
		if !o.planned {
			snapshot.Plan, o.planned = o.budget.explain(), true
		}
	}
	o.options.Observe(snapshot)
}
