package search

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

// Session is a search whose points somebody else runs, in a loop of their own: Ask hands points out one after the
// other, Tell takes what came of them. Any number may be out at once. The sampler, the limits, the record and the
// confirmation are those of Run; there is nothing to compile, and no ablation, because every measurement is
// somebody's to make and an explanation decides nothing. One goroutine uses it.
type Session struct {
	engine *engine
	// again are the trials that an earlier run has asked and nobody answered.
	again []trial.Trial
	// pending are the trials that are asked and not told.
	pending map[int]trial.Trial
	// handed is when a trial was handed out in this run.
	handed map[int]time.Time
	// resume continues the confirmation, with the answer to what it asked last; nil before it begins.
	resume func() (*sampling, bool)
	stop   func()
	// asked is what the confirmation waits for; nil before it begins and when it is over.
	asked     *sampling
	confirmed error // why the confirmation ended
}

// sampling is a question of the confirmation with its answer.
type sampling struct {
	Question
	handed  time.Time // zero before it was handed out
	outcome objective.Outcome
}

func (s *sampling) out() bool { return s != nil && !s.handed.IsZero() }

// Question is a point that somebody is to measure.
type Question struct {
	// Trial is the number that the answer names. A finalist is asked for again in every round, one at a time.
	Trial int
	Point space.Point
	Phase trial.Phase
}

// WaitError says that there is nothing to hand out before something is told.
type WaitError struct{ Pending []int }

func (e *WaitError) Error() string {
	return fmt.Sprintf("nothing more to hand out before %s", numbersText(e.Pending, "is told", "are told"))
}

// EndedError says that there is nothing more to ask at all.
type EndedError struct{ Why trial.Ending }

func (e *EndedError) Error() string { return string(e.Why) }

// PendingError says that nobody asked for what was told.
type PendingError struct {
	Trial   int
	Pending []int
}

func (e *PendingError) Error() string {
	if len(e.Pending) == 0 {
		return fmt.Sprintf("trial %d is not pending, and no trial is", e.Trial)
	}
	return fmt.Sprintf("trial %d is not pending; %s", e.Trial, numbersText(e.Pending, "is", "are"))
}

func numbersText(numbers []int, one, several string) string {
	texts := collect.Each(numbers, func(n int) string { return fmt.Sprint(n) })
	if len(texts) == 1 {
		return "trial " + texts[0] + " " + one
	}
	return "trials " + strings.Join(texts, ", ") + " " + several
}

// NewSession begins a search, or continues one with what an earlier run has recorded.
func NewSession(pool *space.Pool, recorder Recorder, past trial.Past, options Options) (*Session, error) {
	e, err := newEngine(pool, nil, recorder, past, options)
	if err != nil {
		return nil, err
	}
	s := &Session{engine: e, pending: map[int]trial.Trial{}, handed: map[int]time.Time{}}
	if s.again, err = e.study.restore(past.Trials); err != nil {
		return nil, err
	}
	for _, t := range past.Trials {
		e.observer.finish(t)
	}
	for _, t := range s.again {
		s.pending[t.Number] = t
	}
	e.observer.search(nil, nil)
	return s, nil
}

// Ask returns the next point to measure, recorded before it is handed out. First come those that an earlier run has
// asked and nobody answered. The error is a *WaitError, an *EndedError, or one of the machinery.
func (s *Session) Ask(ctx context.Context) (Question, error) {
	e := s.engine
	if s.resume != nil {
		return s.askRound()
	}
	var next trial.Trial
	switch {
	case len(s.again) > 0:
		next, s.again = s.again[0], s.again[1:]
	case s.ended():
		if len(s.pending) > 0 {
			return Question{}, &WaitError{s.pendingNumbers()}
		}
		s.confirm(ctx)
		if err := s.continueRounds(); err != nil {
			return Question{}, err
		}
		return s.askRound()
	default:
		var err error
		if next, err = e.ask(); err != nil {
			return Question{}, err
		}
	}
	s.pending[next.Number], s.handed[next.Number] = next, time.Now()
	return Question{next.Number, next.Point, SearchPhase}, nil
}

// ended reports whether there is a reason to ask for no more trials.
func (s *Session) ended() bool {
	e := s.engine
	if e.ended == "" {
		e.ended = e.reached()
	}
	return e.ended != ""
}

// Tell records what came of a trial that is pending, also of one that was handed out by an earlier run. Anything else
// is a *PendingError.
func (s *Session) Tell(number int, outcome objective.Outcome) error {
	if s.asked.out() && s.asked.Trial == number {
		s.asked.outcome = outcome
		s.engine.spending.Confirming += time.Since(s.asked.handed)
		return s.continueRounds()
	}
	t, found := s.pending[number]
	if !found {
		return &PendingError{number, s.pendingNumbers()}
	}
	e := s.engine
	t.Outcome, t.Finished, t.Elapsed = outcome, true, e.elapsed()
	if handed, here := s.handed[number]; here {
		t.Outcome.Spent.Measure = time.Since(handed)
		e.spending.Device += t.Outcome.Spent.Measure
	}
	if err := timed(&e.spending.Storing, func() error { return e.study.finish(t) }); err != nil {
		return err
	}
	delete(s.pending, number)
	s.again = slices.DeleteFunc(s.again, func(t trial.Trial) bool { return t.Number == number })
	e.observer.finish(t)
	e.observer.search(nil, &t)
	return nil
}

// Number returns the trial of a point that was asked; -1 for none.
func (s *Session) Number(p space.Point) int {
	return slices.IndexFunc(s.engine.study.trials, func(t trial.Trial) bool { return t.Point == p })
}

func (s *Session) pendingNumbers() []int {
	numbers := slices.Sorted(maps.Keys(s.pending))
	if s.asked.out() {
		numbers = append(numbers, s.asked.Trial)
	}
	return numbers
}

// Close ends the search. Nothing is asked or told after it.
func (s *Session) Close() trial.Past {
	if s.stop != nil {
		s.stop()
	}
	if !s.ended() {
		s.engine.ended = trial.Stopped
	}
	return s.engine.result()
}

// confirm turns the confirmation, which calls for samples, into one that is asked for the next.
func (s *Session) confirm(ctx context.Context) {
	e := s.engine
	candidates, options := e.confirmation()
	options.Unexplained = true // each step of an ablation would have to be asked for
	numbers := map[space.Point]int{}
	for _, c := range candidates {
		numbers[c.Point] = c.Number
	}
	s.resume, s.stop = iter.Pull(func(ask func(*sampling) bool) {
		s.confirmed = confirm.Run(ctx, rounds{numbers, ask}, e, candidates, options)
	})
}

// continueRounds continues the confirmation until it asks again. What it was told is recorded then.
func (s *Session) continueRounds() error {
	return timed(&s.engine.spending.Confirming, func() error {
		s.asked, _ = s.resume()
		return s.confirmed
	})
}

func (s *Session) askRound() (Question, error) {
	switch {
	case s.confirmed != nil:
		return Question{}, s.confirmed
	case s.asked == nil:
		return Question{}, &EndedError{s.engine.ended}
	case s.asked.out():
		return Question{}, &WaitError{s.pendingNumbers()}
	}
	s.asked.handed = time.Now()
	return s.asked.Question, nil
}

// rounds answers a confirmation by asking for every sample.
type rounds struct {
	numbers map[space.Point]int
	ask     func(*sampling) bool
}

// errClosed unwinds a confirmation that nobody continues.
var errClosed = errors.New("the session was closed")

func (rounds) Prepare(_ context.Context, p space.Point) (objective.Prepared, error) {
	return objective.Prepared{Point: p}, nil
}

// Verify finds nothing: whoever measures checks.
func (rounds) Verify(context.Context, objective.Prepared) (*objective.Failure, error) {
	return nil, nil
}

func (rounds) Refresh() {}

func (r rounds) Sample(_ context.Context, p objective.Prepared, _ int) (objective.Outcome, error) {
	q := &sampling{Question: Question{r.numbers[p.Point], p.Point, trial.Confirmation}}
	if !r.ask(q) {
		return objective.Outcome{}, errClosed
	}
	return q.outcome, nil
}
