package main

import (
	"fmt"

	"github.com/urfave/cli/v2"

	"pawl/studies"
)

// askedOptions returns what the command line says about a study.
func askedOptions(c *cli.Context) studies.Options {
	trials, budget := limits(c)
	return studies.Options{
		Sampler: c.String("sampler"), Seed: c.Uint64("seed"), Trials: trials, Budget: studies.Duration(budget), Cold: c.Bool("cold"),
		Target: c.String("target"), Regret: c.String("regret"), Compiler: c.String("compiler"), Caches: c.String("caches"),
		LockClocks: c.Int("lock-clocks"), Samples: c.Int("samples"), Finalists: c.Int("finalists"), Rounds: c.Int("rounds"),
		RunTimeout: studies.Duration(c.Duration("run-timeout")), CompileTimeout: studies.Duration(c.Duration("compile-timeout")),
	}
}

// adopt gives the command line the values that a study was begun with. It reports
// whether that changes what is measured, and how.
func adopt(c *cli.Context, study studies.Study) (changed bool, err error) {
	asked := askedOptions(c)
	before := asked.Texts()
	adopted, changed := study.Adopt(asked, c.IsSet)
	for name, value := range adopted.Texts() {
		if before[name] == value {
			continue
		}
		if err := c.Set(name, value); err != nil {
			return changed, fmt.Errorf("study %d: --%s %s: %w", study.ID, name, value, err)
		}
	}
	return changed, nil
}
