package search

import (
	"context"
	"errors"
	"time"

	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/sampler"
	"pawl/search/trial"
	"pawl/space"
)

type engine struct {
	options   Options
	evaluator Evaluator
	recorder  Recorder
	past      trial.Past
	machine   Machine

	study    *study
	pipeline *pipeline
	second   *secondLook
	budget   *budget
	// searchOver ends what runs when the time of the search is over; nil where it takes none.
	searchOver *time.Timer
	observer   *observer

	rounds   []trial.Round
	spending trial.Spending
	ended    trial.Ending
	// ineffective are the parameters that never change the machine code.
	ineffective []string
}

// Run searches and confirms. The pool holds the points that may be tried. On a
// cancelled context it returns the context's error at once; everything that has
// finished is recorded.
func Run(ctx context.Context, pool *space.Pool, evaluator Evaluator, recorder Recorder, past trial.Past,
	options Options) (trial.Past, error) {
	e, err := newEngine(pool, evaluator, recorder, past, options)
	if err != nil {
		return trial.Past{}, err
	}
	// Whatever happens, no preparation outlives the search: the confirmation wants
	// the machine for itself.
	ctx, release := e.options.untilStopped(ctx)
	defer release()
	searching, cancel := context.WithCancelCause(ctx)
	if e.timed() {
		e.searchOver = time.AfterFunc(e.budget.untilAbandoned(), func() { cancel(errTimeOver) })
	}
	err = e.search(searching)
	switch {
	case over(searching, err, errTimeOver):
		err, e.ended = nil, trial.BudgetSpent
	case over(searching, err, errStopped):
		err, e.ended = nil, trial.Stopped
	}
	cancel(nil)
	e.pipeline.drain()
	if err != nil || e.ended == trial.Stopped {
		return e.result(), err
	}
	err = timed(&e.spending.Confirming, func() error { return e.conclude(ctx) })
	return e.result(), err
}

// conclude confirms, in the time that is left.
func (e *engine) conclude(ctx context.Context) error {
	if e.timed() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeoutCause(ctx, e.budget.untilAbandoned(), errTimeOver)
		defer cancel()
	}
	candidates, options := e.confirmation()
	err := confirm.Run(ctx, e.evaluator, e, candidates, options)
	if err == nil {
		err = e.findIneffective(ctx)
	}
	if over(ctx, err, errTimeOver) || over(ctx, err, errStopped) {
		return nil
	}
	return err
}

// timed reports whether there is a budget that the clock on the wall uses up.
func (e *engine) timed() bool { return e.options.Budget > 0 && e.options.Machine == nil }

// over reports whether an error says no more than why the context has ended.
func over(ctx context.Context, err, why error) bool {
	return err != nil && errors.Is(context.Cause(ctx), why) && (errors.Is(err, why) || errors.Is(err, ctx.Err()))
}

func newEngine(pool *space.Pool, evaluator Evaluator, recorder Recorder, past trial.Past,
	options Options) (*engine, error) {
	options = options.withDefaults()
	evaluator = retryHung{evaluator}
	if options.Resident != nil {
		options.Resident = retryHungResident{options.Resident}
	}
	study, err := newStudy(pool, options, recorder)
	if err != nil {
		return nil, err
	}
	e := &engine{
		options: options, evaluator: evaluator, recorder: recorder, past: past, machine: options.Machine,
		study: study, rounds: past.Rounds, spending: past.Spending,
	}
	if e.machine == nil {
		lanes := make(chan struct{}, options.Lanes)
		e.machine = &here{started: time.Now(), lanes: lanes, changed: make(chan struct{}, 1)}
	}
	e.pipeline = &pipeline{
		machine: e.machine, evaluator: evaluator, options: options, study: study, spending: &e.spending,
		nextToMeasure: study.nextToMeasure,
	}
	e.budget = &budget{total: options.Budget, elapsed: e.elapsed, study: study}
	e.second = newSecondLook(e)
	e.observer = &observer{options: options, study: study, budget: e.budget, failures: map[string]int{},
		planned: len(past.Trials) > 0}
	return e, nil
}

func (e *engine) elapsed() time.Duration { return e.past.Elapsed + e.machine.Elapsed() }

func (e *engine) result() trial.Past {
	r := trial.Past{Trials: e.study.trials, Rounds: e.rounds, Conclusion: trial.Conclusion{
		Ended: e.ended, Elapsed: e.elapsed(), Spending: e.spending, Dead: e.ineffective,
	}}
	if regret, known := sampler.EstimateRegret(e.study.view, *e.options.Settings, e.options.Seed); known {
		regret.Draws = e.study.drawn()
		r.Regret = &regret
	}
	return r
}

// search keeps the pipeline full and finishes one trial after the other, until there
// is nothing more to ask and nothing in flight.
func (e *engine) search(ctx context.Context) error {
	running, err := e.study.restore(e.past.Trials)
	if err != nil {
		return err
	}
	for _, t := range e.past.Trials {
		e.observer.finish(t)
	}
	for _, t := range running {
		e.pipeline.launch(ctx, t)
	}
	for {
		if err := e.fill(ctx); err != nil {
			return err
		}
		e.observer.search(e.pipeline.flights, nil)
		if e.ended.Abandons() || len(e.pipeline.flights) == 0 {
			return nil
		}
		if err := e.finishNext(ctx); err != nil {
			return err
		}
	}
}

// ask asks for the next point, and adds what that takes.
func (e *engine) ask() (next trial.Trial, err error) {
	err = timed(&e.spending.Asking, func() (err error) {
		e.study.view.CostWeight = e.costWeight()
		next, err = e.study.ask()
		return err
	})
	return next, err
}

// fill asks until as much is in flight as is worth it, or there is a reason to stop.
func (e *engine) fill(ctx context.Context) error {
	for len(e.pipeline.flights) < e.study.depth(e.options) {
		e.pipeline.measure(ctx) // asking goes on beside it
		if e.ended = e.reached(); e.ended != "" {
			return nil
		}
		trial, err := e.ask()
		if err != nil {
			return err
		}
		e.pipeline.launch(ctx, trial)
	}
	if e.options.stopped() {
		e.ended = trial.Stopped
	}
	return nil
}

// finishNext takes the next trial through measurement to its record. What the device
// does until one is prepared is the second look's to say.
func (e *engine) finishNext(ctx context.Context) error {
	e.pipeline.measure(ctx)
	if err := e.second.until(ctx, e.pipeline); err != nil {
		return err
	}
	trial, found, err := e.pipeline.next(ctx)
	if err != nil || !found {
		return err // who stopped it is found when the pipeline is filled next
	}
	trial.Elapsed = e.elapsed()
	if err := timed(&e.spending.Storing, func() error { return e.study.finish(trial) }); err != nil {
		return err
	}
	e.observer.finish(trial)
	if err := timed(&e.spending.Confirming, func() error { return e.rehearse(ctx) }); err != nil {
		return err
	}
	e.observer.search(e.pipeline.flights, &trial)
	if _, found := e.study.best(); found && e.searchOver != nil {
		e.searchOver.Reset(e.budget.searchTime() - e.elapsed())
	}
	if failure := trial.Outcome.Failure; failure != nil && failure.Reason == objective.Unmet &&
		trial.Point == e.study.pool.Space().Default() {
		return &DefaultUnmetError{failure}
	}
	return compilerWorks(e.study.trials)
}

// findIneffective looks for parameters that never change the machine code, as long as there is time.
func (e *engine) findIneffective(ctx context.Context) (err error) {
	enough := func() bool {
		return e.options.stopped() || e.budget.left() <= 0
	}
	e.ineffective, err = ineffectiveParams(ctx, e.study.pool, e.evaluator, binaries(e.study.trials, e.rounds), enough)
	return err
}
