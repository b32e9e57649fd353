package arguments

import (
	"slices"
	"strconv"
	"strings"

	"pawl/kernels/document"
	"pawl/space"
)

// Reader checks and compiles what a manifest says about arguments.
type Reader struct {
	// Sizes has the sizes of a problem and definitions over them, All also the parameters.
	Sizes, All *space.Scope
	// First are the sizes of the first workload.
	First space.Environment
	// GPU says that the arguments are those of a kernel for a GPU.
	GPU bool
}

// List checks and compiles the list of arguments.
func (r Reader) List(entries []Entry) (list List, err error) {
	sizes := *r.Sizes
	r.Sizes = &sizes
	for _, entry := range entries {
		sizes.Subject = "argument " + entry.Name.Text + ", which is no scratch,"
		if entry.Scratch {
			sizes.Subject = "argument " + entry.Name.Text + ", but for its shape,"
		}
		a, err := r.argument(entry)
		if err != nil {
			return nil, err
		}
		if slices.ContainsFunc(list, func(other Argument) bool { return other.Name == a.Name }) {
			return nil, entry.Name.At.Errorf("argument %s is listed twice", a.Name)
		}
		list = append(list, a)
	}
	if !slices.ContainsFunc(list, func(a Argument) bool { return a.Out }) {
		return nil,
			entries[0].Name.At.Errorf("no argument is marked out: true or inout: true, so there is no result to check")
	}
	return list, nil
}

func (r Reader) argument(entry Entry) (Argument, error) {
	if !document.IsIdentifier(entry.Name.Text) {
		at := entry.Name.At
		if at.Line == 0 {
			at = document.Top
		}
		return Argument{}, at.Errorf("argument name %q is not an identifier", entry.Name.Text)
	}
	a := Argument{
		Name:    entry.Name.Text,
		Role:    Role{Out: entry.Out || entry.Inout, Inout: entry.Inout, Scratch: entry.Scratch},
		Filling: Filling{filledAt: entry.contentPlace()},
		at:      entry.Name.At,
	}
	if entry.Fields != nil {
		return r.structArgument(a, entry)
	}
	var unknown error
	if a.Element, a.Lanes, unknown = lanesNamed(entry.Type.Text); unknown != nil {
		if err := r.kind(&a, entry, unknown); err != nil {
			return a, err
		}
	}
	if err := r.role(&a, entry); err != nil {
		return a, err
	}
	if scalarArgument := entry.Value.Text != ""; scalarArgument == (entry.Shape != nil) {
		return a, entry.Name.At.Errorf("argument %s needs either a shape (a buffer) or a value (a scalar)", a.Name)
	}
	if entry.Value.Text != "" {
		return r.scalarArgument(a, entry)
	}
	return r.bufferArgument(a, entry)
}

func (r Reader) scalarArgument(a Argument, entry Entry) (Argument, error) {
	if a.Lanes > 1 {
		return a, entry.Name.At.Errorf("argument %s: a scalar is one number; pass the %d of %s one by one, or as a buffer",
			a.Name, a.Lanes, entry.Type.Text)
	}
	if a.Written() || entry.Init.Text != "" || entry.Tolerance != nil || entry.Fill.given() || entry.From != nil ||
		entry.Answer != nil || entry.Align.Text != "" || entry.Families != nil || entry.Large.Text != "" ||
		entry.Range != nil || entry.TensorMap != nil {
		return a, entry.Name.At.Errorf("argument %s is a scalar: out, inout, init, scratch, tolerance, fill, from, answer, "+
			"families, large, range, align and tensormap belong to buffers", a.Name)
	}
	var err error
	a.Value, err = document.Compile(r.Sizes, entry.Value, result(a.Element))
	return a, err
}

func (r Reader) bufferArgument(a Argument, entry Entry) (Argument, error) {
	if err := r.shape(&a, entry); err != nil {
		return a, err
	}
	if a.Written() && !a.Inout && entry.Fill.given() {
		return a, entry.Fill.kind.At.Errorf("argument %s is an output: it is poisoned before each run, so it has no fill; "+
			"inout: true says that the kernel reads it, too, and init: 0 that it starts at a number", a.Name)
	}
	if a.Written() && !a.Inout {
		if a.Init != nil {
			a.Fill = Initial
		}
	} else if err := r.fill(&a, entry); err != nil {
		return a, err
	}
	for _, step := range []func(*Argument, Entry) error{r.data, r.valueRange, r.families, r.tensorMap} {
		if err := step(&a, entry); err != nil {
			return a, err
		}
	}
	err := a.aligned(entry.Align, a.Element.Size)
	if entry.Align.Text == "" {
		a.Align = a.alignment()
	}
	return a, err
}

// shape compiles the sizes of a buffer. Nobody but the kernel sees scratch, so its size may follow the point.
func (r Reader) shape(a *Argument, entry Entry) (err error) {
	if len(entry.Shape) == 0 {
		return entry.Name.At.Errorf("argument %s has an empty shape", a.Name)
	}
	scope := r.Sizes
	if a.Scratch {
		scope = r.All
	}
	if a.Shape, err = document.CompileAll(scope, entry.Shape, space.WholeNumber); err != nil {
		return err
	}
	for _, size := range a.Shape {
		for _, name := range size.Names() {
			if !r.Sizes.Has(name) && !slices.Contains(a.Parameters, name) {
				a.Parameters = append(a.Parameters, name)
			}
		}
	}
	return nil
}

// Parameters are those that the size of scratch depends on.
func (l List) Parameters() (names []string) {
	for _, a := range l {
		names = append(names, a.Parameters...)
	}
	return names
}

// valueRange compiles the range of an input. What a constant is needs no range.
func (r Reader) valueRange(a *Argument, entry Entry) (err error) {
	if entry.Range == nil {
		return nil
	}
	if a.Written() && !a.Inout || !slices.Contains([]string{Uniform, Normal, Sorted, Reversed}, a.Fill) ||
		a.structure != nil && a.structure.kind != a.Fill {
		return entry.Name.At.Errorf("argument %s: range belongs to inputs that are filled with %s, %s, %s or %s", a.Name,
			Uniform, Normal, Sorted, Reversed)
	}
	if len(entry.Range) != 2 {
		return entry.Name.At.Errorf("argument %s: range is two formulas over the sizes, the smallest and the largest "+
			"number: [0, N - 1]", a.Name)
	}
	if a.Low, err = document.Compile(r.Sizes, entry.Range[0], result(a.Element)); err != nil {
		return err
	}
	a.High, err = document.Compile(r.Sizes, entry.Range[1], result(a.Element))
	return err
}

// contentPlace is where an argument says what it holds.
func (e Entry) contentPlace() document.Place {
	switch {
	case e.Fill.given():
		return e.Fill.kind.At
	case e.From != nil:
		return e.From[0].At
	case e.Answer != nil:
		return e.Answer[0].At
	}
	return e.Name.At
}

func (r Reader) families(a *Argument, entry Entry) error {
	if a.Written() && !a.Inout && (entry.Families != nil || entry.Large.Text != "") {
		return entry.Name.At.Errorf("argument %s: families and large belong to inputs", a.Name)
	}
	if !a.Element.Float && entry.Large.Text != "" {
		return entry.Name.At.Errorf("argument %s: large belongs to inputs of a floating-point type; integers have a range",
			a.Name)
	}
	if entry.Families != nil {
		a.Families = []string{}
	}
	for _, name := range entry.Families {
		if !slices.Contains(Families, name.Text) {
			return name.At.Errorf("argument %s: no family %q; there are %s", a.Name, name.Text, strings.Join(Families, ", "))
		}
		if may := a.available(); !slices.Contains(may, name.Text) {
			if len(may) == 0 {
				return name.At.Errorf("argument %s: what is filled with %s takes no families", a.Name, a.Fill)
			}
			return name.At.Errorf("argument %s: %s has no family %q here; it has %s", a.Name, a.Element.Name, name.Text,
				strings.Join(may, ", "))
		}
		a.Families = append(a.Families, name.Text)
	}
	if entry.Large.Text == "" {
		return nil
	}
	factor, err := strconv.ParseFloat(entry.Large.Text, 64)
	if err != nil || !(factor >= 1 && factor <= 1e30) {
		return entry.Large.At.Errorf("argument %s: large is %q: a factor from 1 to 1e30", a.Name, entry.Large.Text)
	}
	a.Large = factor
	return nil
}
