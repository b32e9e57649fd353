package check

import (
	"cmp"
	"fmt"

	"pawl/kernels"
	"pawl/objective/worker"
)

// Case is one check of a kernel's results: the sizes of a problem, its inputs,
// and where they lie.
type Case struct {
	Dims kernels.Dims `json:"shape"`
	// Seed and Family fix the inputs; the empty family is the declared one.
	Seed   uint64 `json:"seed"`
	Family string `json:"family,omitempty"`
	// Layout is where the buffers lie; the empty one is worker.Guarded.
	Layout worker.Layout `json:"layout,omitempty"`
}

// String returns the flags of pawl fuzz that repeat the case.
func (c Case) String() string {
	return fmt.Sprintf("--shape %s --seed %d --family %s --layout %s", c.Dims, c.Seed, c.family(), c.layout())
}

// key identifies the right answer, which does not depend on the layout.
func (c Case) key() string { return fmt.Sprintf("%s seed=%d %s", c.Dims, c.Seed, c.family()) }

func (c Case) family() string { return cmp.Or(c.Family, kernels.Declared) }

func (c Case) layout() worker.Layout { return cmp.Or(c.Layout, worker.Guarded) }

// Bind evaluates the kernel's arguments for the case.
func (c Case) Bind(k *kernels.Kernel) ([]kernels.Binding, error) {
	return k.BindFamily(c.Dims, c.family())
}
