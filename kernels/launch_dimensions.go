package kernels

import (
	"fmt"
	"slices"
	"strconv"

	"pawl/internal/collect"
	"pawl/kernels/arguments"
	"pawl/kernels/document"
	"pawl/space"
)

// Launch holds the formulas of what is timed as one launch. Fields that a backend does not
// use are nil.
type Launch struct {
	// Steps follow each other; most kernels have one.
	Steps []Step
	// Reference launches the reference. A manifest that does not say how gets
	// the kernel's own launch, at the default point.
	Reference Step
	// Inherited says that Reference is the kernel's own launch.
	Inherited bool
}

// Step is one function of a kernel and how it is launched.
type Step struct {
	Entry string
	// Arguments are the positions of what it takes, in its order.
	Arguments []int
	// Threads is the number of threads that a host kernel starts; nil means one.
	Threads *space.Expression
	LaunchFormulas
}

// Call is a step with the numbers of a problem and a point put in.
type Call struct {
	Entry     string `json:"entry"`
	Arguments []int  `json:"arguments"`
	LaunchDimensions
	// Scratch has the bytes that each block needs behind each of the pointers that follow the
	// arguments; one of 0 bytes is null.
	Scratch []int64 `json:"scratch,omitempty"`
}

// Function is the compiled function of a step: its symbol and, of a language of tiles, what
// its compiler has decided.
type Function struct {
	Symbol string        `json:"symbol"`
	Tile   *TileFunction `json:"tile,omitempty"`
}

// TileFunction is how a function on tiles is launched.
type TileFunction struct {
	// Threads are those of a block, Shared its bytes of shared memory.
	Threads int64 `json:"threads"`
	Shared  int64 `json:"shared"`
	// Arguments are the positions of what it takes; Scratch is as in a Call.
	Arguments []int   `json:"arguments"`
	Scratch   []int64 `json:"scratch,omitempty"`
}

// Complete puts what was compiled into what is called.
func Complete(calls []Call, functions []Function) {
	for i, f := range functions {
		calls[i].Entry = f.Symbol
		if f.Tile == nil {
			continue
		}
		calls[i].Block, calls[i].Shared = [3]int64{f.Tile.Threads, 1, 1}, f.Tile.Shared
		calls[i].Arguments, calls[i].Scratch = f.Tile.Arguments, f.Tile.Scratch
	}
}

// At evaluates the formulas of a step. A dimension below 1 is an error.
func (s Step) At(env space.Environment) (call Call, err error) {
	call.Entry, call.Arguments = s.Entry, s.Arguments
	if call.Grid, err = evaluate("grid", s.Grid, env); err != nil {
		return call, err
	}
	if call.Block, err = evaluate("block", s.Block, env); err != nil {
		return call, err
	}
	if call.Shared, err = s.Shared.Integer(env); err == nil && call.Shared < 0 {
		err = fmt.Errorf("launch: %d bytes of shared memory", call.Shared)
	}
	return call, err
}

// Entries are the names of the functions, in order.
func (l Launch) Entries() (names []string) {
	return collect.Each(l.Steps, func(step Step) string { return step.Entry })
}

// Calls evaluates the formulas of all steps.
func (l Launch) Calls(env space.Environment) ([]Call, error) {
	calls := make([]Call, len(l.Steps))
	for i, step := range l.Steps {
		var err error
		if calls[i], err = step.At(env); err != nil {
			if len(l.Steps) > 1 {
				err = fmt.Errorf("%s: %w", step.Entry, err)
			}
			return nil, err
		}
	}
	return calls, nil
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

// Constant is a define for one workload.
type Constant struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Constants returns what the compiler must know about a workload.
func (k *Kernel) Constants(dims Dims) ([]Constant, error) {
	var constants []Constant
	for _, d := range k.defines {
		value, err := d.Value.Integer(dims.Environment())
		if err != nil {
			return nil, fmt.Errorf("define %s of %s at %s: %w", d.What, k.Name, dims, err)
		}
		constants = append(constants, Constant{d.What, strconv.FormatInt(value, 10)})
	}
	return constants, nil
}

// formulas compiles those of a launch; none without a grid, though the keys for all backends may have them.
func (b *builder) formulas(scope *space.Scope, entry gridEntry) (f LaunchFormulas, err error) {
	for _, texts := range [][]document.Scalar{entry.Grid, entry.Block} {
		if len(texts) > 3 {
			return f, texts[3].At.Errorf("a launch has at most three dimensions")
		}
	}
	if f.Grid, err = document.CompileAll(scope, entry.Grid, space.WholeNumber); err != nil {
		return f, err
	}
	if f.Block, err = document.CompileAll(scope, entry.Block, space.WholeNumber); err != nil {
		return f, err
	}
	if f.Shared, err = document.Optional(scope, entry.Shared, space.WholeNumber); !b.on.GPU {
		f = LaunchFormulas{}
	}
	return f, err
}

// defines compiles the constants that come from the sizes of a workload. Such
// a size is part of the binary.
func (b *builder) defines() error {
	for key, text := range b.keys.Defines.All() {
		if !document.IsIdentifier(key.Text) {
			return key.At.Errorf("define %q is not an identifier", key.Text)
		}
		if slices.ContainsFunc(b.kernel.params, func(p space.Param) bool { return p.Name == key.Text }) {
			return key.At.Errorf("%s is both a parameter and a define", key.Text)
		}
		e, err := document.Compile(b.dims, text, space.WholeNumber)
		if err != nil {
			return err
		}
		b.kernel.defines = append(b.kernel.defines, arguments.Decision{What: key.Text, Value: e, At: key.At})
	}
	return nil
}
