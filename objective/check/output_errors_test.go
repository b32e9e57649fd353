package check

import (
	"math"
	"slices"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

func TestRelativeErrors(t *testing.T) {
	f32, err := element.Named("f32")
	if err != nil {
		t.Fatal(err)
	}
	// Exact, at the edge, wrong, NaN, infinite, near.
	want := buffer(t, f32, 1, 1, 1, 1, 1, 1)
	got := buffer(t, f32, 1, 1.25, 3, math.NaN(), math.Inf(1), 1.0625)
	errors := slices.Collect(relativeErrors(f32, got, want, arguments.Tolerance{Absolute: 0.25}))
	for i, x := range []float64{0, 1, 8, math.Inf(1), math.Inf(1), 0.25} {
		if errors[i] != x {
			t.Errorf("error %d is %v allowances, want %v", i, errors[i], x)
		}
	}
}
