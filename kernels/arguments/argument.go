// Package arguments says what a kernel is given: buffers with a shape and a content, scalars
// with a value, variables of the source.
//
// A [Reader] compiles what a manifest says into a [List]; with the sizes of a problem put in
// it is a list of [Binding], which is all that a worker gets to know. Package inputs makes
// the bytes.
package arguments

import (
	"pawl/kernels/arrays"
	"pawl/kernels/document"
	"pawl/kernels/element"
	"pawl/space"
)

// List are the arguments of a kernel, in the order in which it takes them.
type List []Argument

// Argument is one argument of a kernel's entry function: a buffer with a shape
// or a scalar with a value.
type Argument struct {
	Name string
	Layout
	Role
	Filling
	// Tolerance is that of this output; nil means the kernel's.
	Tolerance *Tolerance

	stated *Stated        // the formulas of the tolerance; nil for none
	answer []*dataFile    // what an output should be: a file, or several of different shapes
	at     document.Place // of its name
}

// Layout is where an argument's numbers are.
type Layout struct {
	Element element.Type
	// Shape is the size of a buffer per dimension; nil for a scalar. That of scratch may depend on Parameters.
	Shape      []*space.Expression
	Parameters []string
	// Lanes is how many numbers an element of the kernel's type has: 2 for a complex one.
	Lanes int
	// Align is the alignment in bytes that the kernel relies on; at least the
	// size of an element.
	Align int
	// Fields are the parts of a structure, which is Lanes bytes to all others, and CType what
	// the source calls it. Member and Offset say which field an argument is, and where it
	// begins. See c_structs.go.
	Fields        []Argument
	CType, Member string
	Offset        int

	kind *space.Expression // the formula of the type; nil for none
}

// Role is what an argument is to a kernel. See role.go.
type Role struct {
	// Out marks a buffer that the kernel writes and the check compares. Inout says that it
	// has a fill all the same; other outputs start as poison.
	Out, Inout bool
	// Scratch marks a buffer that the kernel writes and nobody compares.
	Scratch bool
	// Symbol is the variable of the source that has the argument's content, in place of a
	// parameter of the entry function; empty for none.
	Symbol string
	// TensorMap is how a CUDA kernel takes a buffer that it does not take as a
	// pointer; nil for all others.
	TensorMap *TensorMap
}

// Filling is what an argument holds before a launch.
type Filling struct {
	// Fill is the family of an input's content.
	Fill string
	// Families are the families of inputs that this one takes; nil means all.
	Families []string
	// Low and High are the formulas of the range that an integer input is drawn
	// from, both ends included; nil means all of its type.
	Low, High *space.Expression
	// Large is the factor of the family large; 0 means that neither large nor
	// overflow applies, because the tolerance is not made for them.
	Large float64
	// Init is the formula of what all elements of an output start at; nil for none.
	Init *space.Expression
	// Value is the formula of a scalar; nil for a buffer.
	Value *space.Expression

	structure *structure     // of a fill that has one; nil for all others
	from      []*dataFile    // the content of an input: a file, or several of different shapes
	filledAt  document.Place // of what says its content
}

// Binding is an argument with the sizes of a problem put in. It is what a
// worker gets to know about an argument.
type Binding struct {
	Name string `json:"name"`
	Type string `json:"type"`
	// Count is the number of elements of a buffer; 0 for a scalar, and for a buffer that is empty.
	Count int64 `json:"count,omitempty"`
	Empty bool  `json:"empty,omitempty"`
	// Row is the size of a buffer's last dimension.
	Row   int64 `json:"row,omitempty"`
	Align int   `json:"align,omitempty"`
	// Fields are the parts of structures, Stride the distance of their beginnings in bytes.
	Fields []Field `json:"fields,omitempty"`
	Stride int     `json:"stride,omitempty"`
	Out    bool    `json:"out,omitempty"`
	// Restored says that what the kernel writes has this content before every launch.
	Restored bool `json:"restored,omitempty"`
	// Scratch is written like an output, and never compared.
	Scratch bool `json:"scratch,omitempty"`
	// Symbol is the variable of the module that is to hold the content.
	Symbol string `json:"symbol,omitempty"`
	Values
	// Answer has what an output should be, where no reference says it.
	Answer *arrays.File `json:"answer,omitempty"`
	// Tolerance replaces the reference's.
	Tolerance *Tolerance `json:"tolerance,omitempty"`

	shape []int64
}

// Values are what a buffer or a scalar holds before a launch. Package inputs draws them.
type Values struct {
	Fill string `json:"fill,omitempty"`
	// Large is the factor of the fill of that name.
	Large float64 `json:"large,omitempty"`
	// Range bounds the content of an integer input; nil means all of its type.
	Range *Range `json:"range,omitempty"`
	// Bounds are the range of a float input; nil means that of its fill.
	Bounds *Bounds `json:"bounds,omitempty"`
	// Pattern is how a kind of data changes the fill; nil for none.
	Pattern *Pattern `json:"pattern,omitempty"`
	// Content is the structure of an input that has one.
	Content *Content `json:"content,omitempty"`
	// Seed replaces that of the load, for content that does not change with the others'.
	Seed *uint64 `json:"seed,omitempty"`
	// Value is the value of a scalar of a float type, Integer of an integer one; of a
	// buffer that holds one number everywhere it is that.
	Value   float64 `json:"value,omitempty"`
	Integer int64   `json:"integer,omitempty"`
}

// Range is an interval of integers, both ends included.
type Range struct {
	Low  int64 `json:"low"`
	High int64 `json:"high"`
}

// Bounds is an interval of numbers, both ends included.
type Bounds struct {
	Low  float64 `json:"low"`
	High float64 `json:"high"`
}

// Put writes a scalar to the start of b.
func (b Binding) Put(to []byte) {
	for _, f := range b.Fields {
		f.Binding.Put(to[f.Offset:])
	}
	switch e := b.Element(); {
	case b.Fields != nil:
	case e.Float:
		e.Store(to, b.Value)
	default:
		e.PutInteger(to, b.Integer)
	}
}

// Element is the type of the numbers. A list binds known ones only.
func (b Binding) Element() element.Type {
	e, err := element.Named(b.Type)
	if err != nil {
		panic("arguments: " + err.Error())
	}
	return e
}

// Bytes is the size of a buffer; 0 for a scalar.
func (b Binding) Bytes() int { return int(b.Count) * b.Element().Size }

// Size is the size of one number of the argument, or of a structure, in bytes.
func (b Binding) Size() int {
	if b.Fields != nil {
		return b.Stride
	}
	return b.Element().Size
}

// Shape is the size of a buffer per dimension, with that of lanes last; nil for a scalar.
func (b Binding) Shape() []int64 { return b.shape }

// IsBuffer reports whether the argument is a buffer.
func (b Binding) IsBuffer() bool { return b.Count > 0 || b.Empty }
