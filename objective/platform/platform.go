// Package platform is what a backend says about itself: the contract between the packages
// that know one kind of device (host, cuda, command) and package devices, which lists them.
//
// A backend is one Platform, a value that its package exports. What the manifest must know
// of it stands in kernels.Backends, because that is read where no device is. The rest goes
// in these steps:
//
//  1. Here returns the Installation: the platform on this machine. Nothing is looked for
//     before it is needed, and everything once.
//  2. Missing says what this machine lacks for a kernel, Limits which points cannot work,
//     Open makes the backend that compiles and runs them.
//  3. What not every device can do is an interface of its own, which an Installation may
//     have: Lender to work for other machines, ClockLocker to hold clocks. What an opened
//     backend may do beside is in package objective: Sanitizing, Profiling, Program.
//
// The opinion: nobody but the list in devices names a platform. Who needs to know something
// about one asks its value.
package platform

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/worker"
)

// Platform is a backend as a value.
type Platform struct {
	// Name is that of its kernels.Backend.
	Name string
	// Here returns the platform on this machine, for some tools.
	Here func(Tools) Installation
	// Worker makes the device that runs kernels in a worker process; nil where none is needed.
	Worker func() worker.Device
	// Compilers are what Tools.Compiler may name, the default first; nil where there is no choice.
	Compilers []string
}

// Installation is a platform on this machine. Its methods are safe for concurrent use.
type Installation interface {
	// Missing returns what this machine lacks to compile and run a kernel, and what to do about
	// it, or nil; without a kernel it is asked about any. An *ArgumentError is about the tools
	// that were asked for.
	Missing(context.Context, *kernels.Kernel) error
	// Limits returns the machine's limits on a target's points, without opening anything; nil
	// of a device that is not here.
	Limits(context.Context, Target) objective.Limits
	// Open connects a target with its device. Compiled kernels are kept in the cache.
	Open(context.Context, Target, *cache.Cache) (objective.Backend, error)
	// Probe looks for everything that can be used here. Usable says that kernels can be tuned.
	Probe(context.Context) (findings []Finding, usable bool)
}

// Lender is an Installation that can work for other machines.
type Lender interface {
	// OpenBuilt is Open of a backend that compiles nothing: no compiler is needed here.
	OpenBuilt(context.Context, Target, *cache.Cache) (objective.Backend, error)
	// Offers says what this machine can do: the device, nil where none is here, and compilers.
	// Architectures are further ones to compile for, such as sm_90. What is missing is left out.
	Offers(ctx context.Context, hostname string, architectures []string) (*Measures, []Compiles)
}

// ClockLocker is an Installation whose devices can be held at a clock.
type ClockLocker interface {
	// LockClocks holds the clocks of the devices that kernels run on, until restore is called;
	// twice is harmless. Where it cannot be done, a notice says so.
	LockClocks(ctx context.Context, mhz int) (restore func())
}

// Tools say where tools are and how they are used.
type Tools struct {
	// Compiler is one of the Compilers of a platform. Empty means the first.
	Compiler string
	// Architecture compiles for a GPU such as sm_90a that need not be here. Nothing can be
	// run then. Empty means the GPUs of this machine.
	Architecture string
	// Cache is the folder of compiled kernels. Empty means that of the user's caches.
	Cache string
	// CompileTimeout is how long one compilation may take. Zero means a minute.
	CompileTimeout time.Duration
	// Absent lets a kernel be read whose device is not here: its space can be
	// shown, and nothing else.
	Absent bool
	// Getenv looks up where tools are.
	Getenv func(string) string
	// Notice tells the user something that is no error.
	Notice func(string)
}

// CacheFolder returns the folder of compiled kernels.
func (t Tools) CacheFolder() (string, error) {
	if t.Cache != "" {
		return t.Cache, nil
	}
	base, err := os.UserCacheDir()
	if err != nil {
		return "", fmt.Errorf("no folder for the compile cache (name one with --cache): %w", err)
	}
	return filepath.Join(base, "pawl"), nil
}
