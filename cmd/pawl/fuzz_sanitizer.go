package main

import (
	"errors"
	"fmt"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/objective"
)

// fuzzBench is a bench that kernels are checked on, as they are or under a
// sanitizer.
type fuzzBench struct {
	*bench
	// sanitizer is its name, empty for none.
	sanitizer string
	// slow says that there is time for a few small cases only, and none to look
	// for smaller ones.
	slow bool
}

// fuzzBenches connects the target with this machine, once for each sanitizer if
// they are asked for. Where they are missing nothing is checked: a check that
// was asked for and not made must not end like one that passed.
func fuzzBenches(c *cli.Context, env environment, t *target) ([]*fuzzBench, error) {
	plain, err := t.openBench(c.Context, c, env)
	if err != nil {
		return nil, err
	}
	if !c.Bool("sanitizer") {
		return []*fuzzBench{{bench: plain}}, nil
	}
	defer plain.close()
	sanitizing, able := plain.backend.(objective.Sanitizing)
	if !able {
		fmt.Fprintf(env.stderr, "pawl: %v for backend %s: nothing was tested; without --sanitizer the other checks run\n", objective.ErrNoSanitizer, t.kernel.Backend)
		return nil, answer(exitNothing)
	}
	tools, err := sanitizing.Sanitized(c.Context)
	if errors.Is(err, objective.ErrNoSanitizer) {
		fmt.Fprintf(env.stderr, "pawl: %v: nothing was tested; without --sanitizer the other checks run\n", err)
		return nil, answer(exitNothing)
	}
	if err != nil {
		return nil, err
	}
	var benches []*fuzzBench
	for _, tool := range tools {
		evaluator := objective.NewEvaluator(t.kernel, t.workload, tool.Backend, objective.Options{
			Seed: c.Uint64("seed"), RunTimeout: c.Duration("run-timeout") * time.Duration(tool.Slowdown),
		})
		benches = append(benches, &fuzzBench{&bench{t, tool.Backend, evaluator, func() {}}, tool.Name, tool.Slowdown > 1})
	}
	return benches, nil
}

func closeAll(benches []*fuzzBench) {
	for _, b := range benches {
		b.close()
	}
}

// prefix is the sanitizer's name in front of the progress.
func (b *fuzzBench) prefix() string {
	if b.sanitizer == "" {
		return ""
	}
	return b.sanitizer + ", "
}
