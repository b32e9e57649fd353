// Package devices connects kernels with the devices of this machine. It is the one
// place that knows every backend: no other package chooses between them.
//
//  1. Load reads a kernel for the backend that was asked for. "auto" takes the first of
//     the platforms that the kernel has a source for and that this machine can run: the
//     GPU, the processor, a program of its own.
//  2. NewTarget chooses one of its workloads, with its space.
//  3. Open compiles what a backend needs and returns a Bench: the target with an
//     evaluator on its device.
//
// Probe says what of all that is here, and LockClocks holds the clocks of the GPUs.
package devices

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"pawl/kernels"
	"pawl/kernels/scaffold"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/command"
	"pawl/objective/cuda"
	"pawl/objective/host"
	"pawl/objective/platform"
	"pawl/objective/worker"
)

// platforms are the backends, in the order in which "auto" tries them. A backend is added by a
// line here, and its manifest's keys in kernels.Backends.
var platforms = []platform.Platform{
	cuda.Platform,
	host.Platform,
	command.Platform,
}

// Auto asks for the best backend that a kernel has a source for and that this machine
// can run.
const Auto = "auto"

// Backends are what Load can be asked for, Compilers what kernels for a GPU can be
// compiled with.
var Backends, Compilers = func() (backends, compilers []string) {
	backends = []string{Auto}
	for _, p := range platforms {
		backends, compilers = append(backends, p.Name), append(compilers, p.Compilers...)
	}
	return slices.Clip(backends), slices.Clip(compilers)
}()

// Serve does not return from a process that was started as a worker: a binary that opens
// devices executes itself again for that.
func Serve() {
	workers := map[string]func() worker.Device{}
	for _, p := range platforms {
		if p.Worker != nil {
			workers[p.Name] = p.Worker
		}
	}
	worker.Main(workers)
}

// The types of package platform that a user of this package meets.
type (
	Tools         = platform.Tools
	Target        = platform.Target
	ArgumentError = platform.ArgumentError
	Finding       = platform.Finding
	Measures      = platform.Measures
	Compiles      = platform.Compiles
)

// Argumentf returns an [ArgumentError].
func Argumentf(format string, arguments ...any) error {
	return &ArgumentError{Err: fmt.Errorf(format, arguments...)}
}

// NothingError says that there is nothing to do what was asked for with, which is no failure.
type NothingError struct{ error }

// Nothingf returns a [NothingError].
func Nothingf(format string, arguments ...any) error {
	return &NothingError{fmt.Errorf(format, arguments...)}
}

// NewTarget chooses a workload of a kernel: see [platform.NewTarget].
func NewTarget(k *kernels.Kernel, workload string) (Target, error) {
	return platform.NewTarget(k, workload)
}

// Machine is this computer with its tools, which are looked for once. Its methods are
// safe for concurrent use.
type Machine struct {
	tools     Tools
	installed map[string]platform.Installation // by the platform's name
	cache     func() (*cache.Cache, error)
	python    *check.Python // computes references; there when the cache was opened, which keeps what it computes
}

// Here returns this machine. Nothing is looked for yet.
func Here(tools Tools) *Machine {
	m := &Machine{tools: tools, installed: map[string]platform.Installation{}}
	for _, p := range platforms {
		m.installed[p.Name] = p.Here(tools)
	}
	m.cache = sync.OnceValues(m.openCache)
	return m
}

// Limits returns the machine's limits on a target's points, without opening anything;
// nil of a device that is not here.
func (m *Machine) Limits(ctx context.Context, t Target) objective.Limits {
	return m.installed[t.Kernel.Backend].Limits(ctx, t)
}

// Offers says what this machine can do for others: its GPUs, or its processor where it has
// none, and its compilers. Architectures are further ones to compile for, such as sm_90.
// What is missing is left out.
func (m *Machine) Offers(ctx context.Context, hostname string,
	architectures []string) (measures *Measures, compiles []Compiles) {
	for _, p := range platforms {
		if lender, ok := m.installed[p.Name].(platform.Lender); ok {
			device, compilers := lender.Offers(ctx, hostname, architectures)
			compiles = append(compiles, compilers...)
			if measures == nil {
				measures = device
			}
		}
	}
	return measures, compiles
}

func (m *Machine) openCache() (*cache.Cache, error) {
	dir, err := m.tools.CacheFolder()
	if err != nil {
		return nil, err
	}
	compiled, err := cache.Open(dir)
	if err != nil {
		return nil, err
	}
	if err := compiled.Prune(cache.Limit); err != nil {
		m.tools.Notice(err.Error()) // a full cache is no reason to stop
	}
	m.python = check.NewPython(m.tools.Getenv, compiled)
	return compiled, nil
}

// DescribeTiles says which kernels a source on tiles holds: only its own compiler can read it.
func DescribeTiles(ctx context.Context, getenv func(string) string,
	file, entry, program string) (scaffold.TileSource, error) {
	return cuda.DescribeTiles(ctx, getenv, file, entry, program)
}
