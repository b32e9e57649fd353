package objective

import (
	"pawl/kernels"
	"pawl/objective/check"
	"pawl/objective/cuda/occupancy"
)

// Module is what a worker loads of a binary.
type Module = check.Module

// Binary is a compiled kernel. Its files are on this machine, and travel on their own; the rest of it
// travels as it is.
type Binary struct {
	Module
	// Digest identifies the machine code.
	Digest string `json:"digest"`
	// Size is in bytes what was built; 0 is that of the file.
	Size int64 `json:"size,omitempty"`
	// Hit says that the cache had it.
	Hit bool `json:"-"`
	// Resources is what the compiler says that the kernel needs; nil where it
	// says nothing.
	Resources *Resources `json:"resources,omitempty"`
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
