package arguments

import (
	"fmt"
	"regexp"
	"strconv"

	"pawl/kernels/document"
	"pawl/kernels/element"
)

// What an argument is to a kernel, beside an input or an output:
//
//   - inout: read and written. It has its fill before every launch, in checks and timing.
//   - init: an output that starts at a number, for kernels that add to what is there.
//   - scratch: written and read by the kernel, and by nobody else. It is poisoned.
//   - symbol: a variable of the source, such as constant memory, in place of a parameter.

// RoleEntry is what the manifest says of that.
type RoleEntry struct {
	Out     bool            `yaml:"out"`
	Inout   bool            `yaml:"inout"`
	Init    document.Scalar `yaml:"init"`
	Scratch bool            `yaml:"scratch"`
	Symbol  document.Scalar `yaml:"symbol"`
}

// Restored says that what the kernel writes must be given its content before every launch.
func (a Argument) Restored() bool { return a.Inout || a.Init != nil }

// Written says that the kernel writes the buffer.
func (a Argument) Written() bool { return a.Out || a.Scratch }

// Initial is the fill of a buffer that starts with one number: the binding's.
const Initial = "init"

var lanesPattern = regexp.MustCompile(`^([a-z]+[0-9]+(?:m[0-9])?)x([0-9]{1,4})$`)

// lanesNamed returns the type of the numbers that a type consists of, and how many: complex
// numbers are pairs, and f32x4 is any structure of four floats.
func lanesNamed(name string) (element.Type, int, error) {
	switch name {
	case "c64":
		name = "f32x2"
	case "c128":
		name = "f64x2"
	case "texture", "surface":
		return element.Type{}, 0, fmt.Errorf("a %s cannot be described: let the kernel take the buffer as a pointer (const "+
			"float *__restrict__ is read through the same cache)", name)
	}
	match := lanesPattern.FindStringSubmatch(name)
	if match == nil {
		element, err := element.Named(name)
		if err != nil {
			err = fmt.Errorf("%w, the complex c64 and c128, and structures of equal numbers such as f32x4 or u8x24", err)
		}
		return element, 1, err
	}
	element, err := element.Named(match[1])
	lanes, _ := strconv.Atoi(match[2]) // at most four digits
	if err == nil && (lanes < 2 || lanes > mostLanes) {
		err = fmt.Errorf("type %s: a structure has 2 to %d numbers", name, mostLanes)
	}
	return element, lanes, err
}

// mostLanes bounds the numbers in a structure: more are a dimension.
const mostLanes = 1024

// widestVector is the largest type that GPUs load at once, in bytes.
const widestVector = 16

// alignment is that of an element of the kernel's type: structures of a size that a GPU
// loads at once are aligned to it, others to their numbers.
func (a Argument) alignment() int {
	size := a.Element.Size * max(a.Lanes, 1)
	if size <= widestVector && size&(size-1) == 0 {
		return size
	}
	return a.Element.Size
}

// role checks what an argument says about itself beside its type and shape.
func (r Reader) role(a *Argument, entry Entry) (err error) {
	at := entry.Name.At
	switch {
	case entry.Texture != nil:
		return document.PlaceOf(entry.Texture).Errorf("argument %s: textures are not supported; let the kernel take the "+
			"buffer as a pointer", a.Name)
	case entry.Out && entry.Inout:
		return at.Errorf("argument %s is marked out and inout: inout alone says that it is read and written", a.Name)
	case a.Scratch && a.Out:
		return at.Errorf("argument %s is marked scratch and out: scratch is never compared", a.Name)
	case a.Inout && entry.Init.Text != "":
		return entry.Init.At.Errorf("argument %s: init belongs to outputs; the content of an inout is its fill", a.Name)
	case entry.Init.Text != "" && !a.Written():
		return entry.Init.At.Errorf("argument %s: init belongs to outputs and scratch; an input has a fill", a.Name)
	case a.Inout && !entry.Fill.given() && entry.From == nil:
		return at.Errorf("argument %s is inout: say with fill what it holds before every launch, such as fill: normal",
			a.Name)
	case entry.Tolerance != nil && !a.Out:
		return at.Errorf("argument %s: tolerance belongs to outputs", a.Name)
	case entry.Tolerance != nil && !a.Element.Float && a.kind == nil && a.Fields == nil:
		return at.Errorf("argument %s: tolerance is for floats; integers have to equal the reference's, so let it round as "+
			"the kernel does", a.Name)
	}
	if a.Init, err = document.Optional(r.Sizes, entry.Init, result(a.Element)); err != nil {
		return err
	}
	if entry.Tolerance != nil {
		var tolerance Tolerance
		if a.stated, tolerance, err = r.Tolerance(*entry.Tolerance, at); err != nil {
			return err
		}
		a.Tolerance = &tolerance
	}
	return r.symbol(a, entry)
}

// symbol checks the name of a variable of the source.
func (r Reader) symbol(a *Argument, entry Entry) error {
	symbol := entry.Symbol
	switch {
	case symbol.Text == "":
		return nil
	case !document.IsIdentifier(symbol.Text):
		return symbol.At.Errorf("argument %s: symbol %q is not an identifier: it names a variable at file scope", a.Name,
			symbol.Text)
	case a.Written():
		return symbol.At.Errorf("argument %s: a symbol is for inputs; let the kernel take what it writes as a parameter",
			a.Name)
	case entry.TensorMap != nil:
		return symbol.At.Errorf("argument %s: a buffer is either a symbol or a tensormap", a.Name)
	}
	a.Symbol = symbol.Text
	return nil
}
