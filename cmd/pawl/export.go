package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/search/replay"
)

// exportStudy prints a study as a record.
func exportStudy(c *cli.Context, env environment) error {
	study, past, err := openPast(c, env)
	if err != nil {
		return err
	}
	s, err := study.Space.Open()
	if err != nil {
		return err
	}
	record := &replay.Record{
		Kernel: study.Kernel, Workload: study.Workload, Environment: study.Environment,
		Params: s.Params(), DefaultKnown: true,
	}
	for _, t := range past.Trials {
		if !t.Told {
			continue
		}
		entry := replay.Entry{Point: t.Point, Failure: t.Outcome.Failure, Samples: t.Outcome.Samples, Compile: t.Outcome.Spent.Compile, Resources: t.Outcome.Resources}
		if t.OK() {
			entry.Milliseconds = t.Outcome.Milliseconds()
		}
		record.Entries = append(record.Entries, entry)
	}
	if err := record.Write(env.stdout); err != nil {
		return fmt.Errorf("exporting study %d: %w", study.ID, err)
	}
	return nil
}
