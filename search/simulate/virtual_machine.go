package simulate

import (
	"context"
	"slices"
	"time"

	"pawl/objective"
	"pawl/search/replay"
	"pawl/space"
)

// machine is what a simulated search runs on. Work is done at once; when it is over is an event, and the
// clock moves from one event to the next while the search waits. Asking takes no time.
type machine struct {
	now    time.Duration
	lanes  []time.Duration // when each compiler is free
	events []event         // the earliest first
}

type event struct {
	at   time.Duration
	done func()
}

func (m *machine) Elapsed() time.Duration { return m.now }

// Prepare gives work to the compiler that is free first.
func (m *machine) Prepare(work func() time.Duration, done func()) {
	first := slices.Index(m.lanes, slices.Min(m.lanes))
	m.lanes[first] = max(m.now, m.lanes[first]) + work()
	m.finish(m.lanes[first], done)
}

func (m *machine) Measure(work func() time.Duration, done func()) { m.finish(m.now+work(), done) }

// finish calls done at a time, after what was to be called then already.
func (m *machine) finish(at time.Duration, done func()) {
	if at <= m.now {
		done()
		return
	}
	place := slices.IndexFunc(m.events, func(e event) bool { return e.at > at })
	if place < 0 {
		place = len(m.events)
	}
	m.events = slices.Insert(m.events, place, event{at, done})
}

// Wait moves the clock to the next event.
func (m *machine) Wait(ctx context.Context, _ <-chan struct{}) (stopped bool, err error) {
	if len(m.events) == 0 {
		panic("simulate: a search waits for nothing")
	}
	m.pass(m.events[0].at - m.now)
	return false, ctx.Err()
}

// pass lets time pass, and everything happen that ends within it.
func (m *machine) pass(time time.Duration) {
	for m.now += time; len(m.events) > 0 && m.events[0].at <= m.now; {
		over := m.events[0]
		m.events = m.events[1:]
		over.done()
	}
}

// evaluator answers from a record, and lets time pass on a machine for what a device does when compilers
// leave it nothing else to do.
type evaluator struct {
	*replay.Evaluator
	recorded *Recorded
	machine  *machine
}

func (e *evaluator) Prepare(ctx context.Context, point space.Point) (objective.Prepared, error) {
	prepared, err := e.Evaluator.Prepare(ctx, point)
	if err == nil {
		prepared.Spent.Compile, _ = e.recorded.costs(e.recorded.entry(point))
	}
	return prepared, err
}

func (e *evaluator) Measure(ctx context.Context, p objective.Prepared, incumbent float64) (objective.Outcome, error) {
	outcome, err := e.Evaluator.Measure(ctx, p, incumbent)
	if err != nil {
		return outcome, err
	}
	entry := e.recorded.entry(p.Point)
	_, outcome.Spent.Measure = e.recorded.costs(entry)
	if entry.OK() {
		outcome.Samples = []float64{entry.Milliseconds}
	}
	return outcome, nil
}

// shortestSample is how long a sample takes at least: a GPU's has as many launches.
const shortestSample = time.Millisecond

// Sample takes as long as the samples.
func (e *evaluator) Sample(ctx context.Context, p objective.Prepared, samples int) (objective.Outcome, error) {
	outcome, err := e.Evaluator.Sample(ctx, p, samples)
	for _, milliseconds := range outcome.Samples {
		e.machine.pass(max(shortestSample, time.Duration(milliseconds*float64(time.Millisecond))))
	}
	return outcome, err
}

// VerifyFor answers at once: no record says how long a full check takes.
func (e *evaluator) VerifyFor(ctx context.Context, p objective.Prepared,
	_ time.Duration) (through bool, failure *objective.Failure, err error) {
	failure, err = e.Verify(ctx, p)
	return true, failure, err
}

// Anticipate has nothing to get ready.
func (e *evaluator) Anticipate(context.Context, space.Point) error { return nil }
