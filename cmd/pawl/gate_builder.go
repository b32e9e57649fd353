package main

import (
	"fmt"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/gate/ratchet"
	"pawl/objective"
	"pawl/objective/devices"
	"pawl/objective/worker"
)

// deviceOptions says where kernels run, and how.
type deviceOptions struct {
	backend, compiler, cache string
	seed                     uint64
	runTimeout               time.Duration
	compileTimeout           time.Duration
}

func (o *deviceOptions) flags() []cli.Flag {
	return []cli.Flag{
		stringInto(backendFlag, &o.backend), stringInto(compilerFlag, &o.compiler), stringInto(cacheFlag, &o.cache),
		&cli.Uint64Flag{Name: seedFlag.Name, Value: seedFlag.Value, Destination: &o.seed, Usage: seedFlag.Usage},
		&cli.DurationFlag{Name: timeoutFlag.Name, Value: timeoutFlag.Value, Destination: &o.runTimeout, Usage: timeoutFlag.Usage},
		&cli.DurationFlag{Name: compileFlag.Name, Value: compileFlag.Value, Destination: &o.compileTimeout, Usage: compileFlag.Usage},
	}
}

// builder makes configurations as the options say; timed launches find a GPU's caches
// as asked, empty for cold.
func (o deviceOptions) builder(env environment, caches worker.Caches) (*ratchet.Builder, error) {
	options := devices.Options{
		Compiler: o.compiler, Cache: o.cache, CompileTimeout: o.compileTimeout, Getenv: env.getenv,
		Notice: func(text string) { fmt.Fprintln(env.stderr, "pawl: "+text) },
	}
	folder, err := options.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &ratchet.Builder{
		Machine: devices.Here(options), Cache: folder, Version: version(),
		Options: objective.Options{Seed: o.seed, RunTimeout: o.runTimeout, Caches: caches},
	}, nil
}

// oneKernel returns the only kernel that is named, or the default.
func oneKernel(names []string) (string, error) {
	switch len(names) {
	case 0:
		return defaultKernel, nil
	case 1:
		return names[0], nil
	}
	return "", usagef("one kernel at a time, got %s", strings.Join(names, " "))
}

// stringInto and boolInto bind flags that commands share to the options of one.
func stringInto(f *cli.StringFlag, to *string) cli.Flag {
	bound := *f
	bound.Destination = to
	return &bound
}

func boolInto(f *cli.BoolFlag, to *bool) cli.Flag {
	bound := *f
	bound.Destination = to
	return &bound
}
