package main

import (
	"slices"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/search/replay"
)

// exportStudy prints a study, or a record, as a record.
func exportStudy(c *cli.Context, env environment) error {
	format := c.String("format")
	if !slices.Contains([]string{"pawl", "t4", "optuna"}, format) {
		return usagef("--format %q: pawl, t4 or optuna", format)
	}
	record, created, err := recordToExport(c, env)
	if err != nil {
		return err
	}
	switch format {
	case "t4":
		return record.WriteT4(env.stdout)
	case "optuna":
		return record.WriteOptuna(env.stdout, created)
	}
	return record.Write(env.stdout)
}

// recordToExport returns what was recorded and when that began, as far as it is
// known.
func recordToExport(c *cli.Context, env environment) (*replay.Record, time.Time, error) {
	unknown := time.Unix(0, 0)
	if path := c.String("record"); path != "" {
		if c.NArg() > 0 {
			return nil, unknown, usagef("a study or a --record, not both")
		}
		record, err := replay.ReadFile(path)
		return record, unknown, err
	}
	study, past, err := openPast(c, env)
	if err != nil {
		return nil, unknown, err
	}
	s, err := study.Space.Open()
	if err != nil {
		return nil, unknown, err
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
	return record, study.Created, nil
}
