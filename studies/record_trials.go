package studies

import (
	"context"
	"database/sql/driver"
	"fmt"

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
	changed, err := r.store.update(context.Background(), r.study, rowOf("trials", r.study, t.Number),
		trialColumns(&t), " AND told = 0")
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d was finished before, or never started", t.Number, r.study)
	}
	return err
}

// Disqualified turns a finished trial into a failure. Its samples stay in no report: a wrong result has no time.
func (r *Recorder) Disqualified(number int, failure *objective.Failure) error {
	changed, err := r.store.update(context.Background(), r.study, rowOf("trials", r.study, number),
		columns{{"stage", &failure.Stage}, {"reason", &failure.Reason}, {"detail", &failure.Detail}, {"samples", "[]"}}, "")
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d is not there to be disqualified", number, r.study)
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
