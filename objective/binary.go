package objective

import (
	"fmt"
	"os"

	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/check"
	"pawl/objective/cuda/occupancy"
)

// Binary is a compiled kernel.
type Binary struct {
	// Path is the module's file; Support is loaded beside it by devices that
	// need one.
	Path, Support string
	// Digest identifies the machine code, File the bytes of the module's file.
	Digest, File string
	// Size is in bytes what was built; 0 is that of the file.
	Size int64
	// Hit says that the cache had it.
	Hit bool
	// Functions are those of a launch, in order; nil where they are called as the manifest says.
	Functions []kernels.Function
	// Resources is what the compiler says that the kernel needs; nil where it
	// says nothing.
	Resources *Resources
}

func (b Binary) module() check.Module {
	return check.Module{Path: b.Path, Support: b.Support, File: b.File, Functions: b.Functions}
}

// Resources is what a kernel needs of a multiprocessor, as the compiler says.
// Memory is in bytes per thread, shared memory in bytes per block.
type Resources struct {
	Registers    int `json:"registers"`
	SpillStores  int `json:"spill_stores,omitempty"`
	SpillLoads   int `json:"spill_loads,omitempty"`
	Stack        int `json:"stack,omitempty"`
	StaticShared int `json:"static_shared,omitempty"`
	Shared       int `json:"shared,omitempty"`
	// Launch is the grid and the block at the workload; nil where it is unknown.
	Launch *kernels.LaunchDimensions `json:"launch,omitempty"`
	// Occupancy is how much of a multiprocessor it fills; nil where that is unknown.
	Occupancy *occupancy.Occupancy `json:"occupancy,omitempty"`
}

// damage is the error of a compiled kernel whose file is not what was compiled.
type damage struct {
	path, what string
	used       bool // it was what was compiled before a worker used it
}

func (d *damage) Error() string {
	return fmt.Sprintf("the compiled kernel %s %s: find out who writes to the compile cache", d.path, d.what)
}

// damaged returns what happened to a compiled kernel's file, nil where it is the one that was
// compiled: what is checked, what is timed and what is suggested must be the same machine
// code. It is called before a worker loads the file and again after it was last used.
func damaged(m check.Module, used bool) error {
	content, err := os.ReadFile(m.Path)
	if err != nil {
		return &damage{m.Path, "is gone", used}
	}
	if found := cache.Digest(content); found != m.File {
		return &damage{m.Path,
			fmt.Sprintf("was changed: its digest is %.12s, that of what was compiled %.12s", found, m.File), used}
	}
	return nil
}
