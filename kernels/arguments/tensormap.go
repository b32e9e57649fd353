package arguments

import (
	"fmt"
	"slices"

	"pawl/kernels/document"
	"pawl/space"
)

// TensorMap says that a CUDA kernel takes a buffer as a descriptor for the
// tensor copy engine (CUtensorMap, by value) and not as a pointer. The reference
// takes the pointer all the same.
type TensorMap struct {
	// When is a condition on sizes and parameters; where it does not hold, the kernel takes the pointer. Nil holds.
	When *space.Expression
	// Shape is how the kernel sees the buffer, the outermost dimension first. Box is what one copy moves. Both may use
	// sizes and parameters.
	Shape, Box []*space.Expression
	// Base is the element that the tensor begins at; nil is the first.
	Base *space.Expression
	// Swizzle is the width in bytes of the pattern in which rows lie in shared
	// memory; nil is none.
	Swizzle *space.Expression
}

// TensorLayout is a tensor map with the numbers of a problem and a point put in.
type TensorLayout struct {
	// Argument is the position of the buffer among the arguments.
	Argument int `json:"argument"`
	// Shape and Box have the outermost dimension first.
	Shape   []int64 `json:"shape"`
	Box     []int64 `json:"box"`
	Swizzle int     `json:"swizzle,omitempty"`
	// Base is where the tensor begins in the buffer, in bytes.
	Base int64 `json:"base,omitempty"`
}

// What the tensor copy engine can do, by the driver's documentation of
// cuTensorMapEncodeTiled.
const (
	mostTensorDimensions = 5
	longestBoxSide       = 256
	tensorUnit           = 16 // bytes: rows of a box and strides are multiples
)

// swizzles are the widths that the engine knows.
var swizzles = []int64{0, 32, 64, 128}

// TensorLayouts evaluates the tensor maps of the arguments. An error says what
// the tensor copy engine cannot do with these sizes and parameters.
func (l List) TensorLayouts(env space.Environment) ([]TensorLayout, error) {
	var layouts []TensorLayout
	for i, a := range l {
		wanted, err := a.TensorMap.wanted(env)
		if wanted {
			var layout TensorLayout
			layout, err = a.tensorLayout(env)
			layout.Argument = i
			layouts = append(layouts, layout)
		}
		if err != nil {
			return nil, fmt.Errorf("the tensor map of argument %s: %w", a.Name, err)
		}
	}
	return layouts, nil
}

func (a Argument) tensorLayout(env space.Environment) (l TensorLayout, err error) {
	if l.Swizzle, err = a.TensorMap.swizzle(env); err != nil {
		return l, err
	}
	own, err := integers(a.Shape, env)
	if err != nil {
		return l, err
	}
	if l.Shape, err = integers(a.TensorMap.Shape, env); err != nil {
		return l, err
	}
	if l.Box, err = integers(a.TensorMap.Box, env); err != nil {
		return l, err
	}
	base, err := a.TensorMap.Base.Integer(env)
	if err != nil {
		return l, err
	}
	l.Base = base * int64(a.Element.Size)
	switch {
	case base < 0:
		return l, fmt.Errorf("a base of %d lies before the buffer", base)
	case l.Base%tensorUnit != 0:
		return l, fmt.Errorf("a base of %d elements is %d bytes; the tensor copy engine takes multiples of %d", base, l.Base,
			tensorUnit)
	case float64(base)+product(l.Shape) > product(own):
		return l, fmt.Errorf("a shape of %v from element %d on reaches beyond the buffer of %v", l.Shape, base, own)
	}
	return l, l.check(int64(a.Element.Size))
}

func (m *TensorMap) wanted(env space.Environment) (bool, error) {
	if m == nil || m.When == nil {
		return m != nil, nil
	}
	return m.When.Bool(env)
}

// swizzle evaluates the width of the pattern.
func (m *TensorMap) swizzle(env space.Environment) (int, error) {
	width, err := m.Swizzle.Integer(env)
	if err == nil && !slices.Contains(swizzles, width) {
		err = fmt.Errorf("a swizzle of %d is not 0, 32, 64 or 128 bytes", width)
	}
	return int(width), err
}

// check holds a layout against what the engine can do.
func (l TensorLayout) check(size int64) error {
	last := len(l.Box) - 1
	for i, side := range l.Box {
		if side < 1 || side > longestBoxSide {
			return fmt.Errorf("the box %v has a side of %d; the tensor copy engine takes 1 to %d", l.Box, side, longestBoxSide)
		}
		if l.Shape[i] < 1 {
			return fmt.Errorf("the shape %v has a side of %d", l.Shape, l.Shape[i])
		}
	}
	row := l.Box[last] * size
	if row%tensorUnit != 0 {
		return fmt.Errorf("rows of the box are %d bytes; the tensor copy engine takes multiples of %d", row, tensorUnit)
	}
	if l.Swizzle > 0 && row > int64(l.Swizzle) {
		return fmt.Errorf("rows of the box are %d bytes; a swizzle of %d takes no more than that", row, l.Swizzle)
	}
	if stride := l.Shape[last] * size; last > 0 && stride%tensorUnit != 0 {
		return fmt.Errorf("rows of the buffer are %d bytes apart; the tensor copy engine takes multiples of %d (the "+
			"manifest's domain may say so)", stride, tensorUnit)
	}
	return nil
}

func integers(formulas []*space.Expression, env space.Environment) ([]int64, error) {
	numbers := make([]int64, len(formulas))
	for i, formula := range formulas {
		var err error
		if numbers[i], err = formula.Integer(env); err != nil {
			return nil, err
		}
	}
	return numbers, nil
}

func product(sides []int64) float64 {
	total := 1.0
	for _, side := range sides {
		total *= float64(side)
	}
	return total
}

// TensorMapEntry is a tensor map as the manifest has it.
type TensorMapEntry struct {
	When    document.Scalar   `yaml:"when"`
	Shape   []document.Scalar `yaml:"shape"`
	Box     []document.Scalar `yaml:"box"`
	Swizzle document.Scalar   `yaml:"swizzle"`
	Base    document.Scalar   `yaml:"base"`
}

// tensorMap checks and compiles the tensor map of a buffer.
func (r Reader) tensorMap(a *Argument, entry Entry) error {
	if entry.TensorMap == nil {
		return nil
	}
	if !r.GPU {
		return entry.Name.At.Errorf("argument %s: a tensormap is for backend cuda", a.Name)
	}
	m := &TensorMap{}
	var err error
	if m.Shape, err = document.CompileAll(r.All, entry.TensorMap.Shape, space.WholeNumber); err != nil {
		return err
	}
	if m.Box, err = document.CompileAll(r.All, entry.TensorMap.Box, space.WholeNumber); err != nil {
		return err
	}
	if m.Shape == nil {
		m.Shape = a.Shape
	}
	switch rank := len(m.Shape); {
	case rank > mostTensorDimensions:
		return entry.Name.At.Errorf("argument %s: a tensormap has at most %d dimensions, not %d", a.Name,
			mostTensorDimensions, rank)
	case len(m.Box) != rank:
		return entry.Name.At.Errorf("argument %s: the box of the tensormap has %d sides for a shape of %d", a.Name,
			len(m.Box), rank)
	}
	if m.When, err = document.Optional(r.All, entry.TensorMap.When, space.Condition); err == nil {
		m.Base, err = document.Optional(r.All, entry.TensorMap.Base, space.WholeNumber)
	}
	if err == nil {
		m.Swizzle, err = document.Optional(r.All, entry.TensorMap.Swizzle, space.WholeNumber)
	}
	if err != nil {
		return err
	}
	if swizzle := entry.TensorMap.Swizzle; m.Swizzle != nil && len(m.Swizzle.Names()) == 0 {
		if _, err := m.swizzle(space.Environment{}); err != nil {
			return swizzle.At.Errorf("argument %s: swizzle %s is not 0, 32, 64 or 128 bytes", a.Name, swizzle.Text)
		}
	}
	a.TensorMap = m
	return nil
}
