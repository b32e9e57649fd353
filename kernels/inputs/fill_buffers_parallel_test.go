package inputs

import (
	"bytes"
	"math"
	"runtime"
	"testing"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// filled returns the content of a buffer as bytes and as numbers.
func filled(t testing.TB, b arguments.Binding, seed uint64) ([]byte, []float64) {
	t.Helper()
	e, err := element.Named(b.Type)
	if err != nil {
		t.Fatal(err)
	}
	content := make([]byte, int(b.Count)*e.Size)
	if err := new(Source).Fill(content, b, seed); err != nil {
		t.Fatal(err)
	}
	values := make([]float64, b.Count)
	for i := range values {
		values[i] = e.Load(content[i*e.Size:])
	}
	return content, values
}

// everyFill returns the fills of a type.
func everyFill(typ string) []string {
	if e, _ := element.Named(typ); !e.Float {
		return []string{"zeros", "ones", arguments.Normal, arguments.Uniform, arguments.Extremes, arguments.Powers,
			arguments.Small, arguments.Repeated, arguments.Sorted, arguments.Reversed}
	}
	return []string{"zeros", "ones", arguments.Normal, arguments.Uniform, arguments.Signs, arguments.OneHot,
		arguments.NearTies, arguments.Denormals, arguments.Large, arguments.Overflow}
}

// The content depends on seed, name, fill and index, and on nothing else: not
// on the number of cores, and not on how long the buffer is.
func TestFillIsTheSameForEveryoneWhoAsks(t *testing.T) {
	for _, typ := range []string{"f64", "f32", "f16", "bf16", "e4m3", "e5m2", "i64", "i32", "i16", "i8", "u64", "u32",
		"u16", "u8"} {
		for _, fill := range everyFill(typ) {
			b := arguments.Binding{Name: "q", Type: typ, Count: 5*block + 77, Row: 64,
				Values: arguments.Values{Fill: fill, Large: 4}}
			long, _ := filled(t, b, 7)
			cores := runtime.GOMAXPROCS(1)
			alone, _ := filled(t, b, 7)
			runtime.GOMAXPROCS(5)
			crowd, _ := filled(t, b, 7)
			runtime.GOMAXPROCS(cores)
			if !bytes.Equal(long, alone) || !bytes.Equal(long, crowd) {
				t.Errorf("%s %s: the number of cores changes the content", fill, typ)
			}
			b.Count = block + 3
			if short, _ := filled(t, b, 7); !bytes.Equal(short, long[:len(short)]) {
				t.Errorf("%s %s: the length changes the content", fill, typ)
			}
			b.Name = "k"
			other, _ := filled(t, b, 7)
			b.Name = "q"
			fresh, _ := filled(t, b, 8)
			constant := fill == "zeros" || fill == "ones"
			if bytes.Equal(other, long[:len(other)]) != constant || bytes.Equal(fresh, long[:len(fresh)]) != constant {
				t.Errorf("%s %s: another name or seed, the same content", fill, typ)
			}
		}
	}
}

func moments(values []float64) (mean, variance, fourth float64) {
	for _, x := range values {
		mean += x / float64(len(values))
	}
	for _, x := range values {
		d := x - mean
		variance += d * d / float64(len(values))
		fourth += d * d * d * d / float64(len(values))
	}
	return mean, variance, fourth
}

func TestFillDistributions(t *testing.T) {
	const n = 400_000
	for _, test := range []struct {
		fill             string
		variance, fourth float64 // of the exact distribution
	}{
		{arguments.Normal, 1, 3}, {arguments.Uniform, 1. / 3, 1. / 5}, {arguments.Signs, 1, 1},
		{arguments.Large, 16, 3 * 256},
	} {
		_, values := filled(t, arguments.Binding{Name: "x", Type: "f64", Count: n, Row: 4,
			Values: arguments.Values{Fill: test.fill, Large: 4}}, 3)
		mean, variance, fourth := moments(values)
		// Six standard errors; rows of four equal elements double them.
		if limit := 12 * math.Sqrt(test.variance/n); math.Abs(mean) > limit {
			t.Errorf("%s: mean %g", test.fill, mean)
		}
		if math.Abs(variance/test.variance-1) > 0.02 || math.Abs(fourth/test.fourth-1) > 0.06 {
			t.Errorf("%s: variance %g, fourth moment %g, want %g and %g", test.fill, variance, fourth, test.variance,
				test.fourth)
		}
	}
}

func TestFillShapes(t *testing.T) {
	const row = 10
	b := arguments.Binding{Name: "x", Type: "f32", Count: 100 * row, Row: row,
		Values: arguments.Values{Fill: arguments.OneHot}}
	_, values := filled(t, b, 1)
	places := map[int]bool{}
	for r := range 100 {
		ones := 0
		for c, x := range values[r*row : (r+1)*row] {
			if x == 1 {
				ones++
				places[c] = true
			} else if x != 0 {
				t.Fatalf("%g in a one-hot row", x)
			}
		}
		if ones != 1 {
			t.Errorf("row %d has %d ones", r, ones)
		}
	}
	if len(places) != row {
		t.Errorf("only columns %v are ever hot", places)
	}
	b.Fill = arguments.Overflow
	_, values = filled(t, b, 1)
	if mean, _, _ := moments(values); mean < overflowing/4 || mean > overflowing*3/4 { // half of it, in 100 rows
		t.Errorf("the mean of overflowing rows is %g", mean)
	}
	for i, x := range values {
		if math.Abs(x) != overflowing || x != values[i/row*row] {
			t.Fatalf("element %d of an overflowing row is %g", i, x)
		}
	}
	b.Large = 256 // stated by the argument, and more than that
	_, values = filled(t, b, 1)
	if x := math.Abs(values[0]); x != 256 {
		t.Errorf("an overflowing row of an argument with large: 256 holds %g", x)
	}
	for typ, least := range map[string]float64{"f32": 0x1p-126, "f16": 0x1p-14, "e4m3": 0x1p-6} {
		_, values = filled(t, arguments.Binding{Name: "x", Type: typ, Count: 1000,
			Values: arguments.Values{Fill: arguments.Denormals}}, 1)
		small := 0
		for _, x := range values {
			if math.Abs(x) < least {
				small++
			}
		}
		if small < 400 || small > 700 { // half, and what of the rest rounds to little
			t.Errorf("%s: %d of 1000 below the smallest normal number", typ, small)
		}
		distinct := map[float64]bool{}
		_, values = filled(t, arguments.Binding{Name: "x", Type: typ, Count: 1000,
			Values: arguments.Values{Fill: arguments.NearTies}}, 1)
		for _, x := range values {
			distinct[x] = true
		}
		if len(distinct) != 4 || !distinct[1] {
			t.Errorf("%s: near ties are %v", typ, distinct)
		}
	}
	if err := new(Source).Fill(make([]byte, 4), arguments.Binding{Name: "x", Type: "f32", Count: 1,
		Values: arguments.Values{Fill: "odd"}}, 1); err == nil {
		t.Error("an unknown fill")
	}
}

func BenchmarkFill(b *testing.B) {
	for _, typ := range []string{"f32", "f16"} {
		for _, fill := range []string{arguments.Normal, arguments.Denormals} {
			b.Run(typ+"/"+fill, func(b *testing.B) {
				binding := arguments.Binding{Name: "x", Type: typ, Count: 8 << 20, Row: 64, Values: arguments.Values{Fill: fill}}
				e, _ := element.Named(typ)
				content := make([]byte, int(binding.Count)*e.Size)
				defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
				for b.Loop() {
					if err := new(Source).Fill(content, binding, 1); err != nil {
						b.Fatal(err)
					}
				}
			})
		}
	}
}
