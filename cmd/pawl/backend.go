package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/devices"
	"pawl/objective/host"
	"pawl/objective/worker"
)

// autoBackend takes the best backend that the kernel has a source for and that
// this machine can run.
const autoBackend = "auto"

var (
	backendFlag  = &cli.StringFlag{Name: "backend", Value: autoBackend, Usage: "where kernels run: auto, cuda or host"}
	compilerFlag = &cli.StringFlag{Name: "compiler", Value: "nvcc", Usage: "the compiler for CUDA: nvcc, or nvrtc, which is faster to compile"}
	cachesFlag   = &cli.StringFlag{Name: "caches", Value: string(worker.Cold), Usage: "what timed launches find in a GPU's caches: cold, warm, or flush before every launch"}
	clockFlag    = &cli.IntFlag{Name: "lock-clocks", DefaultText: "as they are", Usage: "hold the GPU's clock at this many `MHZ` while measuring; needs permission, affects everybody on the GPU, and is restored at the end"}
)

func checkDeviceFlags(c *cli.Context) error {
	for _, choice := range []struct {
		flag    string
		allowed []string
	}{
		{"backend", devices.Backends},
		{"compiler", []string{"nvcc", "nvrtc"}},
		{"caches", []string{string(worker.Cold), string(worker.Warm), string(worker.Flushed)}},
	} {
		if value := c.String(choice.flag); value != "" && !slices.Contains(choice.allowed, value) {
			return usagef("--%s %q: there are %s", choice.flag, value, strings.Join(choice.allowed, ", "))
		}
	}
	if c.IsSet("lock-clocks") && c.Int("lock-clocks") <= 0 {
		return usagef("--lock-clocks must be positive")
	}
	return nil
}

// accelerator is what it takes to run CUDA kernels here.
type accelerator struct {
	gpus   cuda.GPUs
	tool   nvcc.Tool
	driver string // the driver's own version, empty if unknown
}

// findAccelerator looks for a GPU and a compiler. The error says what is
// missing and what to do.
func findAccelerator(ctx context.Context, c *cli.Context, env environment) (*accelerator, error) {
	gpus, err := cuda.FindGPUs()
	if err != nil {
		return nil, err
	}
	a := &accelerator{gpus: gpus}
	if c.String("compiler") == "nvrtc" {
		a.tool, err = nvcc.FindNVRTC(ctx, env.getenv)
	} else {
		a.tool, err = nvcc.Find(ctx, env.getenv)
	}
	if err != nil {
		return nil, err
	}
	if inventory, err := monitor.Devices(); err == nil {
		a.driver = inventory.Driver
	}
	return a, nil
}

// loadKernel reads the kernel for the backend that is asked for.
// The accelerator is nil for the host, and for a command that only reads where
// there is none.
func loadKernel(c *cli.Context, env environment, name, asked string) (*kernels.Kernel, *accelerator, error) {
	if asked == host.DeviceName {
		k, err := kernels.Load(name, kernels.Host)
		return k, nil, err
	}
	onGPU, err := kernels.Load(name, kernels.CUDA)
	var none *kernels.NoSourceError
	if errors.As(err, &none) && asked != cuda.DeviceName {
		k, err := kernels.Load(name, kernels.Host)
		return k, nil, err
	}
	if err != nil {
		return nil, nil, err
	}
	accelerator, missing := findAccelerator(c.Context, c, env)
	if missing == nil {
		return onGPU, accelerator, nil
	}
	k, err := kernels.Load(name, kernels.Host)
	onlyGPU := errors.As(err, &none)
	switch {
	case onlyGPU:
		return nil, nil, fmt.Errorf("kernel %s is for CUDA only: %w; pawl doctor says what this machine has", onGPU.Name, missing)
	case asked == cuda.DeviceName:
		return nil, nil, fmt.Errorf("%w; pawl doctor says what this machine has, --backend host runs on the processor", missing)
	}
	return k, nil, err
}

// openBackend connects a target with the device that it runs on.
func (t *target) openBackend(ctx context.Context, c *cli.Context, env environment, compiled *cache.Cache) (objective.Backend, error) {
	if t.accelerator != nil {
		return cuda.New(ctx, t.kernel, t.workload, cuda.Options{
			Cache: compiled, Tool: t.accelerator.tool, GPUs: t.accelerator.gpus, DriverVersion: t.accelerator.driver,
			CompileTimeout: c.Duration("compile-timeout"), Getenv: env.getenv,
			Notice: func(text string) { fmt.Fprintln(env.stderr, "pawl: "+text) },
		})
	}
	toolchain, err := host.FindToolchain(ctx, env.getenv)
	if err != nil {
		return nil, fmt.Errorf("%w; pawl doctor says what this machine has", err)
	}
	constants, err := t.kernel.Constants(t.workload.Dims)
	if err != nil {
		return nil, err
	}
	return host.New(ctx, t.kernel, t.space, host.Options{
		Cache: compiled, Toolchain: toolchain, Constants: constants, CompileTimeout: c.Duration("compile-timeout"),
	})
}

// lockClocks holds the clocks of the GPUs if the user asked for it. Where that
// is not allowed, a warning says so and the clocks stay as they are.
func (t *target) lockClocks(c *cli.Context, env environment) (restore func()) {
	restore = func() {}
	if !c.IsSet("lock-clocks") {
		return restore
	}
	if t.accelerator == nil {
		fmt.Fprintln(env.stderr, "pawl: --lock-clocks has no effect: the kernel runs on the processor")
		return restore
	}
	var locks []*monitor.Lock
	for _, gpu := range t.accelerator.gpus.Alike() {
		m, err := monitor.Open(gpu.UUID)
		if err == nil {
			var lock *monitor.Lock
			if lock, err = m.LockClocks(c.Int("lock-clocks")); err == nil {
				locks = append(locks, lock)
			}
		}
		if err != nil {
			fmt.Fprintf(env.stderr, "pawl: the clocks stay as they are: %v\n", err)
		}
	}
	restore = func() {
		for _, lock := range locks {
			if err := lock.Restore(); err != nil {
				fmt.Fprintf(env.stderr, "pawl: the clocks could not be restored: %v; nvidia-smi -rgc does it\n", err)
			}
		}
	}
	return restoredOnSignal(env, restore)
}

// restoredOnSignal gives the clocks back at the first request to stop, because
// after the second nobody may be there to do it. Restoring twice is harmless.
func restoredOnSignal(env environment, restore func()) func() {
	signals, release := env.signals()
	finished := make(chan struct{})
	go func() {
		select {
		case <-signals:
			restore()
		case <-finished:
		}
	}()
	return func() {
		close(finished)
		release()
		restore()
	}
}
