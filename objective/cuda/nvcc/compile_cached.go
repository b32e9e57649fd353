// Package nvcc turns CUDA C++ into machine code.
//
// A compilation goes in four steps:
//
//  1. The key: the source, every include of it that can be found, the defines,
//     the flags, the architecture and the compiler's version. Nothing is
//     executed for it, so a warm compilation costs about a millisecond.
//  2. The cache answers, or a tool writes a cubin.
//  3. What ptxas said about registers, spills and shared memory is parsed and
//     kept beside the cubin.
//  4. The machine code alone is digested, so that points which differ only in
//     what the compiler ignored are known to be one.
//
// The package needs no GPU and no driver.
package nvcc

import (
	"cmp"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"pawl/objective/cache"
)

// Unit is what is compiled.
type Unit struct {
	// Dir is the folder of the sources; relative paths in Flags start there.
	Dir string
	// Source is the file inside Dir.
	Source string
	// Units are further files inside Dir, compiled on their own and linked with it.
	Units []string
	// Architecture is the machine that code is made for: sm_90, sm_90a.
	Architecture string
	// Defines are macros, in order.
	Defines []Define
	// Flags go to the compiler as they are.
	Flags []string
	// Instances are instances of templates that are to be in the module, such as
	// reduce<4, float>: nothing in the source need use them.
	Instances []string
	// Checks are assertions behind the source, for nvcc.
	Checks string
	// Tile is for a compiler that must know the function and its arguments; nil for others.
	Tile *Tile
	// MostShared is the shared memory that a block may have, in bytes; 0 is unknown. A tool may refuse early
	// what needs more. No cubin depends on it.
	MostShared int
}

// Tile is a function whose compiler decides about threads and shared memory, and needs to
// know what it is called with.
type Tile struct {
	Entry string `json:"entry"`
	// Arguments are what is passed at a launch, in the manifest's order.
	Arguments []TileArgument `json:"arguments"`
	// Constants are what the compiler knows: the point's values and the workload's constants.
	Constants map[string]any `json:"constants"`
	// Launch are the names that the grid depends on: a constant among them need be no argument.
	Launch []string `json:"launch"`
}

// TileArgument is an argument as far as the machine code depends on it.
type TileArgument struct {
	Name string `json:"name"`
	// Type is an element's name, behind an asterisk for a pointer.
	Type string `json:"type"`
	// Divisible says that the address or the number is divisible by 16, One that it is 1.
	Divisible bool `json:"divisible,omitempty"`
	One       bool `json:"one,omitempty"`
}

// TileLaunch is what a compiler has decided about the launches of such a function.
type TileLaunch struct {
	// Threads are those of a block, Shared the bytes of dynamic shared memory.
	Threads int64 `json:"threads"`
	Shared  int64 `json:"shared"`
	// Arguments are the names of what it takes: those that were compiled in are left out.
	Arguments []string `json:"arguments"`
	// Scratch has the bytes that each block needs behind each pointer that follows the
	// arguments; the pointer is null where that is 0.
	Scratch []int64 `json:"scratch"`
}

// Define is a macro and its text.
type Define struct{ Name, Value string }

// Module is compiled code. What is in its JSON is kept beside the cubin.
type Module struct {
	// Path is the cubin in the cache.
	Path string `json:"-"`
	// File identifies the bytes of the cubin.
	File string `json:"cubin"`
	// Digest identifies the machine code: line tables, symbols and the record
	// of the compiler's options do not count.
	Digest string `json:"machine_code"`
	// Kernels are the figures of every entry function, by the name in the
	// cubin: mangled unless extern "C".
	Kernels map[string]Resources `json:"kernels"`
	// Names are the symbols of the unit's instances.
	Names map[string]string `json:"names,omitempty"`
	// Parameters are the sizes in bytes of what each kernel takes, in order, as far as they are known, and Variables those
	// of the module's variables.
	Parameters map[string][]int `json:"parameters,omitempty"`
	Variables  map[string]int   `json:"variables"`
	// Launch is what the compiler has decided for a unit with a Tile; nil for others.
	Launch *TileLaunch `json:"launch,omitempty"`
	// Hit says that the cache had it.
	Hit bool `json:"-"`
}

// Resources is what one kernel takes of a multiprocessor, as ptxas said.
// Memory is in bytes per thread, shared memory and constants per block.
type Resources struct {
	Registers int `json:"registers"`
	// SpillStores and SpillLoads include those of device functions that were
	// not inlined.
	SpillStores  int `json:"spill_stores"`
	SpillLoads   int `json:"spill_loads"`
	Stack        int `json:"stack"`
	StaticShared int `json:"static_shared"`
	Barriers     int `json:"barriers"`
	// Constant is 0 where ptxas does not say: it does for sm_75, not for sm_90.
	Constant int `json:"constant"`
}

// Tool makes cubins: *Toolchain and triton.Tool.
type Tool interface {
	// Name is nvcc or triton.
	Name() string
	// Version is for a person.
	Version() string
	// Identity is everything about the tool that its output depends on.
	Identity() string
	// Build writes the cubin of a unit to output. It may use the folder scratch. Errors are
	// those of package compiler.
	Build(ctx context.Context, allowed time.Duration, unit Unit, scratch, output string) (Built, error)
}

// Built is what a tool says about a cubin.
type Built struct {
	// Log is what ptxas said.
	Log string
	// Names are the symbols of the unit's instances, and of a Tile's entry.
	Names map[string]string
	// Launch is for units with a Tile.
	Launch *TileLaunch
}

// Compiler compiles units through a cache. It is safe for concurrent use.
type Compiler struct {
	Tool
	// Cache keeps the cubins.
	Cache *cache.Cache
	// Timeout is how long one compilation may take. Zero means 2 minutes.
	Timeout time.Duration
}

// Compile returns the module of a unit. A *worker.Refusal means that this
// unit cannot be compiled, process.ErrTime that it took too long; any other
// error means that no unit can be.
func (c *Compiler) Compile(ctx context.Context, unit Unit) (Module, error) {
	key, err := c.key(unit)
	if err != nil {
		return Module{}, fmt.Errorf("compiling %s: %w", unit.Source, err)
	}
	for again := false; ; again = true {
		entry, err := c.Cache.Get(key, func(path string) error { return c.create(ctx, unit, path) })
		if err != nil {
			return Module{}, err
		}
		module, err := readReport(entry)
		if err == nil {
			return module, nil
		}
		// The cubin is good but what stands beside it is not: make both once more.
		if !again {
			err = os.RemoveAll(filepath.Dir(entry.Path))
		}
		if err != nil {
			return Module{}, fmt.Errorf("compile cache: %w", err)
		}
	}
}

// create compiles in the folder that the entry is made in: what it leaves there
// beside the cubin is kept with it.
func (c *Compiler) create(ctx context.Context, unit Unit, path string) error {
	scratch := filepath.Join(filepath.Dir(path), "scratch")
	if err := os.Mkdir(scratch, 0o755); err != nil {
		return fmt.Errorf("compile cache: %w", err)
	}
	defer os.RemoveAll(scratch)
	made := filepath.Join(scratch, filepath.Base(path)) // the one folder that compilers write to
	built, err := c.Build(ctx, cmp.Or(c.Timeout, 2*time.Minute), unit, scratch, made)
	if err == nil && os.Rename(made, path) != nil {
		err = fmt.Errorf("%s succeeded without a cubin", c.Name())
	}
	if err != nil {
		return err
	}
	cubin, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("compile cache: %w", err)
	}
	if err := writeReport(path, cubin, built); err != nil {
		return fmt.Errorf("compiling %s with %s: %w", unit.Source, c.Version(), err)
	}
	return nil
}
