package arguments

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels/arrays"
	"pawl/kernels/element"
	"pawl/space"
)

// Content is what an input holds that is more than numbers drawn one by one, with the
// sizes put in. What does not belong to its kind is zero.
type Content struct {
	// Kind is the declared fill. Where the binding's own fill is another one, it is a
	// family, in a form that keeps the structure.
	Kind string `json:"kind"`
	// Shape is the buffer's.
	Shape []int64 `json:"shape"`
	// Formula gives every element, over the integers and the reals named here and the
	// index.
	Formula  string             `json:"formula,omitempty"`
	Integers map[string]int64   `json:"integers,omitempty"`
	Reals    map[string]float64 `json:"reals,omitempty"`
	// Total is the number of entries of a CSR matrix, Longest the most that a row may
	// have, Skew how unequal rows are: 0 for about equal, more for a few long ones.
	Total   int64   `json:"total,omitempty"`
	Longest int64   `json:"longest,omitempty"`
	Skew    float64 `json:"skew,omitempty"`
	// Rows are the row pointers that columns belong to.
	Rows *Binding `json:"rows,omitempty"`
	// File has all of the content.
	File *arrays.File `json:"file,omitempty"`
}

// bindContent evaluates what the structure of an argument depends on, which may be other
// arguments.
func (l List) bindContent(bindings []Binding, i int, env space.Environment) (err error) {
	a, b := l[i], &bindings[i]
	if len(a.answer) > 0 { // what is read and written has content as well
		if b.Answer, err = matching(a.answer, a.Element, b.shape); err != nil {
			return err
		}
	}
	if len(a.from) > 0 {
		b.Content = &Content{Kind: FromFile, Shape: b.shape}
		b.Content.File, err = matching(a.from, a.Element, b.shape)
		return err
	}
	if a.structure == nil {
		return nil
	}
	switch a.structure.kind {
	case ConstantFill:
		return a.bindNumber(b, a.structure.constant, env)
	case FormulaFill:
		return a.bindFormula(b, env)
	case Indices:
		return l.bindBelow(bindings, i, env)
	}
	b.Content = &Content{Kind: a.structure.kind, Shape: b.shape}
	switch a.structure.kind {
	case Permutation:
		b.Range = &Range{0, b.Row - 1}
		return a.Element.Fits(b.Row - 1)
	case RowPointers:
		return l.bindRows(bindings, i, env)
	case Columns:
		return l.bindColumns(bindings, i, env)
	}
	return nil
}

// formulaTries is how many elements of a formula are tried when it is bound: more would
// make every generated shape slow.
const formulaTries = 8

func (a Argument) bindFormula(b *Binding, env space.Environment) error {
	c := &Content{
		Kind:     FormulaFill,
		Shape:    b.shape,
		Formula:  a.structure.formula.Source(),
		Integers: map[string]int64{},
		Reals:    map[string]float64{},
	}
	b.Content = c
	values, err := a.structure.formula.Values(env)
	if err != nil {
		return err
	}
	for name, value := range values {
		switch x := value.(type) {
		case int:
			c.Integers[name] = int64(x)
		case float64:
			c.Reals[name] = x
		default:
			return fmt.Errorf("the formula uses %s, which is no number", name)
		}
	}
	return a.tryFormula(*b)
}

// Indexed returns the formula of an input that has one.
func (c *Content) Indexed(e element.Type) (*space.Indexed, error) {
	values := space.Environment{}
	for name, n := range c.Integers {
		values[name] = int(n)
	}
	for name, x := range c.Reals {
		values[name] = x
	}
	return space.NewIndexed(c.Formula, values, c.Shape, result(e))
}

// result is what a formula of numbers of a type comes to.
func result(e element.Type) space.Result {
	if e.Float {
		return space.Number
	}
	return space.WholeNumber
}

// tryFormula evaluates a formula for the first element, the last one, and some between.
func (a Argument) tryFormula(b Binding) error {
	f, err := b.Content.Indexed(a.Element)
	if err != nil {
		return err
	}
	step := max(1, (b.Count-1)/(formulaTries-1))
	if step > 1 {
		step |= 1 // an even one would see the same columns again and again
	}
	for i := int64(0); i < b.Count; i += step {
		for _, at := range []int64{i, b.Count - 1 - i} {
			if err := a.Element.Evaluate(f, at, 0.5, nil); err != nil {
				return err
			}
		}
	}
	return nil
}

// other returns the buffer that a fill refers to.
func (l List) other(bindings []Binding, name string) (int, error) {
	i := slices.IndexFunc(bindings, func(b Binding) bool { return b.Name == name && b.IsBuffer() })
	if i < 0 {
		names := collect.Each(collect.Where(bindings, Binding.IsBuffer), func(b Binding) string { return b.Name })
		return 0, fmt.Errorf("no buffer %q among the arguments; there are %v", name, names)
	}
	if parameters := l[i].Parameters; parameters != nil {
		return 0, fmt.Errorf("the size of %s depends on %s, and inputs are the same for all points", name,
			strings.Join(parameters, ", "))
	}
	return i, nil
}

// bindBelow evaluates what indices stay below: a size, the elements of a buffer, or the
// first, which then must not leave the second.
func (l List) bindBelow(bindings []Binding, i int, env space.Environment) error {
	a, b := l[i], &bindings[i]
	below := int64(math.MaxInt64)
	if into := a.structure.into; into != "" {
		other, err := l.other(bindings, into)
		if err != nil {
			return err
		}
		below = bindings[other].Count
	}
	if a.structure.below != nil {
		n, err := a.structure.below.Integer(env)
		switch {
		case err != nil:
			return err
		case n < 1:
			return fmt.Errorf("no index lies below %d", n)
		case n > below:
			return fmt.Errorf("indices below %d would leave %s, which has %d elements", n, a.structure.into, below)
		}
		below = n
	}
	b.Range = &Range{0, below - 1}
	return a.Element.Fits(below - 1)
}

// bindRows evaluates how many entries the rows of a CSR matrix share.
func (l List) bindRows(bindings []Binding, i int, env space.Environment) error {
	a, b := l[i], &bindings[i]
	other, err := l.other(bindings, a.structure.into)
	if err != nil {
		return err
	}
	c, rows, room := b.Content, b.Count-1, bindings[other].Count
	if rows < 1 {
		return fmt.Errorf("row pointers have a number for each row and one more, so at least two")
	}
	c.Total, c.Longest = room, room
	if a.structure.columns != nil {
		if c.Longest, err = a.structure.columns.Integer(env); err != nil {
			return err
		}
		if c.Longest < 1 {
			return fmt.Errorf("rows of %d columns", c.Longest)
		}
	}
	if a.structure.density != nil {
		density, err := a.structure.density.Number(env)
		if err != nil {
			return err
		}
		if density < 0 || density > 1 {
			return fmt.Errorf("a density of %g: it is a share, from 0 to 1", density)
		}
		if c.Total = int64(density * float64(rows) * float64(c.Longest)); c.Total > room {
			return fmt.Errorf("a density of %g of %d rows and %d columns is %d entries, and they would leave %s, which has "+
				"%d elements", density, rows, c.Longest, c.Total, a.structure.into, room)
		}
	}
	if float64(c.Total) > float64(rows)*float64(c.Longest) {
		return fmt.Errorf("%s has %d elements, more than %d rows of %d columns have", a.structure.into, c.Total, rows,
			c.Longest)
	}
	if c.Skew, err = a.structure.skew.Number(env); err != nil {
		return err
	}
	if c.Skew < 0 || c.Skew > 10 {
		return fmt.Errorf("a skew of %g: it is a number from 0, for rows of about the same length, to 10", c.Skew)
	}
	return a.Element.Fits(c.Total)
}

// bindColumns finds the row pointers that columns belong to.
func (l List) bindColumns(bindings []Binding, i int, env space.Environment) error {
	a, b := l[i], &bindings[i]
	if err := l.bindBelow(bindings, i, env); err != nil {
		return err
	}
	at, err := l.other(bindings, a.structure.rows)
	if err != nil {
		return err
	}
	rows := l[at]
	if rows.structure == nil || rows.structure.kind != RowPointers {
		return fmt.Errorf("%s is not filled with %s", rows.Name, RowPointers)
	}
	if rows.structure.into != a.Name {
		return fmt.Errorf("%s points into %s, not into %s", rows.Name, rows.structure.into, a.Name)
	}
	// They may not be bound yet.
	others := slices.Clone(bindings)
	if err := l.bindContent(others, at, env); err != nil {
		return fmt.Errorf("%s: %w", rows.Name, err)
	}
	bound := others[at]
	if a.structure.distinct && bound.Content.Longest > b.Range.High+1 {
		return fmt.Errorf("distinct columns below %d: rows may be longer; give %s columns: %s", b.Range.High+1, rows.Name,
			a.structure.below.Source())
	}
	b.Content.Rows = &bound
	return nil
}
