package search

import (
	"context"

	"pawl/objective"
)

// flight is a trial on its way: its preparation runs in a goroutine, and so
// does its measurement, once it is among the oldest.
type flight struct {
	trial    Trial
	prepared chan struct{} // closed when result and err are there
	result   objective.Prepared
	err      error
	expected bool          // what it will be checked against is ready
	measured chan struct{} // nil until begun; closed when outcome and failed are there
	outcome  objective.Outcome
	failed   error
}

// launch starts preparing a trial in a lane of its own.
func (e *engine) launch(ctx context.Context, trial Trial) {
	f := &flight{trial: trial, prepared: make(chan struct{})}
	e.flight = append(e.flight, f)
	go func() {
		defer close(f.prepared)
		select {
		case e.lanes <- struct{}{}:
			defer func() { <-e.lanes }()
		case <-ctx.Done():
			f.err = context.Cause(ctx)
			return
		}
		f.result, f.err = e.evaluator.Prepare(ctx, trial.Point)
	}()
}

// land waits for what was abandoned.
func (e *engine) land() {
	for _, f := range e.flight {
		<-f.prepared
		if f.measured != nil {
			<-f.measured
		}
	}
	e.flight = nil
}

// completeOldest takes the oldest trial in flight through measurement and tell.
// Where there are several devices, the ones behind it are measured meanwhile;
// what is told is told in the order asked.
func (e *engine) completeOldest(ctx context.Context) error {
	e.measureOldest(ctx)
	f := e.flight[0]
	if err := e.useWait(ctx, f); err != nil {
		return err
	}
	err := timed(&e.spending.Waiting, func() error {
		select {
		case <-f.prepared:
			return f.err
		case <-e.options.Stop:
			return errStopped
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	if err != nil {
		return ignoreStop(err) // the next look at the reasons to end finds it
	}
	if err := timed(&e.spending.Device, func() error { <-f.measured; return f.failed }); err != nil {
		return err
	}
	trial := f.trial
	trial.Outcome, trial.Told, trial.Elapsed = f.outcome, true, e.elapsed()
	e.flight = e.flight[1:]
	if err := timed(&e.spending.Storing, func() error { return e.study.tell(trial) }); err != nil {
		return err
	}
	e.known.tell(trial)
	e.progress.count(trial)
	e.observe(SearchPhase, &trial)
	return e.compilerWorks()
}

// measureOldest begins to measure as many of the oldest as there are devices.
func (e *engine) measureOldest(ctx context.Context) {
	for _, f := range e.flight[:min(len(e.flight), e.evaluator.Width())] {
		e.measure(ctx, f)
	}
}

// measure begins to measure a trial as soon as it is prepared.
func (e *engine) measure(ctx context.Context, f *flight) {
	if f.measured != nil {
		return
	}
	f.measured = make(chan struct{})
	go func() {
		defer close(f.measured)
		<-f.prepared
		if f.err == nil {
			f.outcome, f.failed = e.evaluate(ctx, f.result)
		}
	}()
}

// evaluate measures a point, unless the same machine code was measured before.
func (e *engine) evaluate(ctx context.Context, p objective.Prepared) (objective.Outcome, error) {
	if twin, found := e.known.twin(p.Binary.Digest); found && p.Failure == nil {
		outcome := twin.Outcome
		outcome.SameAs = twin.Point.String()
		outcome.Spent = p.Spent
		return outcome, nil
	}
	return e.evaluator.Measure(ctx, p, e.known.rival())
}
