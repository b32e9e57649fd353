// Package host is the backend for the machine's own processor: a real C
// compiler, a shared object per point, real clocks.
//
// It is the near side's half (Backend: preflight, compile, reserve) and the
// worker's half (Device: load, run, time). Compilations and measurements share
// the cores by a semaphore: a measurement takes as many as the point has
// threads, so that no compiler runs on a core that is being timed.
package host

import (
	"cmp"
	"context"
	_ "embed" // the support code
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/semaphore"

	"pawl/internal/collect"
	"pawl/internal/git"
	"pawl/internal/process"
	"pawl/kernels"
	"pawl/kernels/includes"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/worker"
	"pawl/space"
)

//go:embed support/support.c
var supportSource []byte

// DeviceName is the name of this backend's device in worker.Main.
const DeviceName = kernels.Host

// Options configures the backend.
type Options struct {
	// Cache keeps compiled kernels.
	Cache *cache.Cache
	// Toolchain is the C compiler, CPlusPlus that for C++, nil for kernels without any. A
	// nil Toolchain is of a backend that runs what was compiled elsewhere, and compiles
	// nothing.
	Toolchain, CPlusPlus *Toolchain
	// Constants are the macros that come from the sizes of the workload, for every
	// source of the kernel.
	Constants []kernels.Constant
	// Cores is the number of cores to use. Zero means all.
	Cores int
	// CompileTimeout is how long one compilation may take. Zero means 60 s.
	CompileTimeout time.Duration
	// Worker overrides how workers are started, in tests.
	Worker worker.Command
}

// Backend compiles a kernel for this machine.
type Backend struct {
	kernel  *kernels.Kernel
	limits  *Limits
	options Options
	dir     string // of the sources
	support cache.Entry
	cores   *semaphore.Weighted
	device  string
	linking []string // flags for the linker
	facts   objective.Facts
	// compiler makes objects of the kernel's sources; nil where the C compiler compiles them.
	compiler *objectCompiler
	// sanitizer is nil except in a copy that Sanitized returns.
	sanitizer *sanitizer
}

var _ objective.Backend = (*Backend)(nil)

// New returns a backend for a kernel and the space of one of its workloads.
func New(ctx context.Context, k *kernels.Kernel, s *space.Space, options Options) (*Backend, error) {
	options.Cores = cmp.Or(options.Cores, runtime.NumCPU())
	options.CompileTimeout = cmp.Or(options.CompileTimeout, time.Minute)
	options.Worker.Device, options.Worker.Shared = DeviceName, true
	b := &Backend{
		kernel: k, limits: NewLimits(k, s, options.Cores), options: options,
		cores:  semaphore.NewWeighted(int64(options.Cores)),
		device: Processor(),
	}
	var err error
	if b.dir, err = k.Materialise(filepath.Join(options.Cache.Dir(), "kernels")); err != nil {
		return nil, err
	}
	if b.dir, err = filepath.Abs(b.dir); err != nil {
		return nil, err
	}
	if options.Toolchain != nil {
		if b.compiler, err = findObjectCompiler(ctx, k, b.dir); err != nil {
			return nil, err
		}
	}
	if b.facts = b.describe(); options.Toolchain == nil {
		return b, nil
	}
	// A kernel that uses what nobody defines should not even link. Not every linker
	// has the flag, and some need none.
	b.linking = []string{"-Wl,-z,defs"}
	b.support, err = b.compileSupport(ctx)
	if errors.As(err, new(*worker.Refusal)) {
		b.linking = nil
		b.support, err = b.compileSupport(ctx)
	}
	return b, err
}

// compileSupport builds the code beside every kernel, or finds it built.
func (b *Backend) compileSupport(ctx context.Context) (cache.Entry, error) {
	source := supportSource
	if b.compiler != nil {
		source = slices.Concat(source, b.caller())
	}
	entry, err := b.build(ctx, []string{"-O2"}, piece{languageC, source})
	if err != nil {
		return entry, fmt.Errorf("compiling the timing support with %s: %w", b.options.Toolchain.Version, err)
	}
	return entry, nil
}

// Preflight compares what a point asks for with what the machine has.
func (b *Backend) Preflight(point space.Point) *objective.Failure { return b.limits.Preflight(point) }

// Compile builds the shared object of a point.
func (b *Backend) Compile(ctx context.Context, point space.Point) (objective.Binary, *objective.Failure, error) {
	if err := b.unpack(); err != nil {
		return objective.Binary{}, nil, err
	}
	entry, err := b.compile(ctx, point)
	failure, err := objective.CompileFailure(err, b.options.CompileTimeout)
	if failure != nil && b.kernel.Missing(b.dir) {
		return objective.Binary{}, nil, &process.MachineFault{What: "the sources were removed from the compile cache"}
	}
	if failure != nil || err != nil {
		return objective.Binary{}, failure, err
	}
	binary := b.binary(entry)
	if _, err := os.Stat(binary.Support); err != nil { // it was damaged, and removed
		_, err = b.compileSupport(ctx)
		return binary, nil, err
	}
	return binary, nil, nil
}

// unpack puts an embedded kernel's sources back where somebody has removed the compile cache.
func (b *Backend) unpack() error {
	if !b.kernel.Missing(b.dir) {
		return nil
	}
	_, err := b.kernel.Materialise(filepath.Join(b.options.Cache.Dir(), "kernels"))
	return err
}

func (b *Backend) compile(ctx context.Context, point space.Point) (cache.Entry, error) {
	if b.compiler != nil {
		return b.object(ctx, point)
	}
	flags := kernels.FlagsAt(b.kernel.Flags, point)
	if b.sanitizer != nil {
		flags = append(flags, b.sanitizer.flags...)
	}
	flags = append(flags, b.defines(point)...)
	units := []piece{{languageOf(b.kernel.Source),
		slices.Concat(b.unrolled(b.kernel.Source, point), unit(b.kernel, b.kernel.Source, point, b.kernel.Launch.Steps...))}}
	for _, file := range b.kernel.Units {
		units = append(units, piece{languageOf(file), fmt.Appendf(b.unrolled(file, point), "#include %q\n", file)})
	}
	return b.build(ctx, flags, units...)
}

// unrolled makes constants of the parameters that a pragma of the source unrolls by.
func (b *Backend) unrolled(file string, point space.Point) (text []byte) {
	source, err := os.ReadFile(filepath.Join(b.dir, file))
	if err != nil {
		return nil // the compiler says so
	}
	for _, name := range includes.Unrolled(source) {
		if value, known := point.Get(name); known && value.Kind() == space.Integer {
			text = append(text, includes.Constant(name, value.Define())...)
		}
	}
	return text
}

// Reference builds the kernel's reference, without the parameters that do not change the
// result and without the kernel's own flags: it should be plain.
func (b *Backend) Reference(ctx context.Context, given space.Point) (objective.Binary, error) {
	if err := b.unpack(); err != nil {
		return objective.Binary{}, err
	}
	source := b.kernel.Reference
	entry, err := b.build(ctx, append([]string{"-O2"}, b.defines(given)...),
		piece{languageOf(source), unit(b.kernel, source, given, b.kernel.Launch.Reference)})
	if err != nil {
		return objective.Binary{}, fmt.Errorf("compiling %s: %w", source, err)
	}
	return b.binary(entry), nil
}

// defines are the parameters of a point, and the constants that come from the workload.
func (b *Backend) defines(point space.Point) []string {
	flags := collect.Each(point.Assignments(), func(a space.Assignment) string {
		return "-D" + a.Name + "=" + a.Value.Define()
	})
	for _, c := range b.options.Constants {
		flags = append(flags, "-D"+c.Name+"="+c.Value)
	}
	return flags
}

// independent is the flag for code that a shared library may hold.
const independent = "-fPIC"

var libraries = []string{"-lm", "-pthread"}

// libraries are what the kernel's objects are linked with by a compiler of the source's language.
func (b *Backend) libraries() []string {
	if languageOf(b.kernel.Source) == languageC &&
		slices.ContainsFunc(b.kernel.Units, func(file string) bool { return languageOf(file) == languageCPlusPlus }) {
		return append(slices.Clone(libraries), "-lstdc++")
	}
	return libraries
}

func (b *Backend) binary(entry cache.Entry) objective.Binary {
	files := objective.Module{
		Path: entry.Path, File: entry.Digest, Support: b.support.Path, SupportFile: b.support.Digest,
	}
	return objective.Binary{Module: files, Digest: entry.Digest, Hit: entry.Hit}
}

// piece is the text of a translation unit.
type piece struct {
	in   language
	text []byte
}

// build compiles translation units to a shared object through the cache. The
// compiler runs in the kernel's folder: what comes through its standard input
// includes the files of the folder it runs in before all others.
func (b *Backend) build(ctx context.Context, flags []string, units ...piece) (cache.Entry, error) {
	t := b.toolchain(linking(units))
	common := slices.Concat([]string{"-iquote", b.dir}, b.kernel.IncludeFlags(), flags)
	key := func() (*cache.Key, error) { return b.key(ctx, t, common, flags, units) }
	return b.cached(ctx, key, func(path string) error {
		arguments := slices.Concat(common, b.linking,
			[]string{"-shared", independent, "-o", path, "-x", string(units[0].in), "-"})
		for i, unit := range units[1:] {
			file := filepath.Join(filepath.Dir(path), fmt.Sprintf("unit%d", i+1))
			if err := os.WriteFile(file, unit.text, 0o600); err != nil {
				return err
			}
			defer os.Remove(file)
			arguments = append(arguments, "-x", string(unit.in), file)
		}
		arguments = append(append(arguments, "-x", "none"), libraries...)
		_, err := t.run(ctx, b.options.CompileTimeout, b.dir, filepath.Dir(path), units[0].text, arguments...)
		return err
	})
}

// cached returns a file from the cache, or has it written on one core.
func (b *Backend) cached(ctx context.Context, newKey func() (*cache.Key, error),
	write func(path string) error) (cache.Entry, error) {
	if err := b.cores.Acquire(ctx, 1); err != nil {
		return cache.Entry{}, context.Cause(ctx)
	}
	defer b.cores.Release(1)
	key, err := newKey()
	if err != nil {
		return cache.Entry{}, err
	}
	return b.options.Cache.Get(key, func(path string) error {
		path, err := filepath.Abs(path)
		if err != nil {
			return err
		}
		return write(path)
	})
}

// linking is the language of the compiler that links some units: C++ where one of them is.
func linking(units []piece) language {
	if slices.ContainsFunc(units, func(unit piece) bool { return unit.in == languageCPlusPlus }) {
		return languageCPlusPlus
	}
	return languageC
}

// Reserve takes the cores that the point's threads will run on. The semaphore
// is first come, first served, so a waiting measurement holds back later
// compilations.
func (b *Backend) Reserve(ctx context.Context, point space.Point) (worker.Slot, error) {
	threads, err := b.limits.Threads(point)
	if err != nil {
		return worker.Slot{}, err
	}
	threads = min(max(threads, 1), int64(b.options.Cores))
	if err := b.cores.Acquire(ctx, threads); err != nil {
		return worker.Slot{}, context.Cause(ctx)
	}
	return worker.Slot{Device: DeviceName, Worker: b.worker(), Release: func() { b.cores.Release(threads) }}, nil
}

// worker says how to start a worker process.
func (b *Backend) worker() worker.Command {
	command := b.options.Worker
	if b.sanitizer != nil {
		command.Environment = append(command.Environment, b.sanitizer.environment...)
		return command
	}
	command.Access = &process.Access{Read: slices.Concat(process.Libraries, []string{b.dir},
		filepath.SplitList(os.Getenv("LD_LIBRARY_PATH")))}
	command.OpensNoFiles = true // a sanitizer reads the files that its findings are in
	if !raceDetector {          // it maps more than any machine has, as a sanitizer does
		command.Memory = spareMemory()
	}
	return command
}

// What no core of any processor does in a second: the caches move three vectors of
// 64 bytes per clock, matrix units multiply and add 4096 times, and no clock is
// faster than 6 GHz.
const (
	mostBytes = 3 * 64 * 6e9
	mostFlops = 2 * 4096 * 6e9
)

// Facts describes the processor and the compiler.
func (b *Backend) Facts() objective.Facts { return b.facts }

func (b *Backend) describe() objective.Facts {
	cores := float64(max(b.options.Cores, runtime.NumCPU()))
	in := languageOf(b.kernel.Source)
	toolchain := cmp.Or(b.toolchain(in), &Toolchain{})
	environment := objective.Environment{
		Backend:   DeviceName,
		Device:    b.device,
		Cores:     b.options.Cores,
		System:    runtime.GOOS + "/" + runtime.GOARCH,
		Compiler:  toolchain.Version,
		Flags:     strings.Join(b.kernel.Flags, " "),
		Build:     objective.NewBuild(b.kernel, b.options.Constants),
		Objective: objective.ObjectiveOf(b.kernel),
		Commit:    git.CheckedOut(b.kernel.Dir),
	}
	if b.compiler != nil {
		environment.Compiler, environment.Flags = cmp.Or(b.compiler.version, b.compiler.command[0]), ""
		environment.Build.Compile = b.kernel.Compile
	} else {
		environment.Build.Compiler, environment.Build.Libraries = toolchain.Command, b.libraries()
		environment.Build.Flags = slices.Concat(in.flags(b.kernel.Source), []string{independent}, b.kernel.IncludeFlags(),
			b.kernel.Flags)
	}
	return objective.Facts{
		Width:    1,     // the cores are shared, but one point is timed at a time
		Resident: false, // a process is cheap here, and a kernel may do anything to the one it runs in
		// Not what this processor can do, which no formula tells, but what none can: a
		// time below it is a mistake or a fraud.
		Roofline:    objective.Roofline{Flops: cores * mostFlops, Bytes: cores * mostBytes, Loose: true},
		Environment: environment,
	}
}
