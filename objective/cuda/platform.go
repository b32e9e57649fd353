package cuda

import (
	"context"
	"fmt"
	"sync"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/platform"
)

// Platform is NVIDIA's GPUs as a backend.
var Platform = platform.Platform{
	Name:      DeviceName,
	Here:      func(t platform.Tools) platform.Installation { return newInstallation(t) },
	Worker:    NewDevice,
	Compilers: collect.Each(compilers, func(c compiler) string { return c.name }),
}

// installation is the GPUs of this machine, or one that is only compiled for, with the
// compilers for them.
type installation struct {
	tools platform.Tools
	find  func() (GPUs, error)

	mu    sync.Mutex
	found map[string]foundTool // by the compiler's name
}

type foundTool struct {
	nvcc.Tool
	err error
}

var (
	_ platform.Installation = (*installation)(nil)
	_ platform.Lender       = (*installation)(nil)
	_ platform.ClockLocker  = (*installation)(nil)
)

func newInstallation(t platform.Tools) *installation {
	return &installation{tools: t, found: map[string]foundTool{}, find: sync.OnceValues(func() (GPUs, error) {
		if t.Architecture == "" {
			return FindGPUs()
		}
		gpus, err := Imagine(t.Architecture)
		if err != nil {
			err = &platform.ArgumentError{Err: err}
		}
		return gpus, err
	})}
}

// needed returns what it takes to compile and run a kernel. The error says what is missing
// and what to do.
func (i *installation) needed(ctx context.Context, k *kernels.Kernel) (gpus GPUs, tool nvcc.Tool, err error) {
	if gpus, err = i.find(); err == nil {
		tool, err = i.tool(ctx, compilerFor(k, i.tools.Compiler))
	}
	return gpus, tool, err
}

// tool looks for a compiler until that was not interrupted.
func (i *installation) tool(ctx context.Context, c compiler) (nvcc.Tool, error) {
	i.mu.Lock()
	defer i.mu.Unlock()
	found, known := i.found[c.name]
	if !known {
		found.Tool, found.err = c.find(ctx, i.tools.Getenv)
		if ctx.Err() == nil { // else nothing was learned
			i.found[c.name] = found
		}
	}
	return found.Tool, found.err
}

func (i *installation) Missing(ctx context.Context, k *kernels.Kernel) error {
	_, _, err := i.needed(ctx, k)
	return err
}

func (i *installation) Limits(ctx context.Context, t platform.Target) objective.Limits {
	gpus, _, err := i.needed(ctx, t.Kernel)
	if err != nil {
		return nil
	}
	return NewLimits(t.Kernel, t.Workload, gpus.Devices[0])
}

func (i *installation) Open(ctx context.Context, t platform.Target, compiled *cache.Cache) (objective.Backend, error) {
	gpus, tool, err := i.needed(ctx, t.Kernel)
	if err != nil {
		return nil, err
	}
	return i.open(ctx, t, Options{Cache: compiled, Tool: tool, GPUs: gpus, CompileTimeout: i.tools.CompileTimeout})
}

// OpenBuilt asks for the GPUs that are here, whatever is compiled for.
func (i *installation) OpenBuilt(ctx context.Context, t platform.Target,
	compiled *cache.Cache) (objective.Backend, error) {
	gpus, err := FindGPUs()
	if err != nil {
		return nil, err
	}
	return i.open(ctx, t, Options{Cache: compiled, GPUs: gpus})
}

func (i *installation) open(ctx context.Context, t platform.Target, o Options) (objective.Backend, error) {
	if inventory, err := monitor.Devices(); err == nil {
		o.DriverVersion = inventory.Driver
	}
	o.Getenv, o.Notice = i.tools.Getenv, i.tools.Notice
	return New(ctx, t.Kernel, t.Workload, o)
}

// Offers are the GPUs like the first, and every compiler for their architecture and the others.
func (i *installation) Offers(ctx context.Context, hostname string,
	architectures []string) (measures *platform.Measures, compiles []platform.Compiles) {
	if gpus, err := FindGPUs(); err == nil {
		alike := gpus.Alike()
		own := nvcc.Architecture(alike[0].Major, alike[0].Minor, "")
		measures = &platform.Measures{
			Backend: DeviceName, Device: alike[0].Name, Driver: "CUDA " + gpus.Driver, Architecture: own,
			Width: len(alike), Identity: hostname + " " + alike[0].UUID,
		}
		if inventory, err := monitor.Devices(); err == nil {
			measures.Driver = inventory.Driver
		}
		architectures = append([]string{own}, architectures...)
	}
	for _, architecture := range architectures {
		for _, c := range compilers {
			if tool, err := i.tool(ctx, c); err == nil {
				compiles = append(compiles, platform.Compiles{
					Backend: DeviceName, Architecture: architecture, Name: tool.Name(), Version: tool.Version(),
				})
			}
		}
	}
	return measures, compiles
}

func (i *installation) LockClocks(ctx context.Context, mhz int) (restore func()) {
	gpus, err := i.find()
	if err != nil {
		i.tools.Notice(fmt.Sprintf("the clocks stay as they are: %v", err))
		return func() {}
	}
	var locks []*monitor.Lock
	for _, gpu := range gpus.Alike() {
		watched, err := monitor.Open(gpu.UUID)
		if err == nil {
			var lock *monitor.Lock
			if lock, err = watched.LockClocks(mhz); err == nil {
				locks = append(locks, lock)
			}
		}
		if err != nil {
			i.tools.Notice(fmt.Sprintf("the clocks stay as they are: %v", err))
		}
	}
	return func() {
		for _, lock := range locks {
			if err := lock.Restore(); err != nil {
				i.tools.Notice(fmt.Sprintf("the clocks could not be restored: %v; nvidia-smi -rgc does it", err))
			}
		}
	}
}
