package kernels

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
)

// Element is the type of a buffer's elements or of a scalar argument.
type Element struct {
	// Name is the manifest's name of the type, such as f32.
	Name string
	// Size is the size of one element in bytes.
	Size int
	// C is the name of the type in the generated C code.
	C string
	// Float says that the type holds floating-point numbers.
	Float bool

	load  func([]byte) float64
	store func([]byte, float64)
}

// elements is the registry of types. Half-precision types travel as 16-bit
// integers in C: not every host compiler has a type for them.
var elements = []Element{
	{"f64", 8, "double", true,
		func(b []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(b)) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint64(b, math.Float64bits(x)) }},
	{"f32", 4, "float", true,
		func(b []byte) float64 { return float64(math.Float32frombits(binary.NativeEndian.Uint32(b))) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint32(b, math.Float32bits(float32(x))) }},
	{"f16", 2, "uint16_t", true,
		func(b []byte) float64 { return halfToFloat(binary.NativeEndian.Uint16(b)) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint16(b, floatToHalf(x)) }},
	{"bf16", 2, "uint16_t", true,
		func(b []byte) float64 {
			return float64(math.Float32frombits(uint32(binary.NativeEndian.Uint16(b)) << 16))
		},
		func(b []byte, x float64) { binary.NativeEndian.PutUint16(b, floatToBrain(x)) }},
	{"i64", 8, "int64_t", false,
		func(b []byte) float64 { return float64(int64(binary.NativeEndian.Uint64(b))) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint64(b, uint64(int64(x))) }},
	{"i32", 4, "int32_t", false,
		func(b []byte) float64 { return float64(int32(binary.NativeEndian.Uint32(b))) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint32(b, uint32(int32(x))) }},
	{"u8", 1, "uint8_t", false,
		func(b []byte) float64 { return float64(b[0]) },
		func(b []byte, x float64) { b[0] = uint8(x) }},
}

// ElementNamed returns the element type of a name.
func ElementNamed(name string) (Element, error) {
	if i := slices.IndexFunc(elements, func(e Element) bool { return e.Name == name }); i >= 0 {
		return elements[i], nil
	}
	var names []string
	for _, e := range elements {
		names = append(names, e.Name)
	}
	return Element{}, fmt.Errorf("unknown type %q; there are %v", name, names)
}

// Load returns the element at the start of b as a number.
func (e Element) Load(b []byte) float64 { return e.load(b) }

// Store writes x, rounded to the type, to the start of b.
func (e Element) Store(b []byte, x float64) { e.store(b, x) }

// halfToFloat widens an IEEE 754 binary16 number.
func halfToFloat(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&0x1f), float64(h&0x3ff)
	switch exponent {
	case 0:
		return sign * math.Ldexp(fraction, -24)
	case 31:
		if fraction != 0 {
			return math.NaN()
		}
		return sign * math.Inf(1)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

// floatToHalf rounds to the nearest binary16 number, ties to even.
func floatToHalf(x float64) uint16 {
	var sign uint16
	if math.Signbit(x) {
		sign, x = 0x8000, -x
	}
	switch {
	case math.IsNaN(x):
		return sign | 0x7e00
	case x >= 65520: // half a step above the largest finite number
		return sign | 0x7c00
	case x < 0x1p-14: // subnormal: steps of 2^-24
		return sign | uint16(math.RoundToEven(math.Ldexp(x, 24)))
	}
	_, exponent := math.Frexp(x) // x = f * 2^exponent, f in [0.5, 1)
	steps := uint16(math.RoundToEven(math.Ldexp(x, 11-exponent)))
	// A mantissa that rounds up to 2048 carries into the exponent by itself.
	return sign | (uint16(exponent+13)<<10 + steps)
}

// floatToBrain rounds to the nearest bfloat16 number, ties to even.
func floatToBrain(x float64) uint16 {
	bits := math.Float32bits(float32(x))
	if math.IsNaN(x) {
		return uint16(bits>>16) | 0x40
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}
