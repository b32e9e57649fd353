package ask

import (
	"context"
	"errors"
	"fmt"
	"time"

	"pawl/objective"
	"pawl/objective/devices"
	"pawl/space"
	"pawl/studies/farm"
)

// gone is how long a device that finalists are measured on may not be heard: its worker may be restarted.
const gone = 15 * time.Second

// GoneError says that the device that finalists were measured on has left the farm.
type GoneError struct{ Device string }

func (e *GoneError) Error() string {
	return fmt.Sprintf("the device that the finalists were measured on has left the farm (%s)", e.Device)
}

// Measure lets somebody check and time a point.
func (e *Evaluator) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	outcome := objective.Outcome{
		Failure:   p.Failure,
		Binary:    p.Binary.Digest,
		Resources: p.Binary.Resources,
		Spent:     p.Spent,
	}
	if p.Failure != nil {
		return outcome, nil
	}
	answer, err := e.onDevice(ctx, farm.Measure, p, func(job *farm.Job) { job.Incumbent = incumbent }, nil, 0)
	return e.outcome(answer, outcome, err)
}

func (e *Evaluator) outcome(answer farm.Answer, begun objective.Outcome, err error) (objective.Outcome, error) {
	switch {
	case err != nil:
		return begun, err
	case answer.Lost:
		begun.Failure = lost(objective.Bench)
		return begun, nil
	case answer.Outcome == nil:
		return begun, fmt.Errorf("the farm's answer has no outcome")
	}
	answer.Outcome.Binary = begun.Binary // as it was prepared here
	return *answer.Outcome, nil
}

// Verify checks a point in full, where finalists are measured.
func (e *Evaluator) Verify(ctx context.Context, p objective.Prepared) (*objective.Failure, error) {
	if p.Failure != nil {
		return p.Failure, nil
	}
	own, err := e.device(ctx)
	if err != nil {
		return nil, err
	}
	answer, err := e.onDevice(ctx, farm.Verify, p, func(*farm.Job) {}, own, 0)
	if err != nil || answer.Lost {
		return lost(objective.Fuzz), err
	}
	if answer.Evidence != nil {
		e.mu.Lock()
		e.evidence[p.Point] = e.evidence[p.Point].Join(answer.Evidence)
		e.mu.Unlock()
	}
	return answer.Failure, nil
}

// VerifyFor checks a part of a point in full, where finalists are measured: a second look.
// A device that others keep busy has no time to spare, and then nothing was looked at.
func (e *Evaluator) VerifyFor(ctx context.Context, p objective.Prepared,
	allowed time.Duration) (through bool, failure *objective.Failure, err error) {
	own, err := e.device(ctx)
	if err != nil || p.Failure != nil {
		return true, p.Failure, err
	}
	answer, err := e.onDevice(ctx, farm.Look, p, func(job *farm.Job) { job.Allowed = allowed }, own, mostLooking)
	switch {
	case errors.Is(err, errBusy) || errors.As(err, new(*GoneError)):
		return false, nil, nil
	case err != nil || answer.Lost:
		return true, lost(objective.Fuzz), err
	}
	return answer.Through, answer.Failure, nil
}

const mostLooking = time.Second

var errBusy = errors.New("the device has no time to spare")

// Anticipate does nothing: what a point is checked against comes with its binary.
func (e *Evaluator) Anticipate(context.Context, space.Point) error { return nil }

// Sample takes samples of a finalist, all of them on one device.
func (e *Evaluator) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	outcome := objective.Outcome{Failure: p.Failure, Binary: p.Binary.Digest}
	if p.Failure != nil {
		return outcome, nil
	}
	own, err := e.device(ctx)
	if err != nil {
		return outcome, err
	}
	answer, err := e.onDevice(ctx, farm.Sample, p, func(job *farm.Job) {
		job.Kinds, job.KindSamples = p.Kinds, p.KindSamples
		job.Samples, job.Fresh = samples, fmt.Sprint(e.session, " ", e.fresh.Load())
	}, own, 0)
	outcome, err = e.outcome(answer, outcome, err)
	if err == nil && outcome.Failure == nil {
		e.mu.Lock()
		defer e.mu.Unlock()
		outcome.Evidence = e.evidence[p.Point].Join(outcome.Evidence)
		delete(e.evidence, p.Point)
	}
	return outcome, err
}

// onDevice asks a device about a point: own, or any of the kind where that is nil. It waits as
// long as patience; 0 is forever. What was evicted meanwhile is compiled again.
func (e *Evaluator) onDevice(ctx context.Context, action farm.Action, p objective.Prepared, add func(*farm.Job),
	own *devices.Measures, patience time.Duration) (farm.Answer, error) {
	queue, start := e.measure, time.Now()
	if own != nil {
		queue = farm.OwnQueue(*own)
	}
	check := func(ctx context.Context) error {
		if patience > 0 && time.Since(start) > patience {
			return errBusy
		}
		return e.there(ctx, own)
	}
	for range tries {
		compiled, err := e.compilation(ctx, p.Point)
		if err != nil {
			return farm.Answer{}, err
		}
		if compiled.Failure != nil {
			return farm.Answer{}, fmt.Errorf("%s was compiled and cannot be compiled again: %s", p.Point, compiled.Failure)
		}
		job := e.task(action, p.Point)
		job.Compiled = compiled
		add(&job)
		answer, err := e.ask(ctx, queue, job, check)
		if err != nil || answer.Missing == "" {
			return answer, err
		}
		if err := e.restore(ctx, p.Point); err != nil {
			return farm.Answer{}, err
		}
	}
	return farm.Answer{}, fmt.Errorf("%s of %s: the farm evicts files as fast as they are stored", action, p.Point)
}

func (e *Evaluator) restore(ctx context.Context, point space.Point) error {
	e.compiled.Delete(point)
	return e.upload(ctx)
}

// device chooses where finalists are measured, once; nil of a record.
func (e *Evaluator) device(ctx context.Context) (*devices.Measures, error) {
	if own := e.own.Load(); own != nil || e.chosen.Measures == nil {
		return own, nil
	}
	for {
		machines, err := e.farm.Machines(ctx, farm.Silence)
		if err != nil {
			return nil, err
		}
		for _, m := range machines {
			offer := m.Offers.Measures
			if offer == nil || farm.MeasureQueue(*offer) != e.measure {
				continue
			}
			e.own.Store(offer)
			return offer, nil
		}
		if err := e.search.Mismatch(); err != nil {
			return nil, err
		}
		select { // watch says so
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		case <-time.After(time.Second):
		}
	}
}

// there returns a *GoneError when the device is no longer there; nil is any, which always is.
func (e *Evaluator) there(ctx context.Context, own *devices.Measures) error {
	if own == nil {
		return nil
	}
	if heard, err := e.farm.Heard(ctx, own.Identity, gone); err != nil || heard {
		return err
	}
	e.own.Store(nil)
	return &GoneError{own.Identity}
}
