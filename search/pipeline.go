package search

import (
	"cmp"
	"context"
	"slices"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/search/trial"
)

// flight is a trial on its way: its preparation runs beside the search, and so
// does its measurement, once it is its turn.
type flight struct {
	trial    trial.Trial
	prepared chan struct{} // closed when result and err are there
	result   objective.Prepared
	err      error
	expected bool          // what it will be checked against is ready
	measured chan struct{} // nil until begun; closed when outcome and failed are there
	outcome  objective.Outcome
	failed   error
}

// pipeline holds the trials that are asked and not finished. It prepares them ahead,
// measures them in the order asked or, of those that are prepared, the one with the largest acquisition,
// and hands them out. Its methods are called by one goroutine; what they start runs beside it.
type pipeline struct {
	machine   Machine
	evaluator Evaluator
	options   Options
	study     *study
	spending  *trial.Spending
	flights   []*flight // in the order asked
	// nextToMeasure returns which of some prepared trials is measured first.
	nextToMeasure func([]trial.Trial) int
}

func (p *pipeline) launch(ctx context.Context, trial trial.Trial) {
	f := &flight{trial: trial, prepared: make(chan struct{})}
	p.flights = append(p.flights, f)
	p.machine.Prepare(func() time.Duration {
		if f.err = context.Cause(ctx); f.err == nil {
			f.result, f.err = p.evaluator.Prepare(ctx, trial.Point)
		}
		return f.result.Spent.Compile
	}, func() { close(f.prepared) })
}

// measure begins to measure as many prepared points as there are devices.
func (p *pipeline) measure(ctx context.Context) {
	for free := p.options.Width - p.measuring(); free > 0; free-- {
		f := p.choose()
		if f == nil {
			return
		}
		f.measured = make(chan struct{})
		evaluate := p.evaluation(f.result)
		p.machine.Measure(func() time.Duration {
			if f.err == nil {
				f.outcome, f.failed = evaluate(ctx)
			}
			return f.outcome.Spent.Check + f.outcome.Spent.Measure
		}, func() { close(f.measured) })
	}
}

// choose returns the prepared flight that is measured next, nil for none. In the order asked, a
// device takes no point from behind those that the others wait for.
func (p *pipeline) choose() *flight {
	eligible := p.flights
	if !p.options.AsPrepared {
		eligible = p.flights[:min(len(p.flights), p.options.Width)]
	}
	var waiting []*flight
	var trials []trial.Trial
	for _, f := range eligible {
		if f.measured != nil || !done(f.prepared) {
			continue
		}
		if !p.options.AsPrepared || f.err != nil || f.trial.Number == 0 {
			return f // it is its turn, it ends the search, or it is the default, which a target is compared with
		}
		waiting, trials = append(waiting, f), append(trials, f.trial)
	}
	if len(waiting) == 0 {
		return nil
	}
	start := time.Now()
	defer func() { p.spending.Asking += time.Since(start) }()
	return waiting[p.nextToMeasure(trials)]
}

func (p *pipeline) measuring() int {
	return len(collect.Where(p.flights, func(f *flight) bool { return f.measured != nil }))
}

// starved reports whether the devices have nothing to do, because the flight that is next is not prepared.
func (p *pipeline) starved() bool {
	if p.options.AsPrepared {
		return !slices.ContainsFunc(p.flights, func(f *flight) bool { return done(f.prepared) })
	}
	return !done(p.flights[0].prepared)
}

// next waits for the trial that is to be handed out next and takes it out: the oldest,
// or the first that is measured. The others are measured meanwhile where there are
// several devices. It answers false when the user stops the search while the devices
// have nothing to do.
func (p *pipeline) next(ctx context.Context) (measured trial.Trial, found bool, err error) {
	for {
		p.measure(ctx)
		if at := p.ready(); at >= 0 {
			f := p.flights[at]
			if err := cmp.Or(f.err, f.failed); err != nil {
				return measured, false, err
			}
			p.flights = slices.Delete(p.flights, at, at+1)
			measured = f.trial
			measured.Outcome, measured.Finished = f.outcome, true
			return measured, true, nil
		}
		spent, stop := &p.spending.Device, (<-chan struct{})(nil)
		if p.starved() {
			spent, stop = &p.spending.Waiting, p.options.Stop
		}
		stopped := false
		err := timed(spent, func() (err error) {
			stopped, err = p.machine.Wait(ctx, stop)
			return err
		})
		if stopped || err != nil {
			return measured, false, err
		}
	}
}

// ready returns the position of the flight that can be handed out, -1 for none.
func (p *pipeline) ready() int {
	measured := func(f *flight) bool { return f.measured != nil && done(f.measured) }
	if p.options.AsPrepared {
		return slices.IndexFunc(p.flights, measured)
	}
	if measured(p.flights[0]) {
		return 0
	}
	return -1
}

// drain waits for what was abandoned.
func (p *pipeline) drain() {
	for slices.ContainsFunc(p.flights, func(f *flight) bool {
		return !done(f.prepared) || f.measured != nil && !done(f.measured)
	}) {
		_, _ = p.machine.Wait(context.Background(), nil) // nobody stops it
	}
	p.flights = nil
}

// evaluation returns what measures a point by what is known now, unless the same machine code was measured before.
func (p *pipeline) evaluation(point objective.Prepared) func(context.Context) (objective.Outcome, error) {
	if outcome, found := p.study.twins.outcome(point, p.study.trials); found {
		return func(context.Context) (objective.Outcome, error) { return outcome, nil }
	}
	incumbent := 0.0
	if best, found := p.study.best(); found {
		incumbent = best.Outcome.Milliseconds()
	}
	return func(ctx context.Context) (objective.Outcome, error) {
		return p.evaluator.Measure(ctx, point, incumbent)
	}
}
