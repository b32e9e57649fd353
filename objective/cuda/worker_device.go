package cuda

import (
	"fmt"
	"math/rand/v2"
	"os"
	"slices"
	"time"

	"pawl/kernels"
	"pawl/kernels/inputs"
	"pawl/objective/cuda/driver"
	"pawl/objective/worker"
)

// Device runs CUDA kernels inside a worker process. It keeps the context, the
// problems and the right answers from one trial to the next.
type Device struct {
	equipment

	source  inputs.Source
	modules map[string]driver.Module // the reference and the kernel under test
	kept    problems

	loaded worker.Load
	steps  []driver.Function // what one launch runs; nil while nothing is loaded
	on     *problem
	poison byte
	graph  *graph
	// plausible says that the last run had random numbers as poison.
	plausible bool
	random    *rand.Rand // no kernel may foresee it
	// shown is how many contents with known answers the kernel has seen while it was timed.
	shown       int
	flushBuffer driver.Address // memory that is written to flush the caches
	scratch     []zone         // what pointers behind the arguments point to, by position
	timed       time.Time      // when the last sample was taken
}

var _ worker.Device = (*Device)(nil)

// NewDevice returns a device that opens the driver when something is loaded.
// The parent has chosen the GPU: it is the only one that this process sees.
func NewDevice() worker.Device {
	return &Device{modules: map[string]driver.Module{}, random: rand.New(rand.NewPCG(rand.Uint64(), rand.Uint64()))}
}

// explainModule adds what to do about a module that the driver refuses.
func explainModule(err error) error {
	if driver.WrongBinary(err) {
		return fmt.Errorf("%w: the compiler is newer than the driver, or compiled for another GPU; pawl doctor shows both "+
			"versions", err)
	}
	return err
}

// Load makes a kernel and a problem the current ones.
func (d *Device) Load(load worker.Load) ([]worker.Region, error) {
	if d.context == nil {
		if err := d.open(load.Support); err != nil {
			return nil, err
		}
	}
	d.dropGraph()
	d.steps = nil // nothing is loaded until all of it is
	d.keepModules(load)
	d.source.Folder = load.Folder
	launched := slices.Clone(load.Calls)
	if load.Reference != nil {
		launched = append(launched, load.Reference.Call)
	}
	err := d.needScratch(launched)
	if err != nil {
		return nil, err
	}
	if d.on, err = d.kept.get(d, load); err != nil {
		return nil, err
	}
	steps := make([]driver.Function, len(load.Calls))
	for i, call := range load.Calls {
		if steps[i], err = d.function(load.Module, call.Entry); err != nil {
			return nil, err
		}
	}
	if err := d.setSymbols(load); err != nil {
		return nil, err
	}
	d.steps, d.loaded = steps, load
	return nil, nil
}

// keepModules unloads every module that the load does not need.
func (d *Device) keepModules(load worker.Load) {
	for path, module := range d.modules {
		if path == load.Module || (load.Reference != nil && path == load.Reference.Module) {
			continue
		}
		_ = d.context.UnloadModule(module)
		delete(d.modules, path)
	}
}

// function returns a kernel of a module, which is loaded at its first use.
func (d *Device) function(path, entry string) (driver.Function, error) {
	module, loaded := d.modules[path]
	if !loaded {
		image, err := os.ReadFile(path)
		if err != nil {
			return 0, fmt.Errorf("loading a kernel: %w", err)
		}
		if module, err = d.context.LoadModule(image); driver.CodeOf(err) == driver.OutOfMemory {
			return 0, &worker.Fault{Kind: worker.NoMemory, Detail: "loading the kernel: " + err.Error()}
		}
		if err != nil {
			return 0, unloadable(explainModule(err))
		}
		d.modules[path] = module
		d.shown = 0 // what a kernel remembers went with its module
	}
	f, err := d.context.Function(module, entry)
	if err != nil {
		return 0, unloadable(fmt.Errorf("kernel %s is not in the module (extern \"C\" keeps its name): %w", entry, err))
	}
	return f, nil
}

// unloadable blames the kernel for a module that the driver refuses. The worker
// ends with it: if it is the device that is broken, the next one cannot load even
// its own support code, and that is reported as what it is.
func unloadable(err error) error {
	return &worker.Fault{Kind: worker.Unloadable, Detail: err.Error()}
}

// launchOn runs the loaded kernel on a set of buffers.
func (d *Device) launchOn(buffers set) error {
	p, err := d.on.parameters(buffers)
	if err != nil {
		return err
	}
	return d.launch(p)
}

// launch runs all steps of the loaded kernel.
func (d *Device) launch(p *parameters) error {
	for i, call := range d.loaded.Calls {
		if err := d.start(d.steps[i], call, p); err != nil {
			return err
		}
	}
	return nil
}

func (d *Device) start(f driver.Function, call kernels.Call, p *parameters) error {
	if call.Shared > 48<<10 {
		if err := d.context.AllowShared(f, call.Shared); err != nil {
			return fault(err)
		}
	}
	return fault(d.context.Launch(f, call.Grid, call.Block, call.Shared, d.stream, p.pointer(d.withScratch(call, p))))
}
