package search

import (
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/objective"
	"pawl/space"
)

const (
	// mostLeaders is how many points are looked at again, for each finalist.
	mostLeaders = 4
	// mostLooks is how many times a leader is measured again during the search.
	// After that the device may as well rest.
	mostLooks = 20
	// lookTime is about how long a look at the results takes: so short that a
	// trial which is ready hardly waits for it.
	lookTime = 20 * time.Millisecond
)

// secondLook is what the device knows from looking again at what leads, while it
// would wait for a compiler. The leaders are checked in full, so that a wrong one is
// struck out before others are judged by its time, and their times are measured
// again, so that luck makes no finalist. What it finds never reaches a sampler as
// a time: the same seed asks for the same points however long compilers take.
type secondLook struct {
	checked map[int]bool      // trials that have passed the full check
	samples map[int][]float64 // what was measured again, by trial
	looks   map[int]int       // how many times
}

func newSecondLook(past Past) secondLook {
	s := secondLook{checked: map[int]bool{}, samples: map[int][]float64{}, looks: map[int]int{}}
	numbers := map[space.Point]int{}
	for _, t := range past.Trials {
		numbers[t.Point] = t.Number
	}
	for _, r := range past.Rounds {
		if r.Phase == SecondLook {
			s.add(numbers[r.Point], r)
		}
	}
	return s
}

// add counts a look by its own number: looks that brought nothing have none.
func (s *secondLook) add(number int, r Round) {
	s.looks[number] = max(s.looks[number], r.Number+1)
	s.samples[number] = append(s.samples[number], r.Outcome.Samples...)
}

// nextLook returns the leader that deserves a look most: the first that is not
// checked in full and would be confirmed if the search ended now, then the one that
// was looked at least.
func (e *engine) nextLook() (t Trial, measure, found bool) {
	leaders := e.leaders()
	for _, t := range leaders[:min(len(leaders), e.options.Finalists+1)] {
		if !e.second.checked[t.Number] {
			return t, false, true
		}
	}
	slices.SortStableFunc(leaders, func(a, b Trial) int { return e.second.looks[a.Number] - e.second.looks[b.Number] })
	if len(leaders) == 0 || e.second.looks[leaders[0].Number] >= mostLooks {
		return Trial{}, false, false
	}
	return leaders[0], true, true
}

// leaders are the default and the fastest, each machine code once.
func (e *engine) leaders() []Trial {
	var leaders []Trial
	met := map[string]bool{}
	for _, t := range e.candidates() {
		if met[t.Outcome.Binary] && t.Outcome.Binary != "" {
			continue
		}
		met[t.Outcome.Binary] = true
		if leaders = append(leaders, t); len(leaders) > mostLeaders*e.options.Finalists {
			break
		}
	}
	return leaders
}

// look measures a trial again, or goes on with its full check.
func (e *engine) look(ctx context.Context, t Trial, measure bool) error {
	return timed(&e.spending.Looking, func() error {
		p, err := e.evaluator.Prepare(ctx, t.Point)
		if err == nil {
			err = sameBinary(t.Outcome, p)
		}
		if err != nil {
			return err
		}
		if measure {
			return e.measureAgain(ctx, t, p)
		}
		through, failure, err := e.evaluator.VerifyFor(ctx, p, lookTime)
		switch {
		case err != nil:
			return fmt.Errorf("checking %s in full: %w", t.Point, err)
		case failure != nil:
			return e.strike(t, failure)
		}
		e.second.checked[t.Number] = through
		return nil
	})
}

func (e *engine) measureAgain(ctx context.Context, t Trial, p objective.Prepared) error {
	outcome, err := e.evaluator.Sample(ctx, p, e.options.Samples)
	if err != nil {
		return fmt.Errorf("measuring %s again: %w", t.Point, err)
	}
	switch {
	case outcome.Failure == nil:
	case outcome.Failure.Reason == objective.Throttled: // the device's fault
		e.second.looks[t.Number]++
		return nil
	default:
		return e.strike(t, outcome.Failure)
	}
	round := Round{Phase: SecondLook, Number: e.second.looks[t.Number], Point: t.Point, Outcome: outcome}
	if err := e.record(round); err != nil {
		return err
	}
	e.second.add(t.Number, round)
	return nil
}
