package check

import (
	"math"
	"strings"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/objective/worker"
)

func buffer(t *testing.T, e element.Type, values ...float64) []byte {
	t.Helper()
	b := make([]byte, e.Size*len(values))
	for i, v := range values {
		e.Store(b[i*e.Size:], v)
	}
	return b
}

func TestCompare(t *testing.T) {
	f32, err := element.Named("f32")
	if err != nil {
		t.Fatal(err)
	}
	argument := arguments.Argument{Name: "c", Layout: arguments.Layout{Element: f32}}
	tolerance := arguments.Tolerance{Absolute: 1e-3, Relative: 1e-2}
	for _, test := range []struct {
		name string
		got  []float64
		bad  int64
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
			mismatch, err := compare(argument, buffer(t, f32, test.got...), buffer(t, f32, 0, 1, 100), tolerance, false)
			if err != nil {
				t.Fatal(err)
			}
			bad := int64(0)
			if mismatch != nil {
				bad = mismatch.Bad
			}
			if bad != test.bad {
				t.Errorf("%d bad, want %d", bad, test.bad)
			}
		})
	}
	nan, infinity := math.NaN(), math.Inf(1)
	special, err := compare(argument, buffer(t, f32, nan, infinity, -infinity, 1, 5, nan),
		buffer(t, f32, nan, infinity, infinity, nan, infinity, 1), tolerance, true)
	if err != nil || special.Bad != 4 || special.First != 2 || special.NotFinite != 4 {
		t.Errorf("%+v, %v", special, err)
	}
	mismatch, err := compare(argument, buffer(t, f32, 0, 5, math.NaN()), buffer(t, f32, 0, 1, 100), tolerance, false)
	if err != nil || mismatch.First != 1 || mismatch.Got != "5" || !math.IsInf(float64(mismatch.Worst), 1) ||
		mismatch.NotFinite != 1 {
		t.Errorf("%+v, %v", mismatch, err)
	}
	if text := mismatch.String(); !strings.Contains(text,
		"c[1] is 5, the reference says 1; 2 of 3 elements wrong (66.7 %), worst error +Inf, 1 NaN or infinite") {
		t.Errorf("%s", text)
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, math.NaN()), tolerance, false); err == nil {
		t.Error("a reference of NaN is no error")
	}
	if _, err := compare(argument, buffer(t, f32, 1), buffer(t, f32, 1, 2), tolerance, false); err == nil {
		t.Error("sizes differ without an error")
	}
}

// Integers are equal or wrong, whatever the tolerance of other outputs: no float on
// the way hides a difference.
func TestIntegersAreComparedExactly(t *testing.T) {
	for _, test := range []struct {
		typ       string
		got, want int64
		worst     float64
		text      string
	}{
		{"i64", 1<<53 + 1, 1 << 53, 1, "y[1] is 9007199254740993, the reference says 9007199254740992"},
		{"i64", 1<<63 - 1, 1<<63 - 2, 1, "y[1] is 9223372036854775807"},
		{"i64", -1 << 63, 1<<63 - 1, 0x1p64, "y[1] is -9223372036854775808"},
		{"i32", 1_000_001, 1_000_000, 1, "y[1] is 1000001, the reference says 1000000"},
		{"u8", 255, 254, 1, "y[1] is 255"},
		{"i8", -128, 127, 255, "y[1] is -128, the reference says 127"},
		{"i16", -32768, -32767, 1, "y[1] is -32768"},
		{"u16", 65535, 0, 65535, "y[1] is 65535"},
		{"u32", 1<<32 - 1, 1<<32 - 2, 1, "y[1] is 4294967295, the reference says 4294967294"},
		{"u64", -1, 1, 0x1p64, "y[1] is 18446744073709551615, the reference says 1"}, // 2^64 - 2 as a float
		{"u64", -1, -2, 1, "the reference says 18446744073709551614"},
	} {
		element, err := element.Named(test.typ)
		if err != nil {
			t.Fatal(err)
		}
		got, want := make([]byte, 3*element.Size), make([]byte, 3*element.Size)
		element.PutInteger(want[element.Size:], test.want)
		element.PutInteger(got[element.Size:], test.got)
		argument := arguments.Argument{Name: "y", Layout: arguments.Layout{Element: element}}
		loose := arguments.Tolerance{Absolute: 0.5, Relative: 0.5}
		mismatch, err := compare(argument, got, want, loose, false)
		if err != nil || mismatch == nil || mismatch.Bad != 1 || float64(mismatch.Worst) != test.worst ||
			!strings.Contains(mismatch.String(), test.text) {
			t.Errorf("%s: %v, %v, want %q", test.typ, mismatch, err, test.text)
		}
		if mismatch, err = compare(argument, want, want, arguments.Tolerance{}, false); mismatch != nil || err != nil {
			t.Errorf("%s: equal is wrong: %v, %v", test.typ, mismatch, err)
		}
	}
}

// Elements that a reference on a GPU leaves as they were poisoned are no numbers: the message asks for the shape, as
// the host's does.
func TestADeviceAsksForTheShape(t *testing.T) {
	_, err := firstMismatch(worker.Result{Comparisons: []worker.Comparison{{Argument: "y", Undefined: 3}}}, false)
	if err == nil || !strings.Contains(err.Error(), "3 values for y") ||
		!strings.Contains(err.Error(), "is the shape of y too large?") {
		t.Error(err)
	}
}
