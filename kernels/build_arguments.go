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
	if b.backend == Command {
		return nil
	}
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
		return b.keys.Args[0].Name.at.errorf("no argument is marked out: true or inout: true, so there is no result to check")
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
	element, lanes, err := lanesNamed(entry.Type.text)
	if err != nil {
		return Argument{}, entry.Name.at.errorf("argument %s: %s", entry.Name.text, err)
	}
	a := Argument{Name: entry.Name.text, Element: element, Lanes: lanes, Out: entry.Out || entry.Inout, Inout: entry.Inout, Scratch: entry.Scratch, at: entry.Name.at, filledAt: entry.contentPlace()}
	if err := b.role(&a, entry); err != nil {
		return a, err
	}
	if scalarArgument := entry.Value.text != ""; scalarArgument == (entry.Shape != nil) {
		return a, entry.Name.at.errorf("argument %s needs either a shape (a buffer) or a value (a scalar)", a.Name)
	}
	if entry.Value.text != "" {
		return b.scalarArgument(a, entry)
	}
	return b.bufferArgument(a, entry)
}

func (b *builder) scalarArgument(a Argument, entry argEntry) (Argument, error) {
	if a.Lanes > 1 {
		return a, entry.Name.at.errorf("argument %s: a scalar is one number; pass the %d of %s one by one, or as a buffer", a.Name, a.Lanes, entry.Type.text)
	}
	if a.written() || entry.Init.text != "" || entry.Tolerance != nil || entry.Fill.given() || entry.From != nil || entry.Answer != nil || entry.Align.text != "" || entry.Families != nil || entry.Large.text != "" || entry.Range != nil || entry.TensorMap != nil {
		return a, entry.Name.at.errorf("argument %s is a scalar: out, inout, init, scratch, tolerance, fill, from, answer, families, large, range, align and tensormap belong to buffers", a.Name)
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
	if a.written() && !a.Inout && entry.Fill.given() {
		return a, entry.Fill.kind.at.errorf("argument %s is an output: it is poisoned before each run, so it has no fill; inout: true says that the kernel reads it, too, and init: 0 that it starts at a number", a.Name)
	}
	if a.written() && !a.Inout {
		a.Fill = initialFill(a)
	} else if err := b.fill(&a, entry); err != nil {
		return a, err
	}
	for _, step := range []func(*Argument, argEntry) error{b.data, b.valueRange, b.families, b.tensorMap} {
		if err := step(&a, entry); err != nil {
			return a, err
		}
	}
	a.Align = a.alignment()
	if entry.Align.text != "" {
		n := entry.Align.value.Integer()
		if entry.Align.value.Kind() != space.Integer || n < int64(a.Element.Size) || n > 4096 || bits.OnesCount64(uint64(n)) != 1 {
			return a, entry.Align.at.errorf("argument %s: align %s is not a power of two from %d to 4096", a.Name, entry.Align.text, a.Element.Size)
		}
		a.Align = int(n)
	}
	return a, nil
}

// valueRange compiles the range of an input. What a constant is needs no range.
func (b *builder) valueRange(a *Argument, entry argEntry) (err error) {
	if entry.Range == nil {
		return nil
	}
	if a.written() && !a.Inout || !slices.Contains([]string{Uniform, Normal, Sorted, Reversed}, a.Fill) || a.structure != nil && a.structure.kind != a.Fill {
		return entry.Name.at.errorf("argument %s: range belongs to inputs that are filled with %s, %s, %s or %s", a.Name, Uniform, Normal, Sorted, Reversed)
	}
	if len(entry.Range) != 2 {
		return entry.Name.at.errorf("argument %s: range is two formulas over the sizes, the smallest and the largest number: [0, N - 1]", a.Name)
	}
	want := space.WholeNumber
	if a.Element.Float {
		want = space.Number
	}
	if a.Low, err = compile(b.dims, entry.Range[0], want); err != nil {
		return err
	}
	a.High, err = compile(b.dims, entry.Range[1], want)
	return err
}

// contentPlace is where an argument says what it holds.
func (e argEntry) contentPlace() position {
	switch {
	case e.Fill.given():
		return e.Fill.kind.at
	case e.From != nil:
		return e.From[0].at
	case e.Answer != nil:
		return e.Answer[0].at
	}
	return e.Name.at
}

// families checks which families of inputs an argument takes.
func (b *builder) families(a *Argument, entry argEntry) error {
	if a.written() && !a.Inout && (entry.Families != nil || entry.Large.text != "") {
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
		if may := a.available(); !slices.Contains(may, name.text) {
			if len(may) == 0 {
				return name.at.errorf("argument %s: what is filled with %s takes no families", a.Name, a.Fill)
			}
			return name.at.errorf("argument %s: %s has no family %q here; it has %s", a.Name, a.Element.Name, name.text, strings.Join(may, ", "))
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
