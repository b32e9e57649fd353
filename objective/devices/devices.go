// Package devices connects kernels with the devices of this machine. It is the one
// place that knows every backend: no other package chooses between them.
//
//  1. Load reads a kernel for the backend that was asked for. "auto" takes the GPU
//     where the kernel has a source for it and the machine has a GPU and a compiler,
//     and the processor otherwise; a program of its own where it has no source at all.
//  2. NewTarget chooses one of its workloads, with its space.
//  3. Open compiles what a backend needs and returns a Bench: the target with an
//     evaluator on its device.
//
// Probe says what of all that is here, and LockClocks holds the clocks of the GPUs.
package devices

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/command"
	"pawl/objective/cuda"
	"pawl/objective/cuda/monitor"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/host"
	"pawl/objective/worker"
)

// Auto asks for the best backend that a kernel has a source for and that this machine
// can run.
const Auto = "auto"

// Backends are what Load can be asked for, Compilers what CUDA kernels can be
// compiled with.
var (
	Backends  = []string{Auto, cuda.DeviceName, host.DeviceName, command.DeviceName}
	Compilers = []string{"nvcc", "nvrtc"}
)

// Serve does not return from a process that was started as a worker or as a
// compiler: a binary that opens devices executes itself again for both.
func Serve() {
	worker.Main(map[string]func() worker.Device{host.DeviceName: host.NewDevice, cuda.DeviceName: cuda.NewDevice})
	nvcc.Main()
}

// cacheLimit is how much the compile cache may hold between runs, in bytes.
const cacheLimit = 2 << 30

// Options say where tools are and how they are used.
type Options struct {
	// Compiler is the one for CUDA, of Compilers. Empty means nvcc.
	Compiler string
	// Architecture compiles for a GPU such as sm_90a that need not be here. Nothing can be
	// run then. Empty means the GPUs of this machine.
	Architecture string
	// Cache is the folder of compiled kernels. Empty means DefaultCache.
	Cache string
	// CompileTimeout is how long one compilation may take. Zero means a minute.
	CompileTimeout time.Duration
	// Forget measures anew what was measured earlier today.
	Forget bool
	// Absent lets Load return a kernel whose device is not here: its space can be
	// shown, and nothing else.
	Absent bool
	// Getenv looks up where tools are.
	Getenv func(string) string
	// Notice tells the user something that is no error.
	Notice func(string)
}

// Machine is this computer with its tools, which are looked for once. Its methods are
// safe for concurrent use.
type Machine struct {
	options     Options
	accelerator func(context.Context) (*accelerator, error)
	cache       func() (*cache.Cache, error)
}

// Here returns this machine. Nothing is looked for yet.
func Here(o Options) *Machine {
	m := &Machine{options: o}
	var once sync.Once
	var found *accelerator
	var missing error
	m.accelerator = func(ctx context.Context) (*accelerator, error) {
		once.Do(func() { found, missing = findAccelerator(ctx, o) })
		return found, missing
	}
	m.cache = sync.OnceValues(m.openCache)
	return m
}

// accelerator is what it takes to run CUDA kernels here.
type accelerator struct {
	gpus   cuda.GPUs
	tool   nvcc.Tool
	driver string // the driver's own version, empty if unknown
}

// findAccelerator looks for a GPU and a compiler. The error says what is missing and
// what to do.
func findAccelerator(ctx context.Context, o Options) (*accelerator, error) {
	var gpus cuda.GPUs
	var err error
	if o.Architecture != "" {
		if gpus, err = cuda.Imagine(o.Architecture); err != nil {
			err = &ArgumentError{Err: err}
		}
	} else {
		gpus, err = cuda.FindGPUs()
	}
	if err != nil {
		return nil, err
	}
	a := &accelerator{gpus: gpus}
	if o.Compiler == "nvrtc" {
		a.tool, err = nvcc.FindNVRTC(ctx, o.Getenv)
	} else {
		a.tool, err = nvcc.Find(ctx, o.Getenv)
	}
	if err != nil {
		return nil, err
	}
	if inventory, err := monitor.Devices(); err == nil {
		a.driver = inventory.Driver
	}
	return a, nil
}

// CUDA returns why this machine cannot run CUDA kernels, or nil.
func (m *Machine) CUDA(ctx context.Context) error {
	if _, err := m.accelerator(ctx); err != nil {
		return fmt.Errorf("%w; pawl doctor says what this machine has", err)
	}
	return nil
}

// AbsentError says that a kernel needs a device that this machine does not have.
type AbsentError struct{ Err error }

func (e *AbsentError) Error() string { return e.Err.Error() }
func (e *AbsentError) Unwrap() error { return e.Err }

// ArgumentError says that something was asked for by a name or a text that means
// nothing.
type ArgumentError struct {
	Err error
	// Name is what was asked for, Known what might have been meant.
	Name  string
	Known []string
}

func (e *ArgumentError) Error() string { return e.Err.Error() }
func (e *ArgumentError) Unwrap() error { return e.Err }

// Load reads a kernel, an embedded one or a folder, for the backend that is asked
// for. A name that is neither is an *ArgumentError.
func (m *Machine) Load(ctx context.Context, name, asked string) (*kernels.Kernel, error) {
	k, err := m.load(ctx, name, asked)
	return k, explainUnknown(err, name)
}

// LoadFor reads a kernel for a backend, wherever its device is. A name that is none is an
// *ArgumentError.
func LoadFor(name, backend string) (*kernels.Kernel, error) {
	k, err := kernels.Load(name, backend)
	return k, explainUnknown(err, name)
}

// explainUnknown makes an *ArgumentError of the error about a name that is no kernel's.
func explainUnknown(err error, name string) error {
	if missing, ok := errors.AsType[*kernels.NotFoundError](err); ok {
		return &ArgumentError{err, name, missing.Known}
	}
	return err
}

func (m *Machine) load(ctx context.Context, name, asked string) (*kernels.Kernel, error) {
	if m.options.Architecture != "" {
		if asked == host.DeviceName {
			return nil, &ArgumentError{Err: errors.New("an architecture is for CUDA, and the backend is to be the processor")}
		}
		asked = cuda.DeviceName
	}
	if asked == host.DeviceName || asked == command.DeviceName {
		return kernels.Load(name, asked)
	}
	onGPU, err := kernels.Load(name, kernels.CUDA)
	var none *kernels.NoSourceError
	if errors.As(err, &none) && asked != cuda.DeviceName {
		k, err := kernels.Load(name, kernels.Host)
		if errors.As(err, &none) {
			if k, failed := kernels.Load(name, kernels.Command); !errors.As(failed, &none) {
				return k, failed
			}
		}
		return k, err
	}
	if err != nil {
		return nil, err
	}
	_, missing := m.accelerator(ctx)
	if missing == nil {
		return onGPU, nil
	}
	k, err := kernels.Load(name, kernels.Host)
	onlyGPU := errors.As(err, &none)
	switch {
	case m.options.Absent && (onlyGPU || asked == cuda.DeviceName):
		return onGPU, nil
	case errors.As(missing, new(*ArgumentError)):
		return nil, missing
	case onlyGPU:
		return nil,
			&AbsentError{fmt.Errorf("kernel %s is for CUDA only: %w; pawl doctor says what this machine has, pawl build "+
				"--arch sm_90 compiles without a GPU", onGPU.Name, missing)}
	case asked == cuda.DeviceName:
		return nil,
			&AbsentError{fmt.Errorf("%w; pawl doctor says what this machine has, --backend host runs on the processor", missing)}
	}
	return k, err
}

// Limits returns the machine's limits on a target's points, without opening anything;
// nil of a device that is not here.
func (m *Machine) Limits(ctx context.Context, t Target) objective.Limits {
	if t.Kernel.Backend != kernels.CUDA {
		return host.NewLimits(t.Kernel, t.Space, 0)
	}
	a, err := m.accelerator(ctx)
	if err != nil {
		return nil
	}
	return cuda.NewLimits(t.Kernel, t.Workload, a.gpus.Devices[0])
}

// backend connects a target with its device.
func (m *Machine) backend(ctx context.Context, t Target, compiled *cache.Cache) (objective.Backend, error) {
	if t.Kernel.Backend == kernels.CUDA {
		a, err := m.accelerator(ctx)
		if err != nil {
			return nil, err
		}
		return cuda.New(ctx, t.Kernel, t.Workload, cuda.Options{
			Cache: compiled, Tool: a.tool, GPUs: a.gpus, DriverVersion: a.driver,
			CompileTimeout: m.options.CompileTimeout, Getenv: m.options.Getenv, Notice: m.options.Notice,
		})
	}
	if t.Kernel.Backend == kernels.Command {
		return command.New(t.Kernel, t.Workload, t.Space, command.Options{
			Folder: filepath.Join(compiled.Dir(), "commands"), BuildTimeout: m.options.CompileTimeout,
		})
	}
	forC, forCPlusPlus, err := host.FindToolchains(ctx, t.Kernel, m.options.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%w; pawl doctor says what this machine has", err)
	}
	constants, err := t.Kernel.Constants(t.Workload.Dims)
	if err != nil {
		return nil, err
	}
	return host.New(ctx, t.Kernel, t.Space, host.Options{
		Cache: compiled, Toolchain: forC, CPlusPlus: forCPlusPlus, Constants: constants,
		CompileTimeout: m.options.CompileTimeout,
	})
}

// CacheFolder returns the folder of compiled kernels.
func (o Options) CacheFolder() (string, error) {
	if o.Cache != "" {
		return o.Cache, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the compile cache (name one with --cache): %w", err)
	}
	return filepath.Join(base, "pawl"), nil
}

func (m *Machine) openCache() (*cache.Cache, error) {
	dir, err := m.options.CacheFolder()
	if err != nil {
		return nil, err
	}
	compiled, err := cache.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := compiled.Prune(cacheLimit); err != nil {
		m.options.Notice(err.Error()) // a full cache is no reason to stop
	}
	return compiled, nil
}
