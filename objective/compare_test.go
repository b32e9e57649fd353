package objective

import (
	"math"
	"strings"
	"testing"

	"pawl/kernels"
)

func buffer(t *testing.T, e kernels.Element, values ...float64) []byte {
	t.Helper()
	b := make([]byte, e.Size*len(values))
	for i, v := range values {
		e.Store(b[i*e.Size:], v)
	}
	return b
}

func TestCompare(t *testing.T) {
	f32, err := kernels.ElementNamed("f32")
	if err != nil {
		t.Fatal(err)
	}
	argument := kernels.Argument{Name: "c", Element: f32, Out: true}
	tolerance := kernels.Tolerance{Absolute: 1e-3, Relative: 1e-2}
	for _, test := range []struct {
		name string
		got  []float64
		bad  int
	}{
		{"equal", []float64{0, 1, 100}, 0},
		{"inside", []float64{0.0009, 1.0109, 100.9}, 0}, // 1e-3 + 1e-2*|ref|
		{"absolute", []float64{0.0011, 1, 100}, 1},
		{"relative", []float64{0, 1.012, 102}, 2},
		{"NaN", []float64{0, math.NaN(), 100}, 1},
		{"infinite", []float64{0, 1, math.Inf(1)}, 1},
		{"zeros", []float64{0, 0, 0}, 2},
	} {
		t.Run(test.name, func(t *testing.T) {
			mismatch, err := compare(argument, buffer(t, f32, test.got...), buffer(t, f32, 0, 1, 100), tolerance)
			if err != nil {
				t.Fatal(err)
			}
			bad := 0
			if mismatch != nil {
				bad = mismatch.Bad
			}
			if bad != test.bad {
				t.Errorf("%d bad, want %d", bad, test.bad)
			}
		})
	}
	mismatch, err := compare(argument, buffer(t, f32, 0, 5, math.NaN()), buffer(t, f32, 0, 1, 100), tolerance)
	if err != nil || mismatch.First != 1 || mismatch.Got != 5 || !math.IsInf(mismatch.Worst, 1) {
		t.Errorf("%+v, %v", mismatch, err)
	}
	if text := mismatch.String(); !strings.Contains(text, "c[1] is 5, the reference says 1; 2 of 3") {
		t.Errorf("%s", text)
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, math.NaN()), tolerance); err == nil {
		t.Error("a reference of NaN is no error")
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, 1, 2), tolerance); err == nil {
		t.Error("sizes differ without an error")
	}
}

func TestMatrixAndQuickCases(t *testing.T) {
	k := &kernels.Kernel{Fuzz: map[string][]int64{"S": {1, 33, 128}, "B": {1, 2}}}
	w := kernels.Workload{Dims: kernels.Dims{"S": 512, "B": 4, "D": 64}}
	matrix := Matrix(k, w)
	if len(matrix) != 6 {
		t.Fatalf("%d shapes, want 6", len(matrix))
	}
	for _, shape := range matrix {
		if shape["D"] != 64 {
			t.Errorf("%s: a dimension without sizes keeps the workload's", shape)
		}
	}
	cases := quickCases(matrix, 2, 1)
	if len(cases) != 2 || cases[0].Dims.String() == cases[1].Dims.String() {
		t.Errorf("%v", cases)
	}
	for _, c := range cases {
		if c.Dims["S"] == 128 && c.Dims["B"] == 2 {
			t.Error("the dearest shape in the quick tier")
		}
	}
	if again := quickCases(matrix, 2, 1); again[0].Seed != cases[0].Seed {
		t.Error("not repeatable")
	}
	if other := quickCases(matrix, 2, 2); other[0].Seed == cases[0].Seed {
		t.Error("another point, the same inputs")
	}
}
