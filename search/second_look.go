package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"pawl/internal/stats"
	"pawl/objective"
	"pawl/search/confirm"
	"pawl/search/trial"
	"pawl/space"
)

const (
	// mostLeaders is how many points get second looks, for each finalist.
	mostLeaders = 4
	// mostLooks is how many times a point is measured again during the search. After that the device may as well rest.
	mostLooks = 20
	// lookTime is about how long a part of a full check takes: so short that a trial which is ready hardly waits for it.
	lookTime = 20 * time.Millisecond
)

// secondLook uses the time in which a resident device would wait for a compiler. It
// gets ready what the pending trials will be checked against. Then it checks the
// fastest points in full, so that a wrong one is disqualified before others are
// judged by its time, and measures them again, so that luck makes no finalist. What
// it finds never reaches a sampler as a time: the same seed and the same answers lead
// to the same points however long compilers take.
type secondLook struct {
	evaluator Evaluator
	options   Options
	search    confirm.Search
	spending  *trial.Spending

	checked map[int]bool      // trials that have passed the full check
	samples map[int][]float64 // what was measured again, by trial
	counts  map[int]int       // how many times
	medians map[int]float64   // of all samples, by trial
}

func newSecondLook(e *engine) *secondLook {
	s := &secondLook{
		evaluator: e.evaluator, options: e.options, search: e, spending: &e.spending,
		checked: map[int]bool{}, samples: map[int][]float64{}, counts: map[int]int{}, medians: map[int]float64{},
	}
	numbers := map[space.Point]int{}
	for _, t := range e.past.Trials {
		numbers[t.Point] = t.Number
	}
	for _, r := range e.past.Rounds {
		if r.Phase == trial.SecondLook {
			s.add(numbers[r.Point], r)
		}
	}
	return s
}

// add counts a look by its own number: looks that brought nothing have none.
func (s *secondLook) add(number int, r trial.Round) {
	s.counts[number] = max(s.counts[number], r.Number+1)
	s.samples[number] = append(s.samples[number], r.Outcome.Samples...)
	delete(s.medians, number)
}

// until uses the time until the devices have something to do.
func (s *secondLook) until(ctx context.Context, p *pipeline) error {
	if s.options.Resident == nil {
		return nil
	}
	for p.starved() && !s.options.stopped() && ctx.Err() == nil {
		if next := slices.IndexFunc(p.flights, func(f *flight) bool { return !f.expected && !done(f.prepared) }); next >= 0 {
			if err := s.anticipate(ctx, p.flights[next]); err != nil {
				return err
			}
			continue
		}
		t, measure, found := s.next()
		if !found {
			return nil
		}
		if err := timed(&s.spending.Looking, func() error { return s.look(ctx, t, measure) }); err != nil {
			return err
		}
	}
	return nil
}

// anticipate gets ready what a trial will be checked against.
func (s *secondLook) anticipate(ctx context.Context, f *flight) error {
	f.expected = true
	return timed(&s.spending.Looking, func() error {
		if err := s.options.Resident.Anticipate(ctx, f.trial.Point); err != nil {
			return fmt.Errorf("getting the check of %s ready: %w", f.trial.Point, err)
		}
		return nil
	})
}

func done(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// next returns the trial that deserves a look most: the first that is not checked in
// full and would be confirmed if the search ended now, then the one that was measured
// again least.
func (s *secondLook) next() (t trial.Trial, measure, found bool) {
	leaders := s.leaders()
	for _, t := range leaders[:min(len(leaders), s.options.Finalists+1)] {
		if !s.checked[t.Number] {
			return t, false, true
		}
	}
	slices.SortStableFunc(leaders, func(a, b trial.Trial) int { return s.counts[a.Number] - s.counts[b.Number] })
	if len(leaders) == 0 || s.counts[leaders[0].Number] >= mostLooks {
		return trial.Trial{}, false, false
	}
	return leaders[0], true, true
}

// leaders are the default and the fastest, each machine code once.
func (s *secondLook) leaders() []trial.Trial {
	var leaders []trial.Trial
	met := map[string]bool{}
	for _, number := range s.ranked() {
		t := s.search.Trials()[number]
		if met[t.Outcome.Binary] && t.Outcome.Binary != "" {
			continue
		}
		met[t.Outcome.Binary] = true
		if leaders = append(leaders, t); len(leaders) > mostLeaders*s.options.Finalists {
			break
		}
	}
	return leaders
}

// ranked returns the numbers of the default and then of the trials with a verified time,
// fastest first by all that was measured of them.
func (s *secondLook) ranked() []int {
	var numbers []int
	for i, t := range s.search.Trials() {
		if !t.OK() {
			continue
		}
		if _, known := s.medians[i]; !known {
			s.medians[i] = stats.Median(s.all(t))
		}
		numbers = append(numbers, i)
	}
	slices.SortStableFunc(numbers, func(a, b int) int {
		if a == 0 || b == 0 {
			return a - b
		}
		return cmp.Compare(s.medians[a], s.medians[b])
	})
	return numbers
}

func (s *secondLook) all(t trial.Trial) []float64 {
	return slices.Concat(t.Outcome.Samples, s.samples[t.Number])
}

// look measures a trial again, or goes on with its full check.
func (s *secondLook) look(ctx context.Context, t trial.Trial, measure bool) error {
	p, err := s.evaluator.Prepare(ctx, t.Point)
	if err == nil {
		err = confirm.SameBinary(t.Outcome, p)
	}
	if err != nil {
		return err
	}
	if measure {
		return s.measure(ctx, t, p)
	}
	through, failure, err := s.options.Resident.VerifyFor(ctx, p, lookTime)
	switch {
	case err != nil:
		return fmt.Errorf("checking %s in full: %w", t.Point, err)
	case failure != nil:
		return s.search.Disqualify(t.Number, failure)
	}
	s.checked[t.Number] = through
	return nil
}

func (s *secondLook) measure(ctx context.Context, t trial.Trial, p objective.Prepared) error {
	outcome, err := s.evaluator.Sample(ctx, p, s.options.Samples)
	if err != nil {
		return fmt.Errorf("measuring %s again: %w", t.Point, err)
	}
	switch {
	case outcome.Failure == nil:
	case outcome.Failure.Reason == objective.Throttled: // the device's fault
		s.counts[t.Number]++
		return nil
	default:
		return s.search.Disqualify(t.Number, outcome.Failure)
	}
	round := trial.Round{Phase: trial.SecondLook, Number: s.counts[t.Number], Point: t.Point, Outcome: outcome}
	if err := s.search.Record(round); err != nil {
		return err
	}
	s.add(t.Number, round)
	return nil
}
