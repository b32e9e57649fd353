package arguments

import (
	"fmt"
	"slices"

	"pawl/kernels/document"
	"pawl/kernels/element"
	"pawl/space"
)

// The type of an argument and tolerances may be formulas over the sizes: one source is then a
// kernel of half precision for some workloads and of bfloat16 for others.

// Decision is a formula over the sizes that one binary, and one check of it, has one value of.
type Decision struct {
	What  string
	Value *space.Expression
	At    document.Place
}

// Decisions are the formulas of types and tolerances.
func (l List) Decisions() (all []Decision) {
	for _, a := range l {
		if a.kind != nil {
			all = append(all, Decision{"the type of argument " + a.Name, a.kind, a.at})
		}
		all = append(append(all, a.stated.Decisions("the tolerance of argument "+a.Name)...), List(a.Fields).Decisions()...)
	}
	return all
}

// For returns the arguments with the types and tolerances that they have for some sizes. An
// error is a *BindError.
func (l List) For(env space.Environment) (List, error) {
	chosen := slices.Clone(l)
	for i := range chosen {
		if err := chosen[i].choose(env); err != nil {
			return nil, &BindError{l[i].Name, l[i].at, false, err}
		}
	}
	return chosen, nil
}

// choose gives an argument the type and the tolerance of some sizes.
func (a *Argument) choose(env space.Environment) error {
	if a.kind != nil {
		name, err := a.kind.Text(env)
		if err != nil {
			return err
		}
		chosen, err := element.Named(name)
		if err != nil {
			return err
		}
		if first := a.Element; first.Name != "" && first.Float != chosen.Float {
			return fmt.Errorf("its type is %s for other sizes and %s for these: only types of floats, or only those of "+
				"integers, can take each other's place", first.Name, chosen.Name)
		}
		customary := a.Align == a.alignment()
		if a.Element = chosen; customary {
			a.Align = a.alignment()
		}
	}
	a.Fields = slices.Clone(a.Fields)
	for i := range a.Fields {
		if err := a.Fields[i].choose(env); err != nil {
			return err
		}
	}
	if a.stated == nil {
		return nil
	}
	tolerance, err := a.stated.For(env)
	a.Tolerance = &tolerance
	return err
}

// kind compiles the type of an argument that is no type's name: a formula whose result is one.
func (r Reader) kind(a *Argument, entry Entry, unknown error) (err error) {
	if document.IsIdentifier(entry.Type.Text) && !r.Sizes.Has(entry.Type.Text) || entry.Type.Text == "" {
		return entry.Name.At.Errorf("argument %s: %s", a.Name, unknown)
	}
	if a.kind, err = document.Compile(r.Sizes, entry.Type, space.Word); err != nil {
		return err
	}
	a.Lanes = 1
	if err := a.choose(r.First); err != nil {
		return entry.Type.At.Errorf("argument %s: %s", a.Name, err)
	}
	return nil
}
