// Package cuda is the backend for NVIDIA GPUs: nvcc or Triton to machine code,
// and the driver API to run it.
//
// It has two halves: Backend in pawl's own process (preflight, compile, reserve a
// GPU) and Device in the worker process (load, run, time). A worker stays with its GPU
// from one trial to the next, because a context costs half a second. It keeps inputs
// and right answers on the GPU and compares there, because copying a result out costs
// more than computing it. A kernel that breaks the context ends the worker, and the
// next trial has a fresh one.
package cuda

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"pawl/internal/collect"
	"pawl/internal/git"
	"pawl/internal/page"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda/driver"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
	"pawl/space"
)

// DeviceName is the name of this backend's device in worker.Main.
const DeviceName = kernels.CUDA

// Options configures the backend.
type Options struct {
	// Cache keeps compiled kernels.
	Cache *cache.Cache
	// Tool is the compiler; nil of a backend that runs what was compiled elsewhere, and
	// compiles nothing.
	Tool nvcc.Tool
	// GPUs are the devices; those like the first are used.
	GPUs GPUs
	// DriverVersion is for the record, such as 580.65.06.
	DriverVersion string
	// CompileTimeout is how long one compilation may take. Zero means 60 s.
	CompileTimeout time.Duration
	// Getenv looks up where tools are. Nil means os.Getenv.
	Getenv func(string) string
	// Notice shows the user a message that is no error. It may be nil.
	Notice func(string)
}

// Backend compiles a kernel for the GPUs of this machine.
type Backend struct {
	kernel   *kernels.Kernel
	workload kernels.Workload
	limits   *Limits
	options  Options
	compiler *nvcc.Compiler
	dir      string      // of the sources
	support  nvcc.Module // the compiled support code
	gpus     []driver.Attributes
	locks    string // the folder of locks on GPUs
	facts    objective.Facts

	free chan driver.Attributes
	// under is empty except in a copy that Sanitized returns.
	under []string
}

var _ objective.Backend = (*Backend)(nil)

// New returns a backend for a kernel and one of its workloads.
func New(ctx context.Context, k *kernels.Kernel, w kernels.Workload, options Options) (*Backend, error) {
	options.CompileTimeout = cmp.Or(options.CompileTimeout, time.Minute)
	if options.Getenv == nil {
		options.Getenv = os.Getenv
	}
	if options.Notice == nil {
		options.Notice = func(string) {}
	}
	gpus := options.GPUs.Alike()
	b := &Backend{
		kernel: k, workload: w, options: options, gpus: gpus,
		limits:   NewLimits(k, w, gpus[0]),
		compiler: &nvcc.Compiler{Tool: options.Tool, Cache: options.Cache, Timeout: options.CompileTimeout},
		locks:    os.TempDir(),
		free:     make(chan driver.Attributes, len(gpus)),
	}
	b.facts = b.describe()
	for _, gpu := range gpus {
		b.free <- gpu
	}
	if err := b.limits.architecture(); err != nil {
		return nil, err
	}
	var err error
	if b.dir, err = k.Materialise(filepath.Join(options.Cache.Dir(), "kernels")); err != nil {
		return nil, err
	}
	if options.Tool == nil {
		return b, nil
	}
	b.support, err = b.compileSupport(ctx)
	return b, err
}

// compileSupport builds the worker's own code for the GPU, or finds it built.
func (b *Backend) compileSupport(ctx context.Context) (module nvcc.Module, err error) {
	dir := filepath.Join(b.options.Cache.Dir(), "support")
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return module, fmt.Errorf("the support code: %w", err)
	}
	name := "support-" + cache.Digest(supportSource)[:16] + ".cu" // named after its content
	if _, err := os.Stat(filepath.Join(dir, name)); err != nil {
		write := func(w io.Writer) error { _, err := w.Write(supportSource); return err }
		if err := page.WriteFile(filepath.Join(dir, name), write); err != nil {
			return module, fmt.Errorf("the support code: %w", err)
		}
	}
	module, err = b.compiler.Compile(ctx, nvcc.Unit{Dir: dir, Source: name, Architecture: b.architecture(false)})
	if errors.Is(err, nvcc.ErrNoCompiler) && b.gpus[0].UUID == "" {
		return module, nil // only compiled for, by a tool that reads no CUDA C++
	}
	if err != nil {
		return module, fmt.Errorf("compiling the support code with %s: %w", b.options.Tool.Version(), err)
	}
	return module, nil
}

func (b *Backend) architecture(specific bool) string {
	suffix := ""
	if specific {
		suffix = "a"
	}
	return nvcc.Architecture(b.gpus[0].Major, b.gpus[0].Minor, suffix)
}

// Preflight compares what a point asks for with what the GPU has.
func (b *Backend) Preflight(point space.Point) *objective.Failure { return b.limits.Preflight(point) }

// Compile builds the cubin of a point.
func (b *Backend) Compile(ctx context.Context, point space.Point) (objective.Binary, *objective.Failure, error) {
	unit, err := b.unit(b.kernel.Source, point)
	if err != nil {
		return objective.Binary{}, nil, err
	}
	if _, gone := os.Stat(b.support.Path); gone != nil { // it was damaged, and removed
		if _, err := b.compileSupport(ctx); err != nil {
			return objective.Binary{}, nil, err
		}
	}
	if err := b.unpack(); err != nil {
		return objective.Binary{}, nil, err
	}
	module, err := b.compiler.Compile(ctx, unit)
	failure, err := objective.CompileFailure(err, b.options.CompileTimeout)
	if failure != nil && b.kernel.Missing(b.dir) {
		return objective.Binary{}, nil, &process.MachineFault{What: "the sources were removed from the compile cache"}
	}
	if failure != nil || err != nil {
		return objective.Binary{}, failure, err
	}
	binary := b.binary(module)
	bindings, err := b.kernel.Bind(b.workload.Dims)
	if err != nil {
		return objective.Binary{}, nil, err
	}
	if text := compareVariables(module, bindings); text != "" && module.Launch == nil {
		return objective.Binary{}, &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError,
			Detail: text}, nil
	}
	var resources []objective.Resources
	for _, step := range b.kernel.Launch.Steps {
		f, err := b.function(module, kernels.EntryAt(step.Entry, point))
		if err != nil {
			return objective.Binary{}, nil, fmt.Errorf("%s: %w", b.kernel.Source, err)
		}
		if module.Launch == nil {
			if text := compareSignature(b.kernel, step, module, f.Symbol, bindings); text != "" {
				return objective.Binary{}, &objective.Failure{Stage: objective.Compile, Reason: objective.CompileError,
					Detail: text}, nil
			}
		}
		figures := module.Kernels[f.Symbol]
		binary.Functions = append(binary.Functions, f)
		resources = append(resources, objective.Resources{
			Registers: figures.Registers, SpillStores: figures.SpillStores, SpillLoads: figures.SpillLoads,
			Stack: figures.Stack, StaticShared: figures.StaticShared,
		})
	}
	calls, err := b.limits.calls(point)
	if err != nil {
		return objective.Binary{}, objective.Unfit("%s", err), nil
	}
	kernels.Complete(calls, binary.Functions)
	maps, err := b.limits.maps(point)
	if err != nil {
		return objective.Binary{}, objective.Unfit("%s", err), nil
	}
	// The same machine code in another grid is another point: it may read its
	// block's size, and even if not, it runs at another speed. So it is with other
	// tensor maps.
	identity := []byte(module.Digest)
	for _, call := range calls {
		identity = fmt.Appendf(identity, " %v", call.LaunchDimensions)
	}
	if len(maps) > 0 {
		identity = fmt.Appendf(identity, " %v", maps)
	}
	binary.Digest = cache.Digest(identity)
	binary.Resources, failure = b.limits.afterCompile(calls, resources)
	return binary, failure, nil
}

// unpack puts an embedded kernel's sources back where somebody has removed the compile cache.
func (b *Backend) unpack() error {
	if !b.kernel.Missing(b.dir) {
		return nil
	}
	_, err := b.kernel.Materialise(filepath.Join(b.options.Cache.Dir(), "kernels"))
	return err
}

// function is a function of a module, with what its compiler has decided about launches.
func (b *Backend) function(module nvcc.Module, entry string) (f kernels.Function, err error) {
	if f.Symbol, err = module.Symbol(entry); err != nil || module.Launch == nil {
		return f, err
	}
	decided := module.Launch
	f.Tile = &kernels.TileFunction{Threads: decided.Threads, Shared: decided.Shared, Scratch: decided.Scratch}
	for _, name := range decided.Arguments {
		at := slices.IndexFunc(b.kernel.Arguments, func(a arguments.Argument) bool { return a.Name == name })
		if at < 0 {
			return f, fmt.Errorf("the compiled kernel takes %s, which the manifest does not have", name)
		}
		f.Tile.Arguments = append(f.Tile.Arguments, at)
	}
	return f, nil
}

func (b *Backend) unit(source string, point space.Point) (nvcc.Unit, error) {
	unit, err := newUnit(b.kernel, b.workload, b.architecture, source, point)
	unit.Dir, unit.MostShared = b.dir, b.gpus[0].SharedPerBlock
	return unit, err
}

// newUnit describes a compilation: the parameters and the workload's constants.
func newUnit(k *kernels.Kernel, w kernels.Workload, architecture func(specific bool) string, source string,
	point space.Point) (nvcc.Unit, error) {
	named, flags := nvcc.Named(kernels.FlagsAt(k.Flags, point))
	unit := nvcc.Unit{
		Source:       source,
		Architecture: architecture(k.ArchSpecific || strings.HasSuffix(named, "a")),
		Flags:        append(k.IncludeFlags(), flags...),
	}
	steps := []kernels.Step{k.Launch.Reference}
	if source == k.Source {
		steps, unit.Units = k.Launch.Steps, k.Units
	}
	if source == k.Source && k.Tiled() || source == k.Reference && k.TileReference {
		var err error
		unit.Tile, err = newTile(k, w, point)
		return unit, err
	}
	for _, step := range steps {
		unit.Checks += k.Arguments.LayoutChecks("static_assert", step.Arguments)
	}
	for _, a := range point.Assignments() {
		unit.Defines = append(unit.Defines, nvcc.Define{Name: a.Name, Value: a.Value.Define()})
	}
	for _, step := range k.Launch.Steps {
		if instance := kernels.EntryAt(step.Entry, point); kernels.IsInstance(instance) {
			unit.Instances = append(unit.Instances, instance)
		}
	}
	constants, err := k.Constants(w.Dims)
	for _, c := range constants {
		unit.Defines = append(unit.Defines, nvcc.Define(c))
	}
	return unit, err
}

// Reference builds the kernel's reference.
func (b *Backend) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	unit, err := b.unit(b.kernel.Reference, given)
	if err == nil {
		err = b.unpack()
	}
	if err != nil {
		return objective.Binary{}, err
	}
	unit.Flags, unit.Instances = b.kernel.IncludeFlags(), nil // it should be plain
	module, err := b.compiler.Compile(ctx, unit)
	if err != nil {
		return objective.Binary{}, fmt.Errorf("compiling %s: %w", b.kernel.Reference, err)
	}
	binary := b.binary(module)
	f, err := b.function(module, b.kernel.Launch.Reference.Entry)
	if err != nil {
		return objective.Binary{}, fmt.Errorf("%s: %w", b.kernel.Reference, err)
	}
	bindings, err := b.kernel.Bind(b.workload.Dims)
	if err == nil && module.Launch == nil {
		if text := compareSignature(b.kernel, b.kernel.Launch.Reference, module, f.Symbol, bindings); text != "" {
			err = fmt.Errorf("%s: %s", b.kernel.Reference, text)
		}
	}
	if err != nil {
		return objective.Binary{}, err
	}
	binary.Functions = []kernels.Function{f}
	return binary, nil
}

func (b *Backend) binary(module nvcc.Module) objective.Binary {
	files := objective.Module{
		Path: module.Path, File: module.File, Support: b.support.Path, SupportFile: b.support.File,
	}
	return objective.Binary{Module: files, Digest: module.Digest, Hit: module.Hit}
}

// Reserve waits for a GPU that neither this process nor another pawl is using.
func (b *Backend) Reserve(ctx context.Context, _ space.Point) (worker.Slot, error) {
	var gpu driver.Attributes
	select {
	case gpu = <-b.free:
	case <-ctx.Done():
		return worker.Slot{}, context.Cause(ctx)
	}
	unlock, err := lockGPU(ctx, b.locks, gpu.UUID, func() {
		b.options.Notice("waiting for another pawl process that is using " + gpu.Name + " " + gpu.UUID)
	})
	if err != nil {
		b.free <- gpu
		return worker.Slot{}, err
	}
	return worker.Slot{
		Device: gpu.UUID,
		Worker: worker.Command{
			Under:       b.under,
			Device:      DeviceName,
			Environment: []string{"CUDA_VISIBLE_DEVICES=" + gpu.UUID},
		},
		Release: func() { unlock(); b.free <- gpu },
	}, nil
}

// lockGPU keeps other pawl processes of this machine off a GPU. It is a lock on
// a file named after the GPU, and it goes with the process, however that ends. Waiting is called once if it takes long.
func lockGPU(ctx context.Context, folder, uuid string, waiting func()) (release func(), err error) {
	file, err := page.Hold(ctx, filepath.Join(folder, "pawl-"+uuid+".lock"), waiting)
	if err != nil {
		return nil, fmt.Errorf("locking the GPU: %w", err)
	}
	return func() { file.Close() }, nil
}

// Recipe says how to compile a kernel for a workload with nvcc, whichever compiler
// is used here. Architecture names the machine, or its specific form.
func Recipe(k *kernels.Kernel, w kernels.Workload, architecture func(specific bool) string) (*objective.Build, error) {
	build := objective.NewBuild(k, nil)
	if k.Tiled() {
		return build, nil
	}
	unit, err := newUnit(k, w, architecture, k.Source, space.Point{})
	if err != nil {
		return nil, err
	}
	if len(unit.Units) > 0 {
		unit.Flags = append([]string{nvcc.Relocatable}, unit.Flags...)
	}
	build.Compiler = []string{"nvcc"}
	build.Flags = append([]string{nvcc.ArchitectureFlag(unit.Architecture), "-Xcompiler", "-fPIC"}, unit.Flags...)
	build.Constants = collect.Each(unit.Defines, func(d nvcc.Define) kernels.Constant { return kernels.Constant(d) })
	return build, nil
}

// Facts describes the GPU, the driver and the compiler.
func (b *Backend) Facts() objective.Facts { return b.facts }

func (b *Backend) describe() objective.Facts {
	driverText := ""
	if b.options.GPUs.Driver != "" { // there is none where kernels are only compiled
		driverText = "CUDA " + b.options.GPUs.Driver
	}
	if b.options.DriverVersion != "" {
		driverText = b.options.DriverVersion + ", " + driverText
	}
	compiler := ""
	if b.options.Tool != nil { // nothing is compiled here otherwise
		compiler = b.options.Tool.Version() + " for " + b.architecture(b.kernel.ArchSpecific)
	}
	elements := collect.Each(b.kernel.Arguments, func(a arguments.Argument) string { return a.Element.Name })
	build, err := Recipe(b.kernel, b.workload, b.architecture)
	if err != nil {
		build = nil // no point can be compiled, and Compile says why
	}
	return objective.Facts{
		Width:    len(b.gpus),
		Resident: true, // a context costs half a second
		Roofline: roofline(b.gpus[0], elements),
		Environment: objective.Environment{
			Backend:   DeviceName,
			Device:    b.gpus[0].Name,
			Driver:    driverText,
			Cores:     runtime.NumCPU(),
			System:    runtime.GOOS + "/" + runtime.GOARCH,
			Compiler:  compiler,
			Flags:     strings.Join(b.kernel.Flags, " "),
			Build:     build,
			Objective: objective.ObjectiveOf(b.kernel),
			Commit:    git.CheckedOut(b.kernel.Dir),
		},
	}
}
