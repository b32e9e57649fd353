package studies

import (
	"context"
	"fmt"
	"runtime"
	"slices"

	"golang.org/x/sync/errgroup"

	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/search/confirm"
)

// Recorder writes one study's trials. Each method is one transaction.
type Recorder struct {
	store *Store
	study int64
}

var _ search.Recorder = (*Recorder)(nil)

// Recorder returns the recorder of a study.
func (s *Store) Recorder(study int64) *Recorder { return &Recorder{s, study} }

// Started records a trial that is about to run. It does not take a context: a
// trial that was chosen is recorded even while the program is being stopped.
func (r *Recorder) Started(t search.Trial) error {
	return r.store.createAt(context.Background(), r.study, trialRow(r.study, t.Number), columns{{"point", asText{&t.Point}}})
}

// Finished records a trial's outcome and the study's active time in one step.
func (r *Recorder) Finished(t search.Trial) error {
	t.Finished = true
	changed, err := r.store.update(context.Background(), r.study, trialRow(r.study, t.Number), trialColumns(&t, newStored(&t.Outcome)), " AND told = 0")
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d was finished before, or never started", t.Number, r.study)
	}
	return err
}

// Disqualified turns a finished trial into a failure. Its samples stay in no report: a
// wrong result has no time.
func (r *Recorder) Disqualified(number int, failure *objective.Failure) error {
	_, err := r.store.update(context.Background(), r.study, trialRow(r.study, number),
		columns{{"stage", &failure.Stage}, {"reason", &failure.Reason}, {"detail", &failure.Detail}, {"samples", "[]"}}, "")
	return err
}

// Measured records one round of the confirmation.
func (r *Recorder) Measured(round confirm.Round) error {
	row := rowKey{"rounds", columns{{"study", r.study}, {"phase", string(round.Phase)}, {"number", round.Number}, {"point", round.Point.String()}}}
	return r.store.createAt(context.Background(), r.study, row, append(newStored(&round.Outcome).columns(), column{"run", &round.Run}))
}

// stored is an outcome as trials and rounds hold it: failures in columns of their own,
// and the rest as JSON in one, "facts".
type stored struct {
	outcome *objective.Outcome
	failure objective.Failure
	facts   facts
}

type facts struct {
	Device     string               `json:"device,omitempty"`
	Resources  *objective.Resources `json:"resources,omitempty"`
	Conditions *worker.Conditions   `json:"conditions,omitempty"`
	Remembered bool                 `json:"remembered,omitempty"`
	Evidence   *check.Evidence      `json:"evidence,omitempty"`
	Measured   map[string]float64   `json:"measured,omitempty"`
	Scores     []float64            `json:"scores,omitempty"`
}

func newStored(o *objective.Outcome) *stored {
	s := &stored{outcome: o, facts: facts{o.Device, o.Resources, o.Conditions, o.Remembered, o.Evidence, o.Measured, o.Scores}}
	if o.Failure != nil {
		s.failure = *o.Failure
	}
	if o.Samples == nil {
		o.Samples = []float64{} // an earlier pawl reads no empty text
	}
	return s
}

// complete gives the outcome what was read, and is then ready for the next.
func (s *stored) complete() {
	o, read := s.outcome, s.facts
	o.Resources, o.Conditions, o.Remembered, o.Evidence = read.Resources, read.Conditions, read.Remembered, read.Evidence
	o.Measured, o.Scores, o.Device = read.Measured, read.Scores, read.Device
	if o.Samples == nil {
		o.Samples = []float64{}
	}
	if s.failure.Stage != "" {
		failure := s.failure
		o.Failure = &failure
	}
	s.failure, s.facts = objective.Failure{}, facts{}
}

func (s *stored) columns() columns {
	return columns{
		{"stage", &s.failure.Stage}, {"reason", &s.failure.Reason}, {"detail", &s.failure.Detail}, {"samples", asJSON{&s.outcome.Samples}},
		{"batch", &s.outcome.Batch}, {"binary", &s.outcome.Binary}, {"facts", asJSON{&s.facts}},
	}
}

func trialColumns(t *search.Trial, s *stored) columns {
	spent := &t.Outcome.Spent
	return append(s.columns(), columns{
		{"told", &t.Finished}, {"same_as", &t.Outcome.SameAs}, {"stop", &t.Outcome.Stop}, {"compile_ns", &spent.Compile},
		{"check_ns", &spent.Check}, {"measure_ns", &spent.Measure}, {"cache_hit", &spent.CacheHit}, {"elapsed_ns", &t.Elapsed},
	}...)
}

// Past returns everything that a study has recorded, for going on with it and
// for reporting on it.
func (s *Store) Past(ctx context.Context, study int64) (search.Past, error) {
	head, err := s.Study(ctx, study)
	if err != nil {
		return search.Past{}, err
	}
	past := search.Past{Elapsed: head.Elapsed, Spending: head.Spending}
	if past.Trials, err = s.trials(ctx, study); err != nil {
		return past, fmt.Errorf("reading study %d: %w", study, err)
	}
	for _, t := range past.Trials {
		past.Elapsed = max(past.Elapsed, t.Elapsed) // a killed run finished nothing
	}
	if past.Rounds, err = s.rounds(ctx, study); err != nil {
		return past, fmt.Errorf("reading study %d: %w", study, err)
	}
	return past, nil
}

// partOfTrials is how many trials are read by themselves.
const partOfTrials = 2500

// trials reads a long study in parts, as many at a time as there are cores: decoding takes
// longer than reading. A running study has more trials at the end of it than at the beginning,
// which the last part finds too.
func (s *Store) trials(ctx context.Context, study int64) ([]search.Trial, error) {
	var count int
	if err := s.db.queryRow(ctx, []any{&count}, "SELECT COALESCE(MAX(number), -1) + 1 FROM trials WHERE study = ?", study); err != nil {
		return nil, err
	}
	parts := make([][]search.Trial, 1+count/partOfTrials)
	reading, ctx := errgroup.WithContext(ctx)
	reading.SetLimit(runtime.NumCPU())
	for i := range parts {
		reading.Go(func() (err error) {
			condition, arguments := "study = ? AND number >= ?", []any{study, i * partOfTrials}
			if i+1 < len(parts) {
				condition, arguments = condition+" AND number < ?", append(arguments, (i+1)*partOfTrials)
			}
			parts[i], err = s.trialsWhere(ctx, condition, arguments...)
			return err
		})
	}
	err := reading.Wait()
	return slices.Concat(parts...), err
}

func (s *Store) trialsWhere(ctx context.Context, condition string, arguments ...any) ([]search.Trial, error) {
	return readRowsWhere(ctx, s, "trials", condition, "number", arguments, func(t *search.Trial) (columns, func()) {
		row := newStored(&t.Outcome)
		return append(trialColumns(t, row), columns{{"number", &t.Number}, {"point", asText{&t.Point}}}...), row.complete
	})
}

func (s *Store) rounds(ctx context.Context, study int64) ([]confirm.Round, error) {
	return readRows(ctx, s, "rounds", "phase DESC, number, point", study, func(r *confirm.Round) (columns, func()) {
		row := newStored(&r.Outcome)
		return append(row.columns(), columns{{"phase", &r.Phase}, {"run", &r.Run}, {"number", &r.Number}, {"point", asText{&r.Point}}}...), row.complete
	})
}
