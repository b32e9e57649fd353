package search

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/search/trial"
)

// restore replays what an earlier run has recorded: the finished trials, and the
// points of those that were still running, which it returns to be run again.
func (s *study) restore(history []trial.Trial) (running []trial.Trial, err error) {
	var asked []int
	for i, t := range history {
		index, err := s.pool.Index(t.Point)
		switch {
		case t.Number != i:
			return nil, fmt.Errorf("the record lacks trial %d", i)
		case err != nil:
			return nil, fmt.Errorf("trial %d of the record: %w", i, err)
		}
		asked = append(asked, s.pool.Keep(index))
	}
	first := len(s.forced)
	s.forced = append(asked, s.forced[min(len(asked), len(s.forced)):]...)
	for i, t := range history {
		if i >= first && (s.uniform || s.draw(i) == asked[i]) {
			s.draws[i] = true
		}
		trial, err := s.propose()
		if err != nil {
			return nil, fmt.Errorf("trial %d of the record: %w", t.Number, err)
		}
		if !t.Finished {
			running = append(running, trial)
		}
	}
	// In the order in which they finished: that is what samplers have learned from.
	finished := collect.Where(history, func(t trial.Trial) bool { return t.Finished })
	slices.SortStableFunc(finished, func(a, b trial.Trial) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	for _, t := range finished {
		if err := s.learn(t); err != nil {
			return nil, fmt.Errorf("trial %d of the record: %w", t.Number, err)
		}
	}
	return running, nil
}
