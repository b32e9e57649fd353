package arguments

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"pawl/kernels/document"
	"pawl/space"
)

// largestBuffer bounds one buffer, in bytes: a slip in a shape should be an
// error and not a machine that swaps.
const largestBuffer = 64 << 30

// Bind evaluates the arguments for the sizes of a problem, with the inputs of a family. An
// error is a *BindError.
func (l List) Bind(env space.Environment, family string) ([]Binding, error) {
	bindings := make([]Binding, 0, len(l))
	for _, a := range l {
		b := Binding{
			Name: a.Name, Type: a.Element.Name, Out: a.Out, Align: a.Align,
			Restored: a.Restored(), Scratch: a.Scratch, Symbol: a.Symbol, Tolerance: a.Tolerance,
			Values: Values{Fill: a.Fill, Large: a.Large},
		}
		patterned := slices.Contains(patterns, family) && slices.Contains(a.kinds(), family)
		if a.takes(family) || !patterned && slices.Contains(a.kinds(), family) {
			b.Fill = family
		}
		var err error
		switch {
		case a.Shape != nil:
			err = a.bindBuffer(&b, env)
		case a.Fields == nil:
			err = a.bindNumber(&b, a.Value, env)
		}
		if err == nil && a.Fields != nil {
			err = a.bindFields(&b, env, family)
		}
		if inner, ok := errors.AsType[*BindError](err); ok {
			return nil, inner // of a field
		}
		if err != nil {
			return nil, &BindError{a.Name, a.at, a.Parameters != nil, err}
		}
		if patterned {
			b.Pattern = b.pattern(family)
		}
		bindings = append(bindings, b)
	}
	for i, a := range l {
		if err := l.bindContent(bindings, i, env); err != nil {
			return nil, &BindError{a.Name, a.filledAt, false, err}
		}
	}
	return bindings, nil
}

// BindError says which argument cannot be bound, and where the manifest has what is wrong.
type BindError struct {
	Argument string
	At       document.Place
	// Scratch says that its size depends on parameters, so that other points may do.
	Scratch bool
	error
}

func (e *BindError) Unwrap() error { return e.error }

// Of completes an error of Bind: whose argument it is, and at which sizes.
func (e *BindError) Of(kernel, sizes string) error {
	return &BindError{e.Argument, e.At, e.Scratch,
		fmt.Errorf("argument %s of %s at %s: %w", e.Argument, kernel, sizes, e.error)}
}

func (a Argument) bindBuffer(b *Binding, env space.Environment) error {
	lanes := int64(max(a.Lanes, 1))
	b.Count = 1
	for _, size := range a.Shape {
		n, err := size.Integer(env)
		if err != nil {
			return err
		}
		b.shape = append(b.shape, n)
		// No size is 0 by accident, but where a dimension is.
		empty := n == 0 && slices.ContainsFunc(size.Names(), func(name string) bool { return env[name] == 0 })
		if n < 1 && !empty || float64(n)*float64(b.Count)*float64(a.Element.Size)*float64(lanes) > largestBuffer {
			return fmt.Errorf("size %d in shape is out of range", n)
		}
		b.Count *= n
		b.Row = n
	}
	b.Empty = b.Count == 0
	if lanes > 1 {
		b.Count, b.Row, b.shape = b.Count*lanes, b.Row*lanes, append(b.shape, lanes)
	}
	if a.Init != nil {
		if err := a.bindNumber(b, a.Init, env); err != nil {
			return fmt.Errorf("init: %w", err)
		}
	}
	if a.Low == nil {
		return nil
	}
	bind := a.bindRange
	if a.Element.Float {
		bind = a.bindBounds
	}
	if err := bind(b, env); err != nil {
		return fmt.Errorf("range: %w", err)
	}
	return nil
}

// bindRange evaluates the range of an input of integers.
func (a Argument) bindRange(b *Binding, env space.Environment) error {
	low, err := a.fitting(a.Low, env)
	if err != nil {
		return err
	}
	high, err := a.fitting(a.High, env)
	if err == nil && low > high {
		err = fmt.Errorf("nothing lies from %d to %d", low, high)
	}
	b.Range = &Range{low, high}
	return err
}

// bindBounds evaluates the range of a float input.
func (a Argument) bindBounds(b *Binding, env space.Environment) error {
	low, err := a.Low.Number(env)
	if err != nil {
		return err
	}
	high, err := a.High.Number(env)
	switch {
	case err != nil:
	case low > high:
		err = fmt.Errorf("nothing lies from %g to %g", low, high)
	case !a.Element.Holds(low) || !a.Element.Holds(high) || math.IsInf(high-low, 0):
		err = fmt.Errorf("%s does not hold all numbers from %g to %g", a.Element.Name, low, high)
	}
	b.Bounds = &Bounds{low, high}
	return err
}
