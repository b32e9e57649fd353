package studies

import (
	"context"
	"database/sql/driver"
	"fmt"
	"math"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"pawl/objective"
	"pawl/search/trial"
)

// Recorder writes one study's trials. Each method is one transaction.
type Recorder struct {
	store *Store
	study int64
}

// Recorder returns the recorder of a study.
func (s *Store) Recorder(study int64) *Recorder { return &Recorder{s, study} }

// Started records a trial that is about to run. It does not take a context: a
// trial that was chosen is recorded even while the program is being stopped.
func (r *Recorder) Started(t trial.Trial) error {
	return r.store.createAt(context.Background(), r.study, rowOf("trials", r.study, t.Number),
		columns{{"point", asText{&t.Point}}})
}

// Finished records a trial's outcome and the study's active time in one step.
func (r *Recorder) Finished(t trial.Trial) error {
	t.Finished = true
	pending := func(before columns) bool { return before.get("told") == int64(0) }
	row := rowOf("trials", r.study, t.Number)
	done, err := r.store.update(context.Background(), r.study, row, trialColumns(&t), pending)
	if err == nil && !done {
		return fmt.Errorf("trial %d of study %d was finished before, or never started", t.Number, r.study)
	}
	return err
}

// Disqualified turns a finished trial into a failure. Its samples stay in no report: a wrong result has no time.
func (r *Recorder) Disqualified(number int, failure *objective.Failure) error {
	done, err := r.store.update(context.Background(), r.study, rowOf("trials", r.study, number),
		columns{{"stage", &failure.Stage}, {"reason", &failure.Reason}, {"detail", &failure.Detail}, {"samples", "[]"}}, nil)
	if err == nil && !done {
		return fmt.Errorf("trial %d of study %d is not there to be disqualified", number, r.study)
	}
	return err
}

// Reopened takes back the outcome of a trial that says nothing about its point: it is about to run again.
func (r *Recorder) Reopened(number int) error {
	var none trial.Trial
	row := rowOf("trials", r.study, number)
	done, err := r.store.update(context.Background(), r.study, row, trialColumns(&none), nil)
	if err == nil && !done {
		return fmt.Errorf("trial %d of study %d is not there to be tried again", number, r.study)
	}
	return err
}

// Discounted records that a round says nothing about its point: it is measured again.
func (r *Recorder) Discounted(round trial.Round) error {
	row := rowOf("rounds", r.study, string(round.Phase), round.Number, round.Point.String())
	columns := outcomeColumns(&round.Outcome, &round.OrderSeed)
	done, err := r.store.update(context.Background(), r.study, row, columns, nil)
	if err == nil && !done {
		return fmt.Errorf("round %d of study %d is not there to be measured again", round.Number, r.study)
	}
	return err
}

// Measured records one round of the confirmation.
func (r *Recorder) Measured(round trial.Round) error {
	row := rowOf("rounds", r.study, string(round.Phase), round.Number, round.Point.String())
	return r.store.createAt(context.Background(), r.study, row,
		append(outcomeColumns(&round.Outcome, &round.OrderSeed), column{"run", &round.Run}))
}

// outcomeColumns are an outcome as trials and rounds hold it; order is the seed of a round's order, nil for a trial.
func outcomeColumns(o *objective.Outcome, order *uint64) columns {
	return columns{
		{"stage", failurePart{&o.Failure, func(f *objective.Failure) *string { return (*string)(&f.Stage) }}},
		{"reason", failurePart{&o.Failure, func(f *objective.Failure) *string { return &f.Reason }}},
		{"detail", failurePart{&o.Failure, func(f *objective.Failure) *string { return &f.Detail }}},
		{"samples", asSamples{&o.Samples}}, {"batch", &o.Batch}, {"binary", &o.Binary},
		{"facts", facts{Outcome: o, OrderSeed: order}},
	}
}

func trialColumns(t *trial.Trial) columns {
	spent := &t.Outcome.Spent
	return append(outcomeColumns(&t.Outcome, nil), columns{
		// The column told says that a trial is finished; databases keep their names.
		{"told", &t.Finished}, {"same_as", &t.Outcome.SameAs}, {"stop", &t.Outcome.Stop}, {"compile_ns", &spent.Compile},
		{"check_ns", &spent.Check}, {"measure_ns", &spent.Measure}, {"cache_hit", &spent.CacheHit},
		{"elapsed_ns", &t.Elapsed},
	}...)
}

// facts is a column that holds as JSON what has no column of its own.
type facts struct {
	*objective.Outcome
	Spent     *struct{} `json:"spent,omitempty"` // has columns
	OrderSeed *uint64   `json:"order_seed,omitempty"`
}

func (f facts) Value() (driver.Value, error) {
	rest := *f.Outcome
	rest.Failure, rest.Samples, rest.Batch, rest.Binary, rest.SameAs, rest.Stop = nil, nil, 0, "", "", ""
	if f.Outcome = &rest; f.OrderSeed != nil && *f.OrderSeed == 0 {
		f.OrderSeed = nil
	}
	return asJSON{f}.Value()
}

func (f facts) Scan(stored any) error { return asJSON{&f}.Scan(stored) }

// failurePart is a column that holds a part of a failure: its stage, its reason or its detail.
type failurePart struct {
	failure **objective.Failure
	part    func(*objective.Failure) *string
}

func (c failurePart) Value() (driver.Value, error) {
	if *c.failure == nil {
		return "", nil
	}
	return *c.part(*c.failure), nil
}

func (c failurePart) Scan(stored any) error {
	text := string(textOf(stored))
	if text == "" {
		return nil
	}
	if *c.failure == nil {
		*c.failure = &objective.Failure{}
	}
	*c.part(*c.failure) = text
	return nil
}

// asSamples is a column that holds numbers as JSON. None are an empty list: an earlier pawl reads no empty text.
type asSamples struct{ pointer *[]float64 }

func (c asSamples) Value() (driver.Value, error) {
	return asJSON{append([]float64{}, *c.pointer...)}.Value()
}

func (c asSamples) Scan(stored any) error {
	*c.pointer = []float64{}
	return asJSON{c.pointer}.Scan(stored)
}

// Past returns everything that a study has recorded, for going on with it and for reporting on it.
func (s *Store) Past(ctx context.Context, study int64) (trial.Past, error) {
	head, err := s.Study(ctx, study)
	if err != nil {
		return trial.Past{}, err
	}
	past := trial.Past{Conclusion: trial.Conclusion{Elapsed: head.Elapsed, Spending: head.Spending}}
	if err = s.wholeTable(ctx, study, "trials", func() (seen tableTally, err error) {
		past.Trials, seen, err = s.trials(ctx, study)
		return seen, err
	}); err != nil {
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
func (s *Store) trials(ctx context.Context, study int64) ([]trial.Trial, tableTally, error) {
	var count int
	if err := s.read(ctx, func() error {
		return s.db.queryRow(ctx, []any{&count}, "SELECT COALESCE(MAX(number), -1) + 1 FROM trials WHERE study = ?", study)
	}); err != nil {
		return nil, tableTally{}, fmt.Errorf("reading study %d: %w", study, s.damagedBy(study, err))
	}
	parts, seen := make([][]trial.Trial, 1+count/partOfTrials), make([]tableTally, 1+count/partOfTrials)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.NumCPU())
	for i := range parts {
		reading.Go(func() (err error) {
			to := math.MaxInt
			if i+1 < len(parts) {
				to = (i + 1) * partOfTrials
			}
			parts[i], seen[i], err = s.trialsBetween(ctx, study, i*partOfTrials, to)
			return err
		})
	}
	err := reading.Wait()
	total := tableTally{}
	for _, part := range seen {
		total.Rows += part.Rows
		total.Sum += part.Sum
	}
	return slices.Concat(parts...), total, err
}

// TrialsFrom returns a study's trials from a number on.
func (s *Store) TrialsFrom(ctx context.Context, study int64, number int) ([]trial.Trial, error) {
	trials, _, err := s.trialsBetween(ctx, study, number, math.MaxInt)
	return trials, err
}

func (s *Store) trialsBetween(ctx context.Context, study int64, from, to int) ([]trial.Trial, tableTally, error) {
	return readRows(ctx, s, study, "trials", "AND number >= ? AND number < ? ORDER BY number",
		func(t *trial.Trial) columns {
			return append(trialColumns(t), columns{{"number", &t.Number}, {"point", asText{&t.Point}}}...)
		}, from, to)
}

// Rounds returns what was measured after a study's search.
func (s *Store) Rounds(ctx context.Context, study int64) ([]trial.Round, error) {
	return readAll(ctx, s, study, "rounds", "ORDER BY phase DESC, number, point", func(r *trial.Round) columns {
		return append(outcomeColumns(&r.Outcome, &r.OrderSeed),
			columns{{"phase", &r.Phase}, {"run", &r.Run}, {"number", &r.Number}, {"point", asText{&r.Point}}}...)
	})
}
