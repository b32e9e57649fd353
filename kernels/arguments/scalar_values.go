package arguments

import (
	"fmt"

	"pawl/space"
)

// bindScalar evaluates a scalar. A value that its type cannot hold is an error:
// the kernel would get another one, and so would the reference.
func (a Argument) bindScalar(b *Binding, env space.Environment) error {
	if a.Fields != nil {
		return nil
	}
	return a.bindNumber(b, a.Value, env)
}

func (a Argument) bindNumber(b *Binding, formula *space.Expression, env space.Environment) (err error) {
	if !a.Element.Float {
		b.Integer, err = a.fitting(formula, env)
		return err
	}
	if b.Value, err = formula.Number(env); err != nil {
		return err
	}
	if !a.Element.Holds(b.Value) {
		return fmt.Errorf("the value %g is too large for %s", b.Value, a.Element.Name)
	}
	return nil
}

// fitting evaluates a formula to a number that the argument's type can hold.
func (a Argument) fitting(formula *space.Expression, env space.Environment) (int64, error) {
	n, err := formula.Integer(env)
	if low, high := a.Element.Limits(); err == nil && (n < low || n > high) {
		return 0, fmt.Errorf("the value %d does not fit %s, which holds %d to %d", n, a.Element.Name, low, high)
	}
	return n, err
}
