package kernels

import (
	"math/bits"
	"slices"
	"strconv"
	"strings"

	"pawl/space"
)

// arguments checks and compiles the list of arguments.
func (b *builder) arguments() error {
	if len(b.keys.Args) == 0 {
		return b.missing("args")
	}
	outputs := 0
	for _, entry := range b.keys.Args {
		a, err := b.argument(entry)
		if err != nil {
			return err
		}
		if slices.ContainsFunc(b.kernel.Arguments, func(other Argument) bool { return other.Name == a.Name }) {
			return entry.Name.at.errorf("argument %s is listed twice", a.Name)
		}
		if a.Out {
			outputs++
		}
		b.kernel.Arguments = append(b.kernel.Arguments, a)
	}
	if outputs == 0 {
		return b.keys.Args[0].Name.at.errorf("no argument is marked out: true, so there is no result to check")
	}
	return nil
}

func (b *builder) argument(entry argEntry) (Argument, error) {
	if !cIdentifier.MatchString(entry.Name.text) {
		at := entry.Name.at
		if at.line == 0 {
			at = b.top()
		}
		return Argument{}, at.errorf("argument name %q is not an identifier", entry.Name.text)
	}
	element, err := ElementNamed(entry.Type.text)
	if err != nil {
		return Argument{}, entry.Name.at.errorf("argument %s: %s", entry.Name.text, err)
	}
	a := Argument{Name: entry.Name.text, Element: element, Out: entry.Out}
	if scalarArgument := entry.Value.text != ""; scalarArgument == (entry.Shape != nil) {
		return a, entry.Name.at.errorf("argument %s needs either a shape (a buffer) or a value (a scalar)", a.Name)
	}
	if entry.Value.text != "" {
		return b.scalarArgument(a, entry)
	}
	return b.bufferArgument(a, entry)
}

func (b *builder) scalarArgument(a Argument, entry argEntry) (Argument, error) {
	if a.Out || entry.Fill.text != "" || entry.Align.text != "" || entry.Families != nil || entry.Large.text != "" || entry.Range != nil || entry.TensorMap != nil {
		return a, entry.Name.at.errorf("argument %s is a scalar: out, fill, families, large, range, align and tensormap belong to buffers", a.Name)
	}
	want := space.Number
	if !a.Element.Float {
		want = space.WholeNumber
	}
	var err error
	a.Value, err = compile(b.dims, entry.Value, want)
	return a, err
}

func (b *builder) bufferArgument(a Argument, entry argEntry) (Argument, error) {
	if len(entry.Shape) == 0 {
		return a, entry.Name.at.errorf("argument %s has an empty shape", a.Name)
	}
	var err error
	if a.Shape, err = compileAll(b.dims, entry.Shape, space.WholeNumber); err != nil {
		return a, err
	}
	a.Fill = entry.Fill.text
	switch {
	case a.Out && a.Fill != "":
		return a, entry.Fill.at.errorf("argument %s is an output: it is poisoned before each run, so it has no fill", a.Name)
	case a.Out:
	case a.Fill == "" && !a.Element.Float:
		a.Fill = Uniform
	case a.Fill == "":
		a.Fill = Normal
	case !slices.Contains(Fills, a.Fill):
		return a, entry.Fill.at.errorf("argument %s: unknown fill %q; there are %s", a.Name, a.Fill, strings.Join(Fills, ", "))
	}
	for _, step := range []func(*Argument, argEntry) error{b.families, b.valueRange, b.tensorMap} {
		if err := step(&a, entry); err != nil {
			return a, err
		}
	}
	a.Align = a.Element.Size
	if entry.Align.text != "" {
		n := entry.Align.value.Integer()
		if entry.Align.value.Kind() != space.Integer || n < int64(a.Element.Size) || n > 4096 || bits.OnesCount64(uint64(n)) != 1 {
			return a, entry.Align.at.errorf("argument %s: align %s is not a power of two from %d to 4096", a.Name, entry.Align.text, a.Element.Size)
		}
		a.Align = int(n)
	}
	return a, nil
}

// valueRange compiles the range of an integer input. What a constant is needs no
// range, and floats have families for their magnitudes.
func (b *builder) valueRange(a *Argument, entry argEntry) (err error) {
	if entry.Range == nil {
		return nil
	}
	if a.Out || a.Element.Float || a.Fill != Uniform && a.Fill != Normal {
		return entry.Name.at.errorf("argument %s: range belongs to inputs of an integer type that are filled with %s or %s", a.Name, Uniform, Normal)
	}
	if len(entry.Range) != 2 {
		return entry.Name.at.errorf("argument %s: range is two formulas over the sizes, the smallest and the largest number: [0, N - 1]", a.Name)
	}
	if a.Low, err = compile(b.dims, entry.Range[0], space.WholeNumber); err != nil {
		return err
	}
	a.High, err = compile(b.dims, entry.Range[1], space.WholeNumber)
	return err
}

// families checks which families of inputs an argument takes.
func (b *builder) families(a *Argument, entry argEntry) error {
	if a.Out && (entry.Families != nil || entry.Large.text != "") {
		return entry.Name.at.errorf("argument %s: families and large belong to inputs", a.Name)
	}
	if !a.Element.Float && entry.Large.text != "" {
		return entry.Name.at.errorf("argument %s: large belongs to inputs of a floating-point type; integers have a range", a.Name)
	}
	if entry.Families != nil {
		a.Families = []string{}
	}
	for _, name := range entry.Families {
		if !slices.Contains(families, name.text) {
			return name.at.errorf("argument %s: no family %q; there are %s", a.Name, name.text, strings.Join(families, ", "))
		}
		if !isFamilyOf(a.Element, name.text) {
			return name.at.errorf("argument %s: %s has no family %q", a.Name, a.Element.Name, name.text)
		}
		a.Families = append(a.Families, name.text)
	}
	if entry.Large.text == "" {
		return nil
	}
	factor, err := strconv.ParseFloat(entry.Large.text, 64)
	if err != nil || !(factor >= 1 && factor <= 1e30) {
		return entry.Large.at.errorf("argument %s: large is %q: a factor from 1 to 1e30", a.Name, entry.Large.text)
	}
	a.Large = factor
	return nil
}
