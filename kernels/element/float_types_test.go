package element

import (
	"encoding/binary"
	"math"
	"testing"
)

// Values from the definition of IEEE 754 binary16.
func TestHalfPrecision(t *testing.T) {
	halfToFloat := func(bits uint16) float64 { return f16.decode(uint64(bits)) }
	floatToHalf := func(x float64) uint16 { return uint16(f16.encode(x)) }
	for _, test := range []struct {
		bits  uint16
		value float64
	}{
		{0x3c00, 1}, {0xc000, -2}, {0x7bff, 65504}, {0x0400, 0x1p-14}, {0x0001, 0x1p-24}, {0x3555, 0.333251953125},
		{0x0000, 0},
	} {
		if got := halfToFloat(test.bits); got != test.value {
			t.Errorf("%#04x: got %v, want %v", test.bits, got, test.value)
		}
		if got := floatToHalf(test.value); got != test.bits {
			t.Errorf("%v: got %#04x, want %#04x", test.value, got, test.bits)
		}
	}
	for value, want := range map[float64]uint16{
		65519.9:       0x7bff,
		65520:         0x7c00,
		1 + 0x1p-11:   0x3c00,
		1 + 3*0x1p-11: 0x3c02,
		0x1p-25:       0,
		0x1.8p-25:     1,
		math.Inf(-1):  0xfc00,
	} {
		if got := floatToHalf(value); got != want {
			t.Errorf("%v: got %#04x, want %#04x", value, got, want)
		}
	}
	for bits := range uint16(0x7c00) { // every finite positive number survives
		if got := floatToHalf(halfToFloat(bits)); got != bits {
			t.Fatalf("%#04x becomes %#04x", bits, got)
		}
	}
	for bits := range uint16(0x7bff) { // the middle goes to even, its sides to the nearer
		low, high := halfToFloat(bits), halfToFloat(bits+1)
		middle := (low + high) / 2
		for value, want := range map[float64]uint16{
			middle:                       bits + bits&1,
			math.Nextafter(middle, low):  bits,
			math.Nextafter(middle, high): bits + 1,
		} {
			if got := floatToHalf(-value); got != want|0x8000 {
				t.Fatalf("%v becomes %#04x, want %#04x", -value, got, want|0x8000)
			}
		}
	}
	if !math.IsNaN(halfToFloat(floatToHalf(math.NaN()))) || !math.IsInf(halfToFloat(0xfc00), -1) ||
		!math.Signbit(halfToFloat(0x8000)) {
		t.Error("NaN, infinity or the sign of zero does not survive")
	}
}

func TestElementsRoundTrip(t *testing.T) {
	for _, e := range elements {
		buffer := make([]byte, 8)
		for _, x := range []float64{0, 1, 2, 96} {
			e.Store(buffer, x)
			if got := e.Load(buffer); got != x {
				t.Errorf("%s: %v becomes %v", e.Name, x, got)
			}
		}
	}
	if _, err := Named("f8"); err == nil {
		t.Error("an unknown type")
	}
}

// Every number that lies between two others goes to the nearer one, and the
// middle to even: what is rounded to float32 first does not.
func TestBrainFloat(t *testing.T) {
	e, err := Named("bf16")
	if err != nil {
		t.Fatal(err)
	}
	buffer := make([]byte, 2)
	store := func(x float64) uint16 {
		e.Store(buffer, x)
		return binary.NativeEndian.Uint16(buffer)
	}
	load := func(bits uint16) float64 {
		binary.NativeEndian.PutUint16(buffer, bits)
		return e.Load(buffer)
	}
	for x, want := range map[float64]float64{
		1 + 0x1p-8: 1, 1 + 3*0x1p-8: 1 + 0x1p-6, -3.140625: -3.140625,
		1 + 0x1p-8 + 0x1p-40: 1 + 0x1p-7, 1 + 3*0x1p-8 - 0x1p-40: 1 + 0x1p-7, -1 - 0x1p-8 - 0x1p-40: -1 - 0x1p-7,
		math.MaxFloat64: math.Inf(1), -0x1.fep127: -0x1.fep127, 0x1.fefffffffffffp127: 0x1.fep127, 0x1.ffp127: math.Inf(1),
		0x1p-134: 0, 0x1.0000000000001p-134: 0x1p-133, 0x1p-1000: 0, math.Inf(-1): math.Inf(-1),
	} {
		if got := load(store(x)); got != want {
			t.Errorf("%x: got %x, want %x", x, got, want)
		}
	}
	for bits := range uint16(0x7f7f) {
		low, high := load(bits), load(bits+1)
		middle := (low + high) / 2
		for value, want := range map[float64]uint16{
			low:                          bits,
			middle:                       bits + bits&1,
			math.Nextafter(middle, low):  bits,
			math.Nextafter(middle, high): bits + 1,
		} {
			if got := store(-value); got != want|0x8000 {
				t.Fatalf("%x becomes %#04x, want %#04x", -value, got, want|0x8000)
			}
		}
	}
	if !math.IsNaN(load(store(math.NaN()))) || store(math.Copysign(0, -1)) != 0x8000 {
		t.Error("NaN or the sign of zero does not survive")
	}
}
