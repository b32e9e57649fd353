package search

import (
	"cmp"
	"context"
	"slices"
	"sync"
	"time"

	"pawl/objective"
)

// flight is a trial on its way: its preparation runs in a goroutine, and so
// does its measurement, once it is its turn.
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

// pipeline holds the trials that are asked and not finished. It prepares them ahead,
// in lanes, measures them in the order asked or, of those that are prepared, what promises most,
// and hands them out. Its methods are called by one goroutine; what they start runs in others.
type pipeline struct {
	evaluator Evaluator
	options   Options
	spending  *Spending
	lanes     chan struct{}
	flights   []*flight // in the order asked
	// changed has room for one word that a flight was prepared or measured.
	changed chan struct{}
	// foremost returns which of some prepared trials is measured first.
	foremost func([]Trial) int
	known    known
}

func newPipeline(evaluator Evaluator, options Options, spending *Spending, foremost func([]Trial) int) *pipeline {
	return &pipeline{
		evaluator: evaluator, options: options, spending: spending, foremost: foremost,
		lanes: make(chan struct{}, options.Lanes), changed: make(chan struct{}, 1),
	}
}

// notify wakes up whoever waits for a change.
func (p *pipeline) notify() {
	select {
	case p.changed <- struct{}{}:
	default: // the word is there already
	}
}

// launch starts preparing a trial in a lane of its own.
func (p *pipeline) launch(ctx context.Context, trial Trial) {
	f := &flight{trial: trial, prepared: make(chan struct{})}
	p.flights = append(p.flights, f)
	go func() {
		defer p.notify()
		defer close(f.prepared)
		select {
		case p.lanes <- struct{}{}:
			defer func() { <-p.lanes }()
		case <-ctx.Done():
			f.err = context.Cause(ctx)
			return
		}
		f.result, f.err = p.evaluator.Prepare(ctx, trial.Point)
	}()
}

// measure begins to measure as many points as there are devices: the oldest, each as
// soon as it is prepared, or of those that are prepared the ones that promise most.
func (p *pipeline) measure(ctx context.Context) {
	for free := p.options.Width - p.measuring(); free > 0; free-- {
		f := p.choose()
		if f == nil {
			return
		}
		f.measured = make(chan struct{})
		go func() {
			defer p.notify()
			defer close(f.measured)
			<-f.prepared
			if f.err == nil {
				f.outcome, f.failed = p.evaluate(ctx, f.result)
			}
		}()
	}
}

// choose returns the flight that is measured next, nil for none.
func (p *pipeline) choose() *flight {
	var waiting []*flight
	var trials []Trial
	for _, f := range p.flights {
		if f.measured != nil || p.options.AsPrepared && !done(f.prepared) {
			continue
		}
		if !p.options.AsPrepared || f.err != nil || f.trial.Number == 0 {
			return f // it is its turn, it ends the search, or it is the default, which a target is held against
		}
		waiting, trials = append(waiting, f), append(trials, f.trial)
	}
	if len(waiting) == 0 {
		return nil
	}
	start := time.Now()
	defer func() { p.spending.Asking += time.Since(start) }()
	return waiting[p.foremost(trials)]
}

// measuring returns the number of flights whose measurement has begun.
func (p *pipeline) measuring() int {
	count := 0
	for _, f := range p.flights {
		if f.measured != nil {
			count++
		}
	}
	return count
}

// starved reports whether the devices have nothing to do, because the flight that
// is next is not prepared.
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
func (p *pipeline) next(ctx context.Context) (trial Trial, found bool, err error) {
	for {
		p.measure(ctx)
		if at := p.ready(); at >= 0 {
			f := p.flights[at]
			if err := cmp.Or(f.err, f.failed); err != nil {
				return Trial{}, false, err
			}
			p.flights = slices.Delete(p.flights, at, at+1)
			trial = f.trial
			trial.Outcome, trial.Finished = f.outcome, true
			return trial, true, nil
		}
		if p.starved() {
			if stopped, err := p.starve(ctx); stopped || err != nil {
				return Trial{}, false, err
			}
			continue
		}
		_ = timed(&p.spending.Device, func() error { <-p.changed; return nil })
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

// starve waits for a change, for the user's word to stop, or for the end.
func (p *pipeline) starve(ctx context.Context) (stopped bool, err error) {
	err = timed(&p.spending.Waiting, func() error {
		select {
		case <-p.changed:
			return nil
		case <-p.options.Stop:
			stopped = true
			return nil
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	})
	return stopped, err
}

// drain waits for what was abandoned.
func (p *pipeline) drain() {
	for _, f := range p.flights {
		<-f.prepared
		if f.measured != nil {
			<-f.measured
		}
	}
	p.flights = nil
}

// evaluate measures a point, unless the same machine code was measured before.
func (p *pipeline) evaluate(ctx context.Context, point objective.Prepared) (objective.Outcome, error) {
	if twin, found := p.known.twin(point.Binary.Digest); found && point.Failure == nil {
		outcome := twin.Outcome
		outcome.SameAs = twin.Point.String()
		outcome.Spent = point.Spent
		return outcome, nil
	}
	return p.evaluator.Measure(ctx, point, p.known.incumbent())
}

// known is what measuring needs to know of the trials finished so far. It is kept
// beside the study, which goes on asking while points are measured, and is safe for
// concurrent use.
type known struct {
	mu    sync.Mutex
	best  float64          // the best time in milliseconds, 0 for none
	twins map[string]Trial // the first trial of each machine code that ran
}

func (k *known) finish(t Trial) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if !t.Finished {
		return
	}
	if t.OK() && (k.best == 0 || t.Outcome.Milliseconds() < k.best) {
		k.best = t.Outcome.Milliseconds()
	}
	ran := t.OK() || t.Outcome.Failure.Stage == objective.Fuzz
	if _, met := k.twins[t.Outcome.Binary]; met || !ran || t.Outcome.Binary == "" {
		return
	}
	if k.twins == nil {
		k.twins = map[string]Trial{}
	}
	k.twins[t.Outcome.Binary] = t
}

// disqualify replaces a trial that failed the full check, and the best time.
func (k *known) disqualify(t Trial, best float64) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.best = best
	if _, met := k.twins[t.Outcome.Binary]; met {
		k.twins[t.Outcome.Binary] = t
	}
}

// incumbent returns the time to beat, 0 for none.
func (k *known) incumbent() float64 {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.best
}

// twin returns a trial whose machine code is the same.
func (k *known) twin(digest string) (Trial, bool) {
	k.mu.Lock()
	defer k.mu.Unlock()
	t, found := k.twins[digest]
	return t, found
}
