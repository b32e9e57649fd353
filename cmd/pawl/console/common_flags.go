package console

import (
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies"
	"pawl/studies/tune"
)

// Common are the values of the flags that several commands share.
type Common struct {
	studies.Definition
	At, Out, DB, Cache string
	JSON               bool
	OrderSeed          uint64
}

// Order is the seed of the order of measurements: the one that was given, or one that is drawn once.
func (o *Common) Order() uint64 {
	o.OrderSeed = cmp.Or(o.OrderSeed, 1+rand.Uint64N(999_999_999)) // short enough to be typed again
	return o.OrderSeed
}

// Flags returns those of the shared flags that a command has, bound to the values.
func (o *Common) Flags(names ...string) []cli.Flag {
	all := map[string]cli.Flag{
		"workload": &cli.StringFlag{
			Name:        "workload",
			Destination: &o.Workload,
			Aliases:     []string{"w"},
			DefaultText: "the manifest's first",
			Usage:       "the `NAME` of a workload in the manifest",
		},
		"at": Text("at", &o.At, "", "a `POINT` such as BLOCK_M=64,BLOCK_N=32; what it leaves out has its default"),
		"backend": &cli.StringFlag{
			Name:        "backend",
			Destination: &o.Backend,
			Value:       devices.Auto,
			Action:      OneOf("backend", devices.Backends...),
			Usage:       "where kernels run: auto, cuda, host or command",
		},
		"compiler": &cli.StringFlag{
			Name:        "compiler",
			Destination: &o.Compiler,
			Value:       devices.Compilers[0],
			Action:      OneOf("compiler", devices.Compilers...),
			Usage:       "the compiler for a GPU: nvcc, or triton to choose machines of a farm that have it",
		},
		"caches": &cli.StringFlag{Name: "caches", Destination: &o.Caches, DefaultText: "cold on a GPU, warm on a processor",
			Action: OneOf("caches", string(worker.Cold), string(worker.Warm), string(worker.Flushed)),
			Usage:  "what timed launches find in the caches: cold, warm, or flush before every launch"},
		"lock-clocks": NumberOr("lock-clocks", &o.LockClocks, 1, "as they are",
			"hold the GPU's clock at this many `MHZ` while measuring; needs permission, affects everybody on the GPU, "+
				"and is restored at the end"),
		"seed": &cli.Uint64Flag{
			Name:        "seed",
			Destination: &o.Seed,
			Value:       1,
			Usage:       "the `NUMBER` that fixes the order of points and the inputs",
		},
		"order-seed": &cli.Uint64Flag{
			Name:        "order-seed",
			Destination: &o.OrderSeed,
			DefaultText: "drawn anew",
			Usage:       "the `NUMBER` that draws the order of measurements, as a result has recorded it",
		},
		"out": Text("out", &o.Out, "tuning", "the `FOLDER` for the study database and the reports"),
		"db": TextOr("db", &o.DB, DatabaseVariable+", or "+kernels.DatabaseName+" in the folder of --out",
			"the study database: a `FILE`, or a URL such as postgres://USER@HOST/DATABASE"),
		"cache":           TextOr("cache", &o.Cache, "pawl in the user's cache folder", "the `FOLDER` of compiled kernels"),
		"run-timeout":     Time("run-timeout", &o.RunTimeout, 10*time.Second, "how long one run of a kernel may take"),
		"compile-timeout": Time("compile-timeout", &o.CompileTimeout, time.Minute, "how long one compilation may take"),
		"json":            Switch("json", &o.JSON, "print the result as JSON on standard output"),
	}
	var chosen []cli.Flag
	for _, name := range names {
		chosen = append(chosen, all[name])
	}
	return chosen
}

// Machine returns this machine with the tools that the flags choose.
func (o *Common) Machine(env Environment) *devices.Machine { return devices.Here(o.Tools(env)) }

func (o *Common) Tools(env Environment) devices.Options {
	return devices.Options{
		Compiler: o.Compiler, Cache: o.Cache, CompileTimeout: o.CompileTimeout,
		Getenv: env.Getenv, Notice: env.Notice,
	}
}

// KernelName returns the only kernel that the arguments name, or the default one.
func KernelName(arguments []string) (string, error) {
	name, err := AtMostOne(arguments, "kernel")
	return cmp.Or(name, tune.DefaultKernel), err
}

// Target loads the kernel that the arguments name.
func (o *Common) Target(ctx context.Context, machine *devices.Machine, arguments []string) (devices.Target, error) {
	name, err := KernelName(arguments)
	if err != nil {
		return devices.Target{}, err
	}
	k, err := machine.Load(ctx, name, o.Backend)
	if err != nil {
		return devices.Target{}, err
	}
	return devices.NewTarget(k, o.Workload)
}

// OneOf checks the value of a flag.
func OneOf(name string, allowed ...string) func(*cli.Context, string) error {
	return func(_ *cli.Context, value string) error {
		if value != "" && !slices.Contains(allowed, value) {
			return &devices.ArgumentError{
				Err:   fmt.Errorf("--%s %q: there are %s", name, value, strings.Join(allowed, ", ")),
				Name:  value,
				Known: allowed,
			}
		}
		return nil
	}
}

// AtLeast checks the value of a flag.
func AtLeast(name string, least int) func(*cli.Context, int) error {
	return func(_ *cli.Context, value int) error {
		if value < least {
			return Usagef("--%s must be at least %d", name, least)
		}
		return nil
	}
}

// positive checks the value of a flag.
func positive(name string) func(*cli.Context, time.Duration) error {
	return func(_ *cli.Context, value time.Duration) error {
		if value <= 0 {
			return Usagef("--%s %v: a positive time such as 30s", name, value)
		}
		return nil
	}
}

// Action is a command that takes arguments; the values of its flags are bound.
func Action(run func(ctx context.Context, arguments []string) error) cli.ActionFunc {
	return func(c *cli.Context) error { return run(c.Context, c.Args().Slice()) }
}

// Alone is a command that takes no arguments.
func Alone(run func(ctx context.Context) error) cli.ActionFunc {
	return func(c *cli.Context) error {
		if c.NArg() > 0 {
			return Usagef("%s takes no arguments, got %q", c.Command.Name, c.Args().Slice())
		}
		return run(c.Context)
	}
}

// AtMostOne returns the argument of a command that takes one, empty for none.
func AtMostOne(arguments []string, what string) (string, error) {
	if len(arguments) > 1 {
		return "", Usagef("one %s at a time, got %s", what, strings.Join(arguments, " "))
	}
	return strings.Join(arguments, ""), nil
}

// Builder makes configurations as the flags say.
func (o *Common) Builder(env Environment) (*devices.Builder, error) {
	tools := o.Tools(env)
	folder, err := tools.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &devices.Builder{
		Machine: devices.Here(tools), Cache: folder, Version: Version(),
		Options: o.Measuring(),
	}, nil
}
