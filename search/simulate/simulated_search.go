package simulate

import (
	"context"
	"errors"
	"math"
	"time"

	"pawl/objective"
	"pawl/search"
	"pawl/search/replay"
	"pawl/search/trial"
)

// run is one search: after each tick of its clock, the recorded time of the point that the search takes to be the best.
type run struct {
	// best is NaN until a point has worked.
	best []float64
	// finished are the trials in the order in which they finished.
	finished []trial.Trial
	// asking is the time spent inside the sampler.
	asking time.Duration
	asks   int
	// inFlight sums up how many trials were in flight after each ask.
	inFlight int
	// regret is the search's own estimate of what it has left behind; nil for unknown.
	regret *trial.Regret
}

// search runs one search as tune does, but for the confirmation.
func (r *Recorded) search(ctx context.Context, e entrant, seed uint64, learned lessons, options Options) (run, error) {
	machine := &machine{lanes: make([]time.Duration, options.aheadOn(r))}
	evaluator := &evaluator{Evaluator: replay.NewEvaluator(r.space, seed), recorded: r, machine: machine}
	budget := r.pace(options) * time.Duration(options.Trials)
	journal := &journal{stop: make(chan struct{}), trials: r.space.Pool().Len()}
	settings := search.Options{
		Sampler: e.sampler, Settings: options.Settings, Seed: seed, First: learned.first, Earlier: learned.memory,
		DefaultUnknown: !r.space.Record().DefaultKnown, Machine: machine, Width: options.Devices,
		Ahead: options.aheadOn(r), AsPrepared: !r.onProcessor(), Stop: journal.stop,
	}
	if !r.onProcessor() {
		settings.Resident = evaluator
	}
	switch {
	case e.costAware:
		settings.Budget = time.Duration(float64(budget) / search.SearchShare)
		fallthrough
	case options.Clock:
		journal.until = budget
	default:
		settings.Trials, journal.trials = options.Trials, min(options.Trials, journal.trials)
	}
	result, err := search.Run(ctx, r.space.Pool(), evaluator, journal, trial.Past{}, settings)
	var nothing *search.NothingCompilesError
	if err != nil && !errors.As(err, &nothing) { // tune ends there too
		return run{}, err
	}
	summary := r.summarize(journal.finished, options)
	summary.regret = result.Regret
	summary.asking, summary.asks, summary.inFlight = result.Spending.Asking, journal.asked, journal.inFlight
	return summary, nil
}

// summarize follows the trials in the order in which they finished.
func (r *Recorded) summarize(finished []trial.Trial, options Options) run {
	result := run{best: make([]float64, 0, options.Trials), finished: finished}
	seen, truth := math.Inf(1), math.NaN()
	// A trial that ends within a tick counts at its end; one that takes several is not there yet at the first of them.
	tick := func(elapsed float64) {
		for float64(len(result.best)+1) < elapsed && len(result.best) < options.Trials {
			result.best = append(result.best, truth)
		}
	}
	for i, t := range finished {
		if options.Clock {
			tick(float64(t.Elapsed) / float64(r.pace(options)))
		} else {
			tick(float64(i + 1))
		}
		if !t.OK() || t.Outcome.Milliseconds() >= seen {
			continue
		}
		seen, truth = t.Outcome.Milliseconds(), r.entry(t.Point).Milliseconds
	}
	tick(math.Inf(1))
	return result
}

// pace returns how long the pipeline takes for an average point when it is full:
// whichever is scarcest, compilers, devices, or trials in flight.
func (r *Recorded) pace(options Options) time.Duration {
	return max(r.meanCompile/time.Duration(options.aheadOn(r)),
		(r.meanCost-r.meanCompile)/time.Duration(options.Devices), r.meanCost/time.Duration(options.aheadOn(r)))
}

// journal is a search's recorder. It stops the search before the confirmation, which simulations do not ask about.
type journal struct {
	finished        []trial.Trial
	asked, inFlight int
	stop            chan struct{}
	// trials and until are after how many trials or how much time the search is stopped; until 0 is never.
	trials int
	until  time.Duration
}

func (j *journal) Started(trial.Trial) error {
	j.asked++
	j.inFlight += j.asked - len(j.finished)
	return nil
}

func (j *journal) Finished(t trial.Trial) error {
	over := func() bool { return len(j.finished) >= j.trials || j.until > 0 && t.Elapsed >= j.until }
	if j.finished = append(j.finished, t); over() {
		close(j.stop)
	}
	return nil
}

func (j *journal) Disqualified(int, *objective.Failure) error { return nil }

func (j *journal) Measured(trial.Round) error { return nil }
