package arguments

import (
	"cmp"
	"pawl/kernels/document"
	"slices"
)

// Tolerance bounds the error of a result: |x - ref| <= Absolute + Relative*|ref|.
type Tolerance struct {
	Absolute float64 `json:"atol"`
	Relative float64 `json:"rtol"`
	// Derived, if not 0, replaces that bound: a result may be so many times as
	// far off as the worst element of the kernel's naive implementation, which
	// computes in the same precision. The naive one must keep the bound above.
	Derived float64 `json:"derived,omitempty"`
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
func TypicalOf(arguments []Argument) Tolerance {
	var tolerances []Tolerance
	for _, a := range arguments {
		if a.Out {
			tolerances = append(tolerances, Typical[a.Element.Name])
		}
	}
	return slices.MaxFunc(tolerances, func(a, b Tolerance) int { return cmp.Compare(a.Absolute, b.Absolute) })
}

// Bounds checks what is stated.
func (t *ToleranceEntry) Bounds(at document.Place) (Tolerance, error) {
	if t.Absolute == nil || t.Relative == nil {
		return Tolerance{}, at.Errorf("tolerance needs both atol and rtol")
	}
	for _, bound := range []float64{*t.Absolute, *t.Relative} {
		if !(bound >= 0 && bound < 1) {
			return Tolerance{}, at.Errorf("tolerance %v is not between 0 and 1", bound)
		}
	}
	return Tolerance{*t.Absolute, *t.Relative, t.Derived}, nil
}
