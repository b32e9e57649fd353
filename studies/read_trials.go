package studies

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"pawl/search/trial"
)

// Past returns everything that a study has recorded, for going on with it and for reporting on it.
func (s *Store) Past(ctx context.Context, study int64) (trial.Past, error) {
	head, err := s.Study(ctx, study)
	if err != nil {
		return trial.Past{}, err
	}
	past := trial.Past{Conclusion: trial.Conclusion{Elapsed: head.Elapsed, Spending: head.Spending}}
	if past.Trials, err = s.trials(ctx, study); err != nil {
		return past, err
	}
	for _, t := range past.Trials {
		past.Elapsed = max(past.Elapsed, t.Elapsed) // a killed run finished nothing
	}
	past.Rounds, err = s.Rounds(ctx, study)
	return past, err
}

// partOfTrials is how many trials are read by themselves.
const partOfTrials = 2500

// trials reads a long study in parts, as many at a time as there are cores: decoding takes
// longer than reading. A running study has more trials at the end of it than at the beginning,
// which the last part finds too.
func (s *Store) trials(ctx context.Context, study int64) ([]trial.Trial, error) {
	var count int
	if err := s.read(ctx, func() error {
		return s.db.queryRow(ctx, []any{&count}, "SELECT COALESCE(MAX(number), -1) + 1 FROM trials WHERE study = ?", study)
	}); err != nil {
		return nil, fmt.Errorf("reading study %d: %w", study, err)
	}
	parts := make([][]trial.Trial, 1+count/partOfTrials)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.NumCPU())
	for i := range parts {
		reading.Go(func() (err error) {
			to := math.MaxInt
			if i+1 < len(parts) {
				to = (i + 1) * partOfTrials
			}
			parts[i], err = s.trialsBetween(ctx, study, i*partOfTrials, to)
			return err
		})
	}
	err := reading.Wait()
	return slices.Concat(parts...), err
}

// TrialsFrom returns a study's trials from a number on.
func (s *Store) TrialsFrom(ctx context.Context, study int64, number int) ([]trial.Trial, error) {
	return s.trialsBetween(ctx, study, number, math.MaxInt)
}

func (s *Store) trialsBetween(ctx context.Context, study int64, from, to int) ([]trial.Trial, error) {
	return readRows(ctx, s, study, "trials", "AND number >= ? AND number < ? ORDER BY number",
		func(t *trial.Trial) columns {
			return append(trialColumns(t), columns{{"number", &t.Number}, {"point", asText{&t.Point}}}...)
		}, from, to)
}

// Rounds returns what was measured after a study's search.
func (s *Store) Rounds(ctx context.Context, study int64) ([]trial.Round, error) {
	return readRows(ctx, s, study, "rounds", "ORDER BY phase DESC, number, point", func(r *trial.Round) columns {
		return append(outcomeColumns(&r.Outcome, &r.OrderSeed),
			columns{{"phase", &r.Phase}, {"run", &r.Run}, {"number", &r.Number}, {"point", asText{&r.Point}}}...)
	})
}
