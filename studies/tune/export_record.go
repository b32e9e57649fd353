package tune

import (
	"pawl/search/replay"
	"pawl/search/trial"
	"pawl/studies"
)

// Record returns the finished trials of a study as a recorded space, which can be
// replayed and exported.
func Record(s studies.Study, past trial.Past) (*replay.Record, error) {
	opened, err := s.Space.Open()
	if err != nil {
		return nil, err
	}
	record := &replay.Record{
		Kernel: s.Kernel, Workload: s.Workload, Environment: s.Environment,
		Params: opened.Params(), DefaultKnown: true,
	}
	for _, t := range past.Trials {
		if !t.Finished {
			continue
		}
		entry := replay.Entry{
			Point:     t.Point,
			Failure:   t.Outcome.Failure,
			Samples:   t.Outcome.Samples,
			Compile:   t.Outcome.Spent.Compile,
			Resources: t.Outcome.Resources,
		}
		if t.OK() {
			entry.Milliseconds = t.Outcome.Milliseconds()
		}
		record.Entries = append(record.Entries, entry)
	}
	return record, nil
}
