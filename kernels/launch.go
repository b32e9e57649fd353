package kernels

import (
	"fmt"
	"strconv"

	"pawl/space"
)

// Launch holds the formulas of a launch. Fields that a backend does not use
// are nil.
type Launch struct {
	// Threads is the number of threads that a host kernel starts.
	Threads *space.Expression
	// Kernel launches the kernel itself; its formulas know the parameters.
	Kernel LaunchFormulas
	// Reference launches the reference. A manifest that does not say how gets
	// the kernel's own launch, at the default point.
	Reference LaunchFormulas
	// Inherited says that Reference is the kernel's own launch.
	Inherited bool
}

// LaunchFormulas compute a launch on a device with grids and blocks.
type LaunchFormulas struct {
	// Grid and Block have up to three dimensions; a missing one is 1.
	Grid, Block []*space.Expression
	// Shared is the dynamic shared memory in bytes; nil is none.
	Shared *space.Expression
}

// LaunchDimensions are the numbers of one launch.
type LaunchDimensions struct {
	Grid   [3]int64 `json:"grid"`
	Block  [3]int64 `json:"block"`
	Shared int64    `json:"shared,omitempty"`
}

// Threads is the number of threads in a block.
func (d LaunchDimensions) Threads() int64 { return d.Block[0] * d.Block[1] * d.Block[2] }

// At evaluates the formulas. A dimension below 1 is an error.
func (f LaunchFormulas) At(env space.Environment) (d LaunchDimensions, err error) {
	if d.Grid, err = evaluate("grid", f.Grid, env); err != nil {
		return d, err
	}
	if d.Block, err = evaluate("block", f.Block, env); err != nil {
		return d, err
	}
	if f.Shared == nil {
		return d, nil
	}
	if d.Shared, err = f.Shared.Integer(env); err == nil && d.Shared < 0 {
		err = fmt.Errorf("launch: %d bytes of shared memory", d.Shared)
	}
	return d, err
}

func evaluate(name string, formulas []*space.Expression, env space.Environment) ([3]int64, error) {
	dims := [3]int64{1, 1, 1}
	for i, formula := range formulas {
		var err error
		if dims[i], err = formula.Integer(env); err != nil {
			return dims, err
		}
		if dims[i] < 1 {
			return dims, fmt.Errorf("launch: %s dimension %d is %d", name, i, dims[i])
		}
	}
	return dims, nil
}

// define is a constant that the compiler gets from the sizes of a workload.
type define struct {
	name  string
	value *space.Expression
}

// Constant is a define for one workload.
type Constant struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Constants returns what the compiler must know about a workload.
func (k *Kernel) Constants(dims Dims) ([]Constant, error) {
	var constants []Constant
	for _, d := range k.defines {
		value, err := d.value.Integer(dims.Environment())
		if err != nil {
			return nil, fmt.Errorf("define %s of %s at %s: %w", d.name, k.Name, dims, err)
		}
		constants = append(constants, Constant{d.name, strconv.FormatInt(value, 10)})
	}
	return constants, nil
}
