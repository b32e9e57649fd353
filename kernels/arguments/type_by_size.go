package arguments

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/internal/collect"
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

// Tolerance bounds the error of a result: |x - ref| <= Absolute + Relative*|ref|.
type Tolerance struct {
	Absolute float64 `json:"atol"`
	Relative float64 `json:"rtol"`
}

// Typical are the tolerances of types for results of order 1 that are sums of
// some hundred products. Half precision's is the customary one; the others have
// the same distance from their type's last digit, but f32, whose kernels sum in
// f32 as well.
var Typical = map[string]Tolerance{
	"f64":  {Absolute: 1e-12, Relative: 1e-12},
	"f32":  {Absolute: 1e-5, Relative: 1e-4},
	"f16":  {Absolute: 2e-3, Relative: 1e-3},
	"bf16": {Absolute: 1.6e-2, Relative: 8e-3},
	"e4m3": {Absolute: 0.25, Relative: 0.125},
	"e5m2": {Absolute: 0.5, Relative: 0.25},
}

// TypicalOf returns the tolerance for a kernel that states none: that of
// its least precise output. Integers are exact.
func TypicalOf(arguments List) Tolerance {
	tolerances := collect.Each(arguments.Outputs(), func(a Argument) Tolerance { return Typical[a.Element.Name] })
	return slices.MaxFunc(tolerances, func(a, b Tolerance) int { return cmp.Compare(a.Absolute, b.Absolute) })
}

// Stated is a tolerance as the manifest states it: formulas over the sizes.
type Stated struct {
	formulas []*space.Expression // of Absolute and Relative
	at       document.Place
}

// Tolerance compiles what is stated, and evaluates it for the first workload.
func (r Reader) Tolerance(entry ToleranceEntry, at document.Place) (*Stated, Tolerance, error) {
	if entry.Absolute.Text == "" || entry.Relative.Text == "" {
		return nil, Tolerance{}, at.Errorf("tolerance needs both atol and rtol")
	}
	formulas, err := document.CompileAll(r.Sizes, []document.Scalar{entry.Absolute, entry.Relative}, space.Number)
	if err != nil {
		return nil, Tolerance{}, err
	}
	s := &Stated{formulas, entry.Absolute.At}
	tolerance, err := s.For(r.First)
	if err != nil {
		return nil, Tolerance{}, s.at.Errorf("%s", err)
	}
	return s, tolerance, nil
}

// For evaluates the formulas for some sizes.
func (s *Stated) For(env space.Environment) (t Tolerance, err error) {
	for i, bound := range []*float64{&t.Absolute, &t.Relative} {
		if *bound, err = s.formulas[i].Number(env); err == nil && !(*bound >= 0 && *bound < 1) {
			err = fmt.Errorf("tolerance %v is not between 0 and 1; integers have to be equal and need none", *bound)
		}
		if err != nil {
			return t, err
		}
	}
	return t, nil
}

// Decisions are its formulas; none of none.
func (s *Stated) Decisions(what string) []Decision {
	if s == nil {
		return nil
	}
	return []Decision{{what, s.formulas[0], s.at}, {what, s.formulas[1], s.at}}
}
