package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies/tune"
)

// common are the values of the flags that several commands share.
type common struct {
	workload, at               string
	backend, compiler, caches  string
	lockClocks                 int // MHz, 0 for clocks as they are
	seed                       uint64
	out, cache                 string
	runTimeout, compileTimeout time.Duration
	json                       bool
}

// flags returns those of the shared flags that a command has, bound to the values.
func (o *common) flags(names ...string) []cli.Flag {
	all := map[string]cli.Flag{
		"workload": &cli.StringFlag{Name: "workload", Destination: &o.workload, Aliases: []string{"w"}, DefaultText: "the manifest's first",
			Usage: "the `NAME` of a workload in the manifest"},
		"at": &cli.StringFlag{Name: "at", Destination: &o.at, Usage: "a `POINT` such as BLOCK_M=64,BLOCK_N=32; what it leaves out has its default"},
		"backend": &cli.StringFlag{Name: "backend", Destination: &o.backend, Value: devices.Auto, Action: oneOf("backend", devices.Backends...),
			Usage: "where kernels run: auto, cuda, host or command"},
		"compiler": &cli.StringFlag{Name: "compiler", Destination: &o.compiler, Value: devices.Compilers[0], Action: oneOf("compiler", devices.Compilers...),
			Usage: "the compiler for CUDA: nvcc, or nvrtc, which is faster to compile"},
		"caches": &cli.StringFlag{Name: "caches", Destination: &o.caches, Value: string(worker.Cold),
			Action: oneOf("caches", string(worker.Cold), string(worker.Warm), string(worker.Flushed)),
			Usage:  "what timed launches find in a GPU's caches: cold, warm, or flush before every launch"},
		"lock-clocks": &cli.IntFlag{Name: "lock-clocks", Destination: &o.lockClocks, DefaultText: "as they are", Action: atLeast("lock-clocks", 1),
			Usage: "hold the GPU's clock at this many `MHZ` while measuring; needs permission, affects everybody on the GPU, and is restored at the end"},
		"seed": &cli.Uint64Flag{Name: "seed", Destination: &o.seed, Value: 1, Usage: "the `NUMBER` that fixes the order of points and the inputs"},
		"out":  &cli.StringFlag{Name: "out", Destination: &o.out, Value: "tuning", Usage: "the `FOLDER` for the study database and the reports"},
		"cache": &cli.StringFlag{Name: "cache", Destination: &o.cache, DefaultText: "pawl in the user's cache folder",
			Usage: "the `FOLDER` of compiled kernels"},
		"run-timeout":     &cli.DurationFlag{Name: "run-timeout", Destination: &o.runTimeout, Value: 10 * time.Second, Usage: "how long one run of a kernel may take"},
		"compile-timeout": &cli.DurationFlag{Name: "compile-timeout", Destination: &o.compileTimeout, Value: time.Minute, Usage: "how long one compilation may take"},
		"json":            &cli.BoolFlag{Name: "json", Destination: &o.json, DisableDefaultText: true, Usage: "print the result as JSON on standard output"},
	}
	var chosen []cli.Flag
	for _, name := range names {
		chosen = append(chosen, all[name])
	}
	return chosen
}

// machine returns this machine with the tools that the flags choose.
func (o *common) machine(env environment) *devices.Machine { return devices.Here(o.tools(env)) }

func (o *common) tools(env environment) devices.Options {
	return devices.Options{
		Compiler: o.compiler, Cache: o.cache, CompileTimeout: o.compileTimeout, Forget: o.lockClocks > 0, // locked, the device is another one
		Getenv: env.getenv, Notice: env.notice,
	}
}

// kernelName returns the only kernel that the arguments name, or the default one.
func kernelName(arguments []string) (string, error) {
	name, err := atMostOne(arguments, "kernel")
	return cmp.Or(name, tune.DefaultKernel), err
}

// target loads the kernel that the arguments name.
func (o *common) target(ctx context.Context, machine *devices.Machine, arguments []string) (devices.Target, error) {
	name, err := kernelName(arguments)
	if err != nil {
		return devices.Target{}, err
	}
	k, err := machine.Load(ctx, name, o.backend)
	if err != nil {
		return devices.Target{}, err
	}
	return devices.NewTarget(k, o.workload)
}

// oneOf checks the value of a flag.
func oneOf(name string, allowed ...string) func(*cli.Context, string) error {
	return func(_ *cli.Context, value string) error {
		if value != "" && !slices.Contains(allowed, value) {
			return &devices.ArgumentError{Err: fmt.Errorf("--%s %q: there are %s", name, value, strings.Join(allowed, ", ")), Name: value, Known: allowed}
		}
		return nil
	}
}

// atLeast checks the value of a flag.
func atLeast(name string, least int) func(*cli.Context, int) error {
	return func(_ *cli.Context, value int) error {
		if value < least {
			return usagef("--%s must be at least %d", name, least)
		}
		return nil
	}
}

// action is a command that takes arguments; the values of its flags are bound.
func action(run func(ctx context.Context, arguments []string) error) cli.ActionFunc {
	return func(c *cli.Context) error { return run(c.Context, c.Args().Slice()) }
}

// atMostOne returns the argument of a command that takes one, empty for none.
func atMostOne(arguments []string, what string) (string, error) {
	if len(arguments) > 1 {
		return "", usagef("one %s at a time, got %s", what, strings.Join(arguments, " "))
	}
	return strings.Join(arguments, ""), nil
}

// notice tells the user something that is no error.
func (env environment) notice(text string) { fmt.Fprintln(env.stderr, "pawl: "+text) }
