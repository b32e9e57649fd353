package objective

import (
	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/cuda/occupancy"
)

// Binary is a compiled kernel. Its files are on this machine, and travel on their own; the rest of it
// travels as it is.
type Binary struct {
	// Path is the module's file; Support is loaded beside it by devices that
	// need one.
	Path    string `json:"-"`
	Support string `json:"-"`
	// Digest identifies the machine code, File the bytes of the module's file and SupportFile those
	// of the other.
	Digest      string `json:"digest"`
	File        string `json:"-"`
	SupportFile string `json:"-"`
	// Size is in bytes what was built; 0 is that of the file.
	Size int64 `json:"size,omitempty"`
	// Hit says that the cache had it.
	Hit bool `json:"-"`
	// Functions are those of a launch, in order; nil where they are called as the manifest says.
	Functions []kernels.Function `json:"functions,omitempty"`
	// Resources is what the compiler says that the kernel needs; nil where it
	// says nothing.
	Resources *Resources `json:"resources,omitempty"`
}

func (b Binary) module() check.Module {
	return check.Module{
		Path: b.Path, Support: b.Support, File: b.File, SupportFile: b.SupportFile, Functions: b.Functions,
	}
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
