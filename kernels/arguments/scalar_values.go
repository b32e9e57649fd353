package arguments

import (
	"fmt"

	"pawl/space"
)

// bindNumber evaluates a number. One that its type cannot hold is an error: the kernel would get another one, and so
// would the reference.
func (a Argument) bindNumber(b *Binding, formula *space.Expression, env space.Environment) (err error) {
	if !a.Element.Float {
		b.Integer, err = a.fitting(formula, env)
		return err
	}
	if b.Value, err = formula.Number(env); err == nil && !a.Element.Holds(b.Value) {
		err = fmt.Errorf("the value %g is too large for %s", b.Value, a.Element.Name)
	}
	return err
}

// fitting evaluates a formula to a number that the argument's type can hold.
func (a Argument) fitting(formula *space.Expression, env space.Environment) (int64, error) {
	n, err := formula.Integer(env)
	if err == nil {
		err = a.Element.Fits(n)
	}
	return n, err
}
