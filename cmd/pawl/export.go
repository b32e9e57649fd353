package main

import (
	"github.com/urfave/cli/v2"

	"pawl/search/replay"
)

// exportStudy prints a study, or a record, as a record.
func exportStudy(c *cli.Context, env environment) error {
	if format := c.String("format"); format != "pawl" && format != "t4" {
		return usagef("--format %q: pawl or t4", format)
	}
	record, err := recordToExport(c, env)
	if err != nil {
		return err
	}
	if c.String("format") == "t4" {
		return record.WriteT4(env.stdout)
	}
	return record.Write(env.stdout)
}

func recordToExport(c *cli.Context, env environment) (*replay.Record, error) {
	if path := c.String("record"); path != "" {
		if c.NArg() > 0 {
			return nil, usagef("a study or a --record, not both")
		}
		return replay.ReadFile(path)
	}
	study, past, err := openPast(c, env)
	if err != nil {
		return nil, err
	}
	s, err := study.Space.Open()
	if err != nil {
		return nil, err
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
	return record, nil
}
