package search

import (
	"context"
	"fmt"
	"runtime"
	"time"

	"pawl/objective"
	"pawl/search/sampler"
	"pawl/space"
)

// Options says how a study is run.
type Options struct {
	// Sampler is the name of a sampler; see sampler.Names.
	Sampler string
	// Seed fixes the points that are asked, given the same answers.
	Seed uint64
	// Trials is the largest number of trials; 0 means no limit.
	Trials int
	// Budget is the active time for search and confirmation together; 0 means
	// no limit. The search gets SearchShare of it.
	Budget time.Duration
	// Target ends the search once a point is this many times as fast as the
	// default, such as 1.1; 0 means no target.
	Target float64
	// Regret ends the search once at most this share of the best time is left to
	// gain, such as 0.01, 90 % sure; 0 means never. See sampler.EstimateRegret.
	Regret float64
	// First are points to try right after the default: what earlier studies
	// found good. Those that the pool lacks are passed over. See sampler.Transfer.
	First []space.Point
	// Earlier is what earlier studies of the same kernel have observed, the
	// latest first. The samplers learn from it as far as it agrees with what this
	// study observes. See sampler.Remember.
	Earlier []sampler.Memory
	// Ahead is the number of trials that are asked and not yet told: the depth
	// of the compile-ahead pipeline. Zero means 8. It does not depend on the
	// machine, so that the same seed asks for the same points everywhere.
	Ahead int
	// Lanes is the number of points that are prepared at once. Zero means one
	// per core.
	Lanes int
	// Finalists is the number of points that are confirmed. Zero means 5.
	Finalists int
	// Rounds is the number of rounds of confirmation. Zero means 10.
	Rounds int
	// Samples is the number of samples per contender and round. Zero means 10.
	Samples int
	// Stop ends the search early when it is closed: nothing more is asked,
	// what runs is finished or abandoned, and the result is what there is.
	Stop <-chan struct{}
	// Observe is called after every change, by one goroutine at a time. It may
	// be nil.
	Observe func(Progress)
}

// SearchShare is the part of the budget that the search may use; the rest is
// for confirming what it found.
const SearchShare = 0.7

func (o Options) withDefaults() Options {
	setDefault(&o.Ahead, 8)
	setDefault(&o.Lanes, runtime.NumCPU())
	setDefault(&o.Finalists, 5)
	setDefault(&o.Rounds, 10)
	setDefault(&o.Samples, 10)
	if o.Observe == nil {
		o.Observe = func(Progress) {}
	}
	return o
}

func setDefault(value *int, fallback int) {
	if *value == 0 {
		*value = fallback
	}
}

// Past is what an earlier run of the same study has recorded. The zero Past is
// a new study.
type Past struct {
	Trials []Trial
	Rounds []Round
	// Elapsed is the active time of the earlier runs, Spending where it went.
	Elapsed  time.Duration
	Spending Spending
}

// Result is how a study ended.
type Result struct {
	Trials []Trial
	Rounds []Round
	// Regret estimates what the search has left behind; nil when too little is
	// known.
	Regret *sampler.Regret
	// Ended says why the search asked for no more.
	Ended   Ending
	Elapsed time.Duration
	// Spending says where the time went.
	Spending Spending
	// Dead are the parameters that never change the machine code.
	Dead []string
}

// Ending is a reason to ask for no more trials.
type Ending string

// The reasons.
const (
	TrialsDone  Ending = "all trials done"
	BudgetSpent Ending = "time budget spent"
	UsedUp      Ending = "every valid point was tried"
	TargetMet   Ending = "the target was met"
	LittleLeft  Ending = "little is left to gain"
	Stopped     Ending = "stopped by the user"
	// AllWrong is when the reference is suspected. See ReferenceSuspected.
	AllWrong Ending = "every result disagrees with the reference"
)

// NothingCompilesError says that the compiler refused every point so far. The
// search ends then: a broken compiler would only burn the budget.
type NothingCompilesError struct {
	Tried int
	// First is the failure of the first point.
	First *objective.Failure
}

func (e *NothingCompilesError) Error() string {
	return fmt.Sprintf("none of the first %d points compiled; the first error was: %s", e.Tried, e.First.Detail)
}

// compileAttempts is how many points must fail to compile, with none that
// compiles, before the compiler counts as broken.
const compileAttempts = 5

// engine runs one study.
type engine struct {
	options   Options
	study     *study
	evaluator Evaluator
	recorder  Recorder
	past      Past
	started   time.Time
	lanes     chan struct{}
	flight    []*flight // asked and not told, in the order asked
	rounds    []Round
	ended     Ending
	progress  progress
	spending  Spending
	dead      []string

	// known is what measuring needs to know of the study, which goes on asking
	// meanwhile.
	known  known
	second secondLook
}

// Run searches and confirms. The pool holds the points that may be tried. On a
// cancelled context it returns the context's error at once; everything told so
// far is recorded.
func Run(ctx context.Context, pool *space.Pool, evaluator Evaluator, recorder Recorder, past Past, options Options) (Result, error) {
	options = options.withDefaults()
	chooser, err := sampler.New(options.Sampler, pool.Space(), sampler.Defaults())
	if err != nil {
		return Result{}, err
	}
	s, err := newStudy(pool, chooser, options.Seed, options.First, recorder)
	if err != nil {
		return Result{}, err
	}
	s.view.Earlier = options.Earlier
	e := &engine{
		options: options, study: s, evaluator: patient{evaluator}, recorder: recorder, past: past,
		started: time.Now(), lanes: make(chan struct{}, options.Lanes), rounds: past.Rounds,
		spending: past.Spending, second: newSecondLook(past),
	}
	// Whatever happens, no preparation outlives the search: the confirmation wants
	// the machine for itself.
	searching, cancel := context.WithCancel(ctx)
	err = e.search(searching)
	cancel()
	e.land()
	if err != nil {
		return e.result(), err
	}
	err = timed(&e.spending.Confirming, func() error {
		if err := e.confirm(ctx); err != nil {
			return err
		}
		return e.findDead(ctx)
	})
	return e.result(), err
}

func (e *engine) result() Result {
	r := Result{Trials: e.study.trials, Rounds: e.rounds, Ended: e.ended, Elapsed: e.elapsed(), Spending: e.spending, Dead: e.dead}
	if regret, known := sampler.EstimateRegret(e.study.view, sampler.Defaults(), e.options.Seed); known {
		r.Regret = &regret
	}
	return r
}

func (e *engine) elapsed() time.Duration { return e.past.Elapsed + time.Since(e.started) }

// search keeps the pipeline full and tells the oldest trial first, until there
// is nothing more to ask and nothing in flight.
func (e *engine) search(ctx context.Context) error {
	running, err := e.study.restore(e.past.Trials)
	if err != nil {
		return err
	}
	for _, t := range e.past.Trials {
		e.progress.count(t)
		e.known.tell(t)
	}
	for _, t := range running {
		e.launch(ctx, t)
	}
	for {
		if err := e.fill(ctx); err != nil {
			return err
		}
		e.observe(SearchPhase, nil)
		if abandon := e.ended == Stopped || e.ended == AllWrong || e.ended == BudgetSpent || e.ended == TargetMet || e.ended == LittleLeft; abandon || len(e.flight) == 0 {
			return nil
		}
		if err := e.completeOldest(ctx); err != nil {
			return err
		}
	}
}

// fill asks until the pipeline is full or there is a reason to stop.
func (e *engine) fill(ctx context.Context) error {
	e.measureOldest(ctx) // asking goes on beside it
	for len(e.flight) < e.options.Ahead {
		if e.ended = e.reasonToEnd(); e.ended != "" {
			return nil
		}
		var trial Trial
		err := timed(&e.spending.Asking, func() (err error) {
			e.study.view.CostWeight = e.costWeight()
			trial, err = e.study.ask()
			return err
		})
		if err != nil {
			return err
		}
		e.launch(ctx, trial)
	}
	if e.stopped() {
		e.ended = Stopped
	}
	return nil
}

func (e *engine) reasonToEnd() Ending {
	switch {
	case e.stopped():
		return Stopped
	case ReferenceSuspected(e.study.trials, false):
		return AllWrong
	case e.options.Trials > 0 && len(e.study.trials) >= e.options.Trials:
		return TrialsDone
	case e.study.exhausted():
		return UsedUp
	case e.targetMet():
		return TargetMet
	case e.littleLeft():
		return LittleLeft
	case e.options.Budget > 0 && e.elapsed() >= searchTime(e.options.Budget):
		return BudgetSpent
	}
	return ""
}

// costWeight returns how much the cost of a point counts in the next choice. Where
// time is the only limit, that is fully at the beginning, when cheap points leave
// time for more, and not at all at the end, when nothing comes after the last one
// (cost cooling, Lee et al. 2020). It looks at recorded times, not at the clock,
// so that a resumed study chooses as the undisturbed one.
func (e *engine) costWeight() float64 {
	if e.options.Budget == 0 || e.options.Trials > 0 {
		return 0
	}
	return max(0, 1-float64(e.study.elapsed)/float64(searchTime(e.options.Budget)))
}

// regretEvery is how many told trials lie between two estimates of the regret:
// one costs as much as several asks.
const regretEvery = 10

// littleLeft reports whether the rest of the space is not worth the time.
func (e *engine) littleLeft() bool {
	if told := len(e.study.view.Observations); e.options.Regret == 0 || told == 0 || told%regretEvery != 0 {
		return false
	}
	regret, known := sampler.EstimateRegret(e.study.view, sampler.Defaults(), e.options.Seed)
	return known && regret.Left <= e.options.Regret
}

// targetMet compares the best trial with the default, the first one.
func (e *engine) targetMet() bool {
	best, found := e.study.best()
	if e.options.Target == 0 || !found || !e.study.trials[0].OK() {
		return false
	}
	return e.study.trials[0].Outcome.Milliseconds() >= e.options.Target*best.Outcome.Milliseconds()
}

func searchTime(budget time.Duration) time.Duration {
	return time.Duration(SearchShare * float64(budget))
}

func (e *engine) stopped() bool {
	select {
	case <-e.options.Stop: // a nil channel never answers
		return true
	default:
		return false
	}
}

// compilerWorks fails once enough points have failed to compile and none has
// compiled.
func (e *engine) compilerWorks() error {
	var first *objective.Failure
	refused := 0
	for _, t := range e.study.trials {
		switch {
		case !t.Told:
		case t.OK() || t.Outcome.Failure.Stage == objective.Fuzz || t.Outcome.Failure.Stage == objective.Bench:
			return nil
		case t.Outcome.Failure.Stage == objective.Compile:
			refused++
			if first == nil {
				first = t.Outcome.Failure
			}
		}
	}
	if refused < compileAttempts {
		return nil
	}
	return &NothingCompilesError{Tried: refused, First: first}
}
