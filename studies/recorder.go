package studies

import (
	"context"
	"fmt"

	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
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
	return r.store.createAt(context.Background(), r.study, trialRow(r.study, t.Number),
		columns{{"point", asText{&t.Point}}})
}

// Finished records a trial's outcome and the study's active time in one step.
func (r *Recorder) Finished(t trial.Trial) error {
	t.Finished = true
	changed, err := r.store.update(context.Background(), r.study, trialRow(r.study, t.Number),
		trialColumns(&t, newStored(&t.Outcome)), " AND told = 0")
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d was finished before, or never started", t.Number, r.study)
	}
	return err
}

// Disqualified turns a finished trial into a failure. Its samples stay in no report: a
// wrong result has no time.
func (r *Recorder) Disqualified(number int, failure *objective.Failure) error {
	changed, err := r.store.update(context.Background(), r.study, trialRow(r.study, number),
		columns{{"stage", &failure.Stage}, {"reason", &failure.Reason}, {"detail", &failure.Detail}, {"samples", "[]"}}, "")
	if err == nil && changed != 1 {
		return fmt.Errorf("trial %d of study %d is not there to be disqualified", number, r.study)
	}
	return err
}

// Measured records one round of the confirmation.
func (r *Recorder) Measured(round trial.Round) error {
	row := rowKey{"rounds",
		columns{
			{"study", r.study},
			{"phase", string(round.Phase)},
			{"number", round.Number},
			{"point", round.Point.String()},
		}}
	return r.store.createAt(context.Background(), r.study, row,
		append(storedRound(&round).columns(), column{"run", &round.Run}))
}

// stored is an outcome as trials and rounds hold it: failures in columns of their own,
// and the rest as JSON in one, "facts".
type stored struct {
	outcome *objective.Outcome
	failure objective.Failure
	facts   facts
	order   *uint64 // nil for a trial
}

type facts struct {
	Device     string               `json:"device,omitempty"`
	Resources  *objective.Resources `json:"resources,omitempty"`
	Conditions *worker.Conditions   `json:"conditions,omitempty"`
	Remembered bool                 `json:"remembered,omitempty"`
	Evidence   *check.Evidence      `json:"evidence,omitempty"`
	Measured   map[string]float64   `json:"measured,omitempty"`
	Scores     []float64            `json:"scores,omitempty"`
	OrderSeed  uint64               `json:"order_seed,omitempty"` // of a round
}

// storedRound is a round's outcome with the seed of its order.
func storedRound(r *trial.Round) *stored {
	s := newStored(&r.Outcome)
	s.order, s.facts.OrderSeed = &r.OrderSeed, r.OrderSeed
	return s
}

func newStored(o *objective.Outcome) *stored {
	s := &stored{
		outcome: o,
		facts:   facts{o.Device, o.Resources, o.Conditions, o.Remembered, o.Evidence, o.Measured, o.Scores, 0},
	}
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
	if s.order != nil {
		*s.order = read.OrderSeed
	}
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
		{"stage", &s.failure.Stage}, {"reason", &s.failure.Reason}, {"detail", &s.failure.Detail},
		{"samples", asJSON{&s.outcome.Samples}},
		{"batch", &s.outcome.Batch}, {"binary", &s.outcome.Binary}, {"facts", asJSON{&s.facts}},
	}
}

func trialColumns(t *trial.Trial, s *stored) columns {
	spent := &t.Outcome.Spent
	return append(s.columns(), columns{
		// The column told says that a trial is finished; databases keep their names.
		{"told", &t.Finished}, {"same_as", &t.Outcome.SameAs}, {"stop", &t.Outcome.Stop}, {"compile_ns", &spent.Compile},
		{"check_ns", &spent.Check}, {"measure_ns", &spent.Measure}, {"cache_hit", &spent.CacheHit},
		{"elapsed_ns", &t.Elapsed},
	}...)
}
