package studies

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
	"pawl/search"
	"pawl/search/confirm"
	"pawl/space"
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
	_, err := r.store.write(context.Background(), trialRow(r.study, t.Number),
		"INSERT INTO trials (study, number, point) VALUES (?, ?, ?)", r.study, t.Number, t.Point.String())
	return err
}

// Finished records a trial's outcome and the study's active time in one step.
func (r *Recorder) Finished(t search.Trial) error {
	samples, err := json.Marshal(nonNil(t.Outcome.Samples)) // refuses NaN and Inf
	if err != nil {
		return err
	}
	facts, err := factsOf(t.Outcome)
	if err != nil {
		return err
	}
	failure := orEmpty(t.Outcome.Failure)
	changed, err := r.store.write(context.Background(), trialRow(r.study, t.Number),
		`UPDATE trials SET told = 1, stage = ?, reason = ?, detail = ?, samples = ?, batch = ?, binary = ?, same_as = ?,
			stop = ?, compile_ns = ?, check_ns = ?, measure_ns = ?, cache_hit = ?, elapsed_ns = ?, facts = ?
		WHERE study = ? AND number = ? AND told = 0`,
		string(failure.Stage), failure.Reason, failure.Detail, string(samples), t.Outcome.Batch, t.Outcome.Binary,
		t.Outcome.SameAs, string(t.Outcome.Stop), int64(t.Outcome.Spent.Compile), int64(t.Outcome.Spent.Check),
		int64(t.Outcome.Spent.Measure), t.Outcome.Spent.CacheHit, int64(t.Elapsed), facts, r.study, t.Number)
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d was told before, or never asked", t.Number, r.study)
	}
	return err
}

// Disqualified turns a finished trial into a failure. Its samples stay in no report: a
// wrong result has no time.
func (r *Recorder) Disqualified(number int, failure *objective.Failure) error {
	_, err := r.store.write(context.Background(), trialRow(r.study, number),
		"UPDATE trials SET stage = ?, reason = ?, detail = ?, samples = '[]' WHERE study = ? AND number = ?",
		string(failure.Stage), failure.Reason, failure.Detail, r.study, number)
	return err
}

// Measured records one round of the confirmation.
func (r *Recorder) Measured(round confirm.Round) error {
	samples, err := json.Marshal(nonNil(round.Outcome.Samples))
	if err != nil {
		return err
	}
	facts, err := factsOf(round.Outcome)
	if err != nil {
		return err
	}
	failure := orEmpty(round.Outcome.Failure)
	point := round.Point.String()
	row := rowKey{"rounds", keyColumns["rounds"], []any{r.study, string(round.Phase), round.Number, point}}
	_, err = r.store.write(context.Background(), row,
		`INSERT INTO rounds (study, phase, run, number, point, stage, reason, detail, samples, batch, binary, facts)
		VALUES (`+placeholders(12)+`)`,
		r.study, string(round.Phase), round.Run, round.Number, point, string(failure.Stage), failure.Reason,
		failure.Detail, string(samples), round.Outcome.Batch, round.Outcome.Binary, facts)
	return err
}

// facts is what an outcome carries beside its samples.
type facts struct {
	Resources  *objective.Resources `json:"resources,omitempty"`
	Conditions *worker.Conditions   `json:"conditions,omitempty"`
	Remembered bool                 `json:"remembered,omitempty"`
	Evidence   *check.Evidence      `json:"evidence,omitempty"`
}

func factsOf(o objective.Outcome) (string, error) {
	text, err := json.Marshal(facts{o.Resources, o.Conditions, o.Remembered, o.Evidence})
	return string(text), err
}

func nonNil(samples []float64) []float64 {
	if samples == nil {
		return []float64{}
	}
	return samples
}

func orEmpty(f *objective.Failure) objective.Failure {
	if f == nil {
		return objective.Failure{}
	}
	return *f
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

func (s *Store) trials(ctx context.Context, study int64) ([]search.Trial, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT number, point, told, stage, reason, detail, samples, batch, binary, same_as,
		stop, compile_ns, check_ns, measure_ns, cache_hit, elapsed_ns, facts FROM trials WHERE study = ? ORDER BY number`, study)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var trials []search.Trial
	for rows.Next() {
		var t search.Trial
		var point, samples, facts string
		var failure objective.Failure
		var compile, check, measure, elapsed int64
		o := &t.Outcome
		if err := rows.Scan(&t.Number, &point, &t.Finished, &failure.Stage, &failure.Reason, &failure.Detail, &samples, &o.Batch,
			&o.Binary, &o.SameAs, &o.Stop, &compile, &check, &measure, &o.Spent.CacheHit, &elapsed, &facts); err != nil {
			return nil, err
		}
		o.Spent.Compile, o.Spent.Check, o.Spent.Measure = time.Duration(compile), time.Duration(check), time.Duration(measure)
		t.Elapsed = time.Duration(elapsed)
		if err := fill(&t.Point, o, point, samples, facts, failure); err != nil {
			return nil, fmt.Errorf("trial %d: %w", t.Number, err)
		}
		trials = append(trials, t)
	}
	return trials, rows.Err()
}

func (s *Store) rounds(ctx context.Context, study int64) ([]confirm.Round, error) {
	rows, err := s.db.QueryContext(ctx, `SELECT phase, run, number, point, stage, reason, detail, samples, batch, binary, facts
		FROM rounds WHERE study = ? ORDER BY phase DESC, number, point`, study)
	if err != nil {
		return nil, err
	}
	defer rows.Close()
	var rounds []confirm.Round
	for rows.Next() {
		var r confirm.Round
		var point, samples, facts string
		var failure objective.Failure
		if err := rows.Scan(&r.Phase, &r.Run, &r.Number, &point, &failure.Stage, &failure.Reason, &failure.Detail, &samples,
			&r.Outcome.Batch, &r.Outcome.Binary, &facts); err != nil {
			return nil, err
		}
		if err := fill(&r.Point, &r.Outcome, point, samples, facts, failure); err != nil {
			return nil, fmt.Errorf("%s round %d: %w", r.Phase, r.Number, err)
		}
		rounds = append(rounds, r)
	}
	return rounds, rows.Err()
}

// fill decodes what trials and rounds have in common.
func fill(point *space.Point, outcome *objective.Outcome, text, samples, more string, failure objective.Failure) error {
	var known facts
	if err := json.Unmarshal([]byte(more), &known); err != nil {
		return err
	}
	outcome.Resources, outcome.Conditions, outcome.Remembered = known.Resources, known.Conditions, known.Remembered
	outcome.Evidence = known.Evidence
	var err error
	if *point, err = space.ParsePoint(text); err != nil {
		return err
	}
	if err := json.Unmarshal([]byte(samples), &outcome.Samples); err != nil {
		return err
	}
	if failure.Stage != "" {
		outcome.Failure = &failure
	}
	return nil
}
