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
	if err != nil || mismatch.First != 1 || mismatch.Got != 5 || !math.IsInf(mismatch.Worst, 1) || mismatch.NotFinite != 1 {
		t.Errorf("%+v, %v", mismatch, err)
	}
	if text := mismatch.String(); !strings.Contains(text, "c[1] is 5, the reference says 1; 2 of 3 elements wrong (66.7 %), worst error +Inf, 1 NaN or infinite") {
		t.Errorf("%s", text)
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, math.NaN()), tolerance); err == nil {
		t.Error("a reference of NaN is no error")
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, 1, 2), tolerance); err == nil {
		t.Error("sizes differ without an error")
	}
}
