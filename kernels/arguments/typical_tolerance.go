package arguments

import (
	"cmp"
	"fmt"
	"slices"

	"pawl/internal/collect"
	"pawl/kernels/document"
	"pawl/space"
)

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
