package kernels

import (
	"fmt"

	"pawl/space"
)

// Argument is one argument of a kernel's entry function: a buffer with a shape,
// a scalar with a value, or a map of a buffer.
type Argument struct {
	Name    string
	Element Element
	// Shape is the size of a buffer per dimension; nil for a scalar.
	Shape []*space.Expression
	// Fill is the family of an input's content.
	Fill string
	// Families are the families of inputs that this one takes; nil means all.
	Families []string
	// Large is the factor of the family large; 0 means that neither large nor
	// overflow applies, because the tolerance is not made for them.
	Large float64
	// Out marks a buffer that the kernel writes and the check compares.
	Out bool
	// Align is the alignment in bytes that the kernel relies on; at least the
	// size of an element.
	Align int
	// Value is the formula of a scalar; nil for everything else.
	Value *space.Expression
	// Map describes a buffer to the copy engine; nil for everything else.
	Map *TensorMap
}

// Binding is an argument with the sizes of a problem put in. It is what a
// worker is told about an argument.
type Binding struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Count is the number of elements of a buffer; 0 for a scalar.
	Count int64 `json:"count,omitempty"`
	// Row is the size of a buffer's last dimension.
	Row  int64  `json:"row,omitempty"`
	Fill string `json:"fill,omitempty"`
	// Large is the factor of the fill of that name.
	Large float64 `json:"large,omitempty"`
	Out   bool    `json:"out,omitempty"`
	Align int     `json:"align,omitempty"`
	// Value is the value of a scalar.
	Value float64 `json:"value,omitempty"`
	// Map is set for a tensor map.
	Map *Map `json:"map,omitempty"`
}

// IsBuffer reports whether the argument is a buffer.
func (b Binding) IsBuffer() bool { return b.Count > 0 }

// Fills are the contents of inputs that a manifest may name.
var Fills = []string{Normal, Uniform, "ones", "zeros"}

// largestBuffer bounds one buffer, in bytes: a slip in a shape should be an
// error and not a machine that swaps.
const largestBuffer = 64 << 30

// Bind evaluates the arguments for the sizes of a problem.
func (k *Kernel) Bind(dims Dims) ([]Binding, error) {
	env := dims.Environment()
	bindings := make([]Binding, 0, len(k.Arguments))
	shapes := make([][]int64, len(k.Arguments))
	for at, a := range k.Arguments {
		b := Binding{Name: a.Name, Type: a.Element.Name, Fill: a.Fill, Large: a.Large, Out: a.Out, Align: a.Align}
		if a.Value != nil {
			value, err := a.Value.Number(env)
			if err != nil {
				return nil, fmt.Errorf("argument %s of %s at %s: %w", a.Name, k.Name, dims, err)
			}
			b.Value = value
			bindings = append(bindings, b)
			continue
		}
		if a.Map != nil {
			b.Map = a.Map.bind(shapes[a.Map.Of])
			bindings = append(bindings, b)
			continue
		}
		count := int64(1)
		for _, size := range a.Shape {
			n, err := size.Integer(env)
			if err != nil {
				return nil, fmt.Errorf("argument %s of %s at %s: %w", a.Name, k.Name, dims, err)
			}
			if n < 1 || float64(n)*float64(count)*float64(a.Element.Size) > largestBuffer {
				return nil, fmt.Errorf("argument %s of %s at %s: size %d in shape is out of range", a.Name, k.Name, dims, n)
			}
			count *= n
			b.Row = n
			shapes[at] = append(shapes[at], n)
		}
		b.Count = count
		bindings = append(bindings, b)
	}
	return bindings, nil
}
