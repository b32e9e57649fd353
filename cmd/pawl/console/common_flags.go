package console

import (
	"cmp"
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"time"

	"github.com/urfave/cli/v2"

	"pawl/internal/collect"
	"pawl/internal/page"
	"pawl/kernels"
	"pawl/objective/devices"
	"pawl/objective/worker"
	"pawl/studies"
	"pawl/studies/tune"
)

// Common is what every command begins with: the world outside, and the values of the flags that several share.
type Common struct {
	Environment
	studies.Definition
	studies.Place
	At, Cache string
	// Architecture is that of a GPU that need not be here; empty for this machine's own.
	Architecture string
	JSON         bool
	OrderSeed    uint64
}

// In returns what a command begins with.
func In(env Environment) Common { return Common{Environment: env} }

// Order is the seed of the order of measurements: the one that was given, or one that is drawn once.
func (o *Common) Order() uint64 {
	o.OrderSeed = cmp.Or(o.OrderSeed, 1+rand.Uint64N(999_999_999)) // short enough to be typed again
	return o.OrderSeed
}

// Flags returns those of the shared flags that a command has, bound to the values.
func (o *Common) Flags(names ...string) []cli.Flag {
	all := map[string]cli.Flag{
		"workload": TextOr("workload, w", &o.Workload, "the manifest's first", "the `NAME` of a workload in the manifest"),
		"workloads": TextOr("workload, w", &o.Workload, "the manifest's first",
			"the `NAMES` of workloads, separated by commas, or all"),
		"at": Text("at", &o.At, "", "a `POINT` such as BLOCK_M=64,BLOCK_N=32; parameters left out have their defaults"),
		"backend": Choice("backend", &o.Backend, "", "where kernels run: auto, cuda, host or command",
			devices.Backends...),
		"compiler": Choice("compiler", &o.Compiler, "",
			"the compiler for a GPU: nvcc, or triton to choose machines of a farm that have it", devices.Compilers...),
		"caches": Choice("caches", &o.Caches, "cold on a GPU, warm on a processor",
			"what timed launches find in the caches: cold, warm, or flush before every launch",
			string(worker.Cold), string(worker.Warm), string(worker.Flushed)),
		"lock-clocks": NumberOr("lock-clocks", &o.LockClocks, 1, "as they are",
			"hold the GPU's clock at this many `MHZ` while measuring; needs permission, affects all users of the GPU, "+
				"and is restored at the end"),
		"seed": Seed("seed", &o.Seed, 1, "", "the `NUMBER` that fixes the order of points and the inputs"),
		"order-seed": Seed("order-seed", &o.OrderSeed, 0, "drawn anew",
			"the `NUMBER` that draws the order of measurements, as recorded with a result"),
		"out": Text("out", &o.Out, studies.DefaultOut, "the `FOLDER` for the study database and the reports"),
		"db": TextOr("db", &o.DB, DatabaseVariable+", or "+kernels.DatabaseName+" in the folder of --out",
			"the study database: a `FILE`, or a URL such as postgres://USER@HOST/DATABASE"),
		"cache":           TextOr("cache", &o.Cache, "pawl in the user's cache folder", "the `FOLDER` of compiled kernels"),
		"run-timeout":     Time("run-timeout", &o.RunTimeout, 10*time.Second, "how long one run of a kernel may take"),
		"compile-timeout": Time("compile-timeout", &o.CompileTimeout, time.Minute, "how long one compilation may take"),
		"arch": TextOr("arch", &o.Architecture, "that of this machine's GPU",
			"compile for CUDA devices of this `ARCHITECTURE`, such as sm_90"),
		"json": Switch("json", &o.JSON, "print the result as JSON on standard output"),
	}
	return collect.Each(names, func(name string) cli.Flag { return all[name] })
}

// StudyKernelFlag is the flag for the folder of a study's kernel.
func StudyKernelFlag(to *string) cli.Flag {
	return TextOr("kernel, k", to, "the one that the study names", "the `FOLDER` of the kernel")
}

// Machine returns this machine with the tools that the flags choose.
func (o *Common) Machine() *devices.Machine { return devices.Here(o.Tools()) }

func (o *Common) Tools() devices.Tools {
	return devices.Tools{
		Compiler: o.Compiler, Architecture: o.Architecture, Cache: o.Cache, CompileTimeout: o.CompileTimeout,
		Getenv: o.Getenv, Notice: o.Notice,
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
func (o *Common) Builder() (*devices.Builder, error) {
	tools := o.Tools()
	folder, err := tools.CacheFolder()
	if err != nil {
		return nil, err
	}
	return &devices.Builder{
		Machine: devices.Here(tools), Cache: folder, Version: Version(),
		Options: o.Measuring(),
	}, nil
}

// WithBuilder is a command that measures: it has a builder, and a context that the user may end. Whatever ended by that
// has no other error.
func (o *Common) WithBuilder(
	run func(ctx context.Context, b *devices.Builder, arguments []string) error) cli.ActionFunc {
	return Action(func(ctx context.Context, arguments []string) error {
		b, err := o.Builder()
		if err != nil {
			return err
		}
		defer b.Close()
		ctx, done := o.Stoppable(ctx)
		defer done()
		if err = run(ctx, b, arguments); err == nil || ctx.Err() == nil {
			return err
		}
		fmt.Fprintln(o.Stderr, "stopped")
		return Answer(ExitInterrupted)
	})
}

// Print prints a result: for programs where that is asked for, or else in words.
func (o *Common) Print(encode func(w io.Writer) error, words func(w io.Writer)) error {
	if o.JSON {
		return encode(o.Stdout)
	}
	words(o.Stdout)
	return nil
}

// Show prints a result that programs know by the name and version of its format.
func (o *Common) Show(format string, version int, result any, words func(w io.Writer)) error {
	return o.Print(func(w io.Writer) error { return page.JSON(w, format, version, result) }, words)
}
