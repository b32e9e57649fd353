package host

import (
	"cmp"
	"context"
	"fmt"
	"runtime"

	"pawl/internal/process"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/platform"
)

// Platform is the processor as a backend.
var Platform = platform.Platform{
	Name:   DeviceName,
	Here:   func(t platform.Tools) platform.Installation { return installation{t} },
	Worker: NewDevice,
}

// installation is the processor of this machine with its compilers.
type installation struct{ tools platform.Tools }

var (
	_ platform.Installation = installation{}
	_ platform.Lender       = installation{}
)

// Missing returns nothing: which compilers a kernel needs is known when it is opened.
func (i installation) Missing(context.Context, *kernels.Kernel) error { return nil }

func (i installation) Limits(_ context.Context, t platform.Target) objective.Limits {
	return NewLimits(t.Kernel, t.Space, 0)
}

func (i installation) Open(ctx context.Context, t platform.Target, compiled *cache.Cache) (objective.Backend, error) {
	forC, forCPlusPlus, err := FindToolchains(ctx, t.Kernel, i.tools.Getenv)
	if err != nil {
		return nil, fmt.Errorf("%w; pawl doctor says what this machine has", err)
	}
	constants, err := t.Kernel.Constants(t.Workload.Dims)
	if err != nil {
		return nil, err
	}
	return New(ctx, t.Kernel, t.Space, Options{
		Cache: compiled, Toolchain: forC, CPlusPlus: forCPlusPlus, Constants: constants,
		CompileTimeout: i.tools.CompileTimeout,
	})
}

func (i installation) OpenBuilt(ctx context.Context, t platform.Target,
	compiled *cache.Cache) (objective.Backend, error) {
	return New(ctx, t.Kernel, t.Space, Options{Cache: compiled})
}

// Offers are the processor and its compilers, which compile for no other architecture.
func (i installation) Offers(ctx context.Context, hostname string,
	_ []string) (*platform.Measures, []platform.Compiles) {
	measures := &platform.Measures{
		Backend: DeviceName, Device: Processor(), Architecture: Architecture(), Width: 1, Identity: hostname,
	}
	toolchain, err := FindToolchain(ctx, i.tools.Getenv)
	if err != nil {
		return measures, nil
	}
	version := toolchain.Version
	if plusPlus, err := FindCPlusPlus(ctx, i.tools.Getenv); err == nil {
		version += ", " + plusPlus.Version
	}
	version = fmt.Sprintf("%s, %s/%s", version, runtime.GOOS, runtime.GOARCH)
	return measures, []platform.Compiles{{Backend: DeviceName, Architecture: Architecture(), Version: version}}
}

func (i installation) Probe(ctx context.Context) (findings []platform.Finding, usable bool) {
	find := func(name string, search func(context.Context, func(string) string) (*Toolchain, error)) platform.Finding {
		toolchain, err := search(ctx, i.tools.Getenv)
		return platform.NewFinding(name, cmp.Or(toolchain, &Toolchain{}).Version, err)
	}
	processor := fmt.Sprintf("%s, %d cores, %s/%s", Processor(), runtime.NumCPU(), runtime.GOOS, runtime.GOARCH)
	forC := find("C compiler", FindToolchain)
	forC.Needed = true
	return []platform.Finding{
		platform.NewFinding("processor", processor, nil), forC, find("C++ compiler", FindCPlusPlus), confinement(),
	}, forC.Found != ""
}

// confinement says what keeps a kernel from harming others, and from a part in its own measurement.
func confinement() platform.Finding {
	err := process.Confines()
	if err != nil {
		err = fmt.Errorf("%w: kernels that run on the processor may open files, signal and change other processes, and do "+
			"their work while nobody times them; tune only what you trust", err)
	} else if err = process.Restricts(); err != nil {
		err = fmt.Errorf("%w: kernels may read any file while they are loaded, and compilers and checks may change any; "+
			"tune only what you trust", err)
	}
	return platform.NewFinding("confined kernels", "system calls and files that kernels do not need are refused", err)
}
