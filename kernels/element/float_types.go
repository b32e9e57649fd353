// Package element has the types of numbers that arguments consist of: how each is stored,
// rounded, compared and written for people.
package element

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"pawl/internal/collect"
)

// Type is the type of a buffer's elements or of a scalar argument.
type Type struct {
	// Name is the manifest's name of the type, such as f32.
	Name string
	// Size is the size of one element in bytes.
	Size int
	// C is the name of the type in the generated C code.
	C string
	// Float says that the type holds floating-point numbers.
	Float bool
	// Digits is the number of bits of a float's mantissa, the leading one
	// included: neighbors of 1 differ by 2^(1-Digits).
	Digits int
	// Least is the exponent of a float's smallest normal number.
	Least int
	// Unsigned says that an integer type has no negative numbers.
	Unsigned bool

	// Load returns the element at the start of some bytes as a number, Store writes
	// one there, rounded to the type.
	Load  func([]byte) float64
	Store func([]byte, float64)
}

// elements is the registry of types. Short floats travel as integers in C: not
// every host compiler has a type for them.
var elements = []Type{
	{"f64", 8, "double", true, 53, -1022, false,
		func(b []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(b)) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint64(b, math.Float64bits(x)) }},
	{"f32", 4, "float", true, 24, -126, false,
		func(b []byte) float64 { return float64(math.Float32frombits(binary.NativeEndian.Uint32(b))) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint32(b, math.Float32bits(float32(x))) }},
	{"f16", 2, "uint16_t", true, 11, -14, false,
		func(b []byte) float64 { return halfToFloat(binary.NativeEndian.Uint16(b)) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint16(b, floatToHalf(x)) }},
	{"bf16", 2, "uint16_t", true, 8, -126, false,
		func(b []byte) float64 {
			return float64(math.Float32frombits(uint32(binary.NativeEndian.Uint16(b)) << 16))
		},
		func(b []byte, x float64) { binary.NativeEndian.PutUint16(b, floatToBrain(x)) }},
	{"e4m3", 1, "uint8_t", true, 4, -6, false,
		func(b []byte) float64 { return tableE4M3[b[0]] },
		func(b []byte, x float64) { b[0] = e4m3.encode(x) }},
	{"e5m2", 1, "uint8_t", true, 3, -14, false,
		func(b []byte) float64 { return tableE5M2[b[0]] },
		func(b []byte, x float64) { b[0] = e5m2.encode(x) }},
	integerElement("i64", 8, "int64_t", false), integerElement("i32", 4, "int32_t", false),
	integerElement("i16", 2, "int16_t", false), integerElement("i8", 1, "int8_t", false),
	integerElement("u64", 8, "uint64_t", true), integerElement("u32", 4, "uint32_t", true),
	integerElement("u16", 2, "uint16_t", true), integerElement("u8", 1, "uint8_t", true),
}

// Named returns the element type of a name.
func Named(name string) (Type, error) {
	if i := slices.IndexFunc(elements, func(e Type) bool { return e.Name == name }); i >= 0 {
		return elements[i], nil
	}
	names := collect.Each(elements, func(e Type) string { return e.Name })
	return Type{}, fmt.Errorf("unknown type %q; there are %v", name, names)
}

// StoreAll writes numbers, rounded to the type, one after the other.
func (e Type) StoreAll(b []byte, values []float64) {
	switch e.Name { // large buffers are filled with these two
	case "f32":
		for i, x := range values {
			binary.NativeEndian.PutUint32(b[4*i:4*i+4], math.Float32bits(float32(x)))
		}
		return
	case "f16":
		for i, x := range values {
			binary.NativeEndian.PutUint16(b[2*i:2*i+2], floatToHalf(x))
		}
		return
	}
	for i, x := range values {
		e.Store(b[i*e.Size:], x)
	}
}

// Holds reports whether a float type has a finite number next to x.
func (e Type) Holds(x float64) bool {
	largest := math.Ldexp(2-e.Step(), 1-e.Least)
	switch e.Name {
	case "e4m3": // not IEEE's exponents: it has no infinity
		largest = 448
	case "e5m2":
		largest = 57344
	}
	halfStep := math.Ldexp(e.Step(), int(math.Logb(largest))) / 2
	return math.Abs(x) < largest+halfStep
}

// halfToFloat widens an IEEE 754 binary16 number.
func halfToFloat(h uint16) float64 {
	sign, magnitude := uint32(h&0x8000)<<16, uint32(h&0x7fff)
	switch {
	case magnitude < 0x400: // subnormal: steps of 2^-24
		return math.Copysign(float64(magnitude)*0x1p-24, float64(int32(sign|1)))
	case magnitude >= 0x7c00: // infinite, or not a number
		return float64(math.Float32frombits(sign | 0x7f800000 | magnitude<<13))
	}
	const rebias = (127 - 15) << 23
	return float64(math.Float32frombits(sign | (magnitude<<13 + rebias)))
}

// floatToHalf rounds to the nearest binary16 number, ties to even. It works on
// the bits: buffers of millions are filled through it.
func floatToHalf(x float64) uint16 {
	bits := math.Float64bits(x)
	sign, magnitude := uint16(bits>>48&0x8000), bits&^(1<<63)
	const smallest, overflowing = (1023 - 14) << 52, 0x40effe0000000000 // 2^-14; 65520, half a step above the largest
	if magnitude-smallest < overflowing-smallest {
		const dropped, rebias = 52 - 10, (1023 - 15) << 10
		rounded := (magnitude + 1<<(dropped-1) - 1 + magnitude>>dropped&1) >> dropped
		return sign | uint16(rounded-rebias)
	}
	return sign | floatToRareHalf(math.Abs(x))
}

// floatToRareHalf rounds what is no normal binary16 number, without its sign.
func floatToRareHalf(x float64) uint16 {
	switch {
	case math.IsNaN(x):
		return 0x7e00
	case x >= 1:
		return 0x7c00
	}
	return uint16(math.RoundToEven(x * 0x1p24)) // subnormal: steps of 2^-24
}

// floatToBrain rounds to the nearest bfloat16 number, ties to even. The float32 on
// the way is rounded to odd: its last bit says that something was cut off, so that
// rounding again cannot take what lies beside the middle for the middle.
func floatToBrain(x float64) uint16 {
	bits := math.Float32bits(float32(x))
	if math.IsNaN(x) {
		return uint16(bits>>16) | 0x40
	}
	if nearest := float64(math.Float32frombits(bits)); nearest != x {
		if math.Abs(nearest) > math.Abs(x) {
			bits--
		}
		bits |= 1
	}
	return uint16((bits + 0x7fff + bits>>16&1) >> 16)
}

// shortFloat describes an 8-bit float: a sign, exponent bits, mantissa bits.
// See "FP8 formats for deep learning", Micikevicius et al. 2022.
type shortFloat struct {
	mantissa int  // bits after the leading one
	bias     int  // of the exponent
	largest  byte // code of the largest finite number
	infinite bool // the code after the largest is infinity; else there is none
}

var (
	// e4m3 gives up infinity, and all NaN but one per sign, for a larger range.
	e4m3 = shortFloat{mantissa: 3, bias: 7, largest: 0x7e}
	// e5m2 is a binary16 number without its last eight bits.
	e5m2 = shortFloat{mantissa: 2, bias: 15, largest: 0x7b, infinite: true}

	tableE4M3, tableE5M2 = e4m3.table(), e5m2.table()
)

func (f shortFloat) table() (values [256]float64) {
	for code := range values {
		values[code] = f.decode(byte(code))
	}
	return values
}

func (f shortFloat) decode(code byte) float64 {
	magnitude := code & 0x7f
	value := math.NaN()
	switch exponent, fraction := int(magnitude>>f.mantissa), float64(magnitude&(1<<f.mantissa-1)); {
	case magnitude > f.largest && f.infinite && magnitude == f.largest+1:
		value = math.Inf(1)
	case magnitude > f.largest:
	case exponent == 0:
		value = math.Ldexp(fraction, 1-f.bias-f.mantissa)
	default:
		value = math.Ldexp(float64(int(1)<<f.mantissa)+fraction, exponent-f.bias-f.mantissa)
	}
	if code&0x80 != 0 {
		return -value
	}
	return value
}

// encode rounds to the nearest number, ties to even. What is finite stays
// finite: like the hardware's conversions by default, it saturates.
func (f shortFloat) encode(x float64) byte {
	var sign byte
	if math.Signbit(x) {
		sign, x = 0x80, -x
	}
	switch {
	case math.IsNaN(x), math.IsInf(x, 0) && !f.infinite:
		return sign | 0x7f
	case math.IsInf(x, 0):
		return sign | (f.largest + 1)
	case x >= f.decode(f.largest):
		return sign | f.largest
	case x == 0:
		return sign
	}
	_, exponent := math.Frexp(x) // x = m * 2^exponent, m in [0.5, 1)
	exponent = max(exponent-1, 1-f.bias)
	steps := int(math.RoundToEven(math.Ldexp(x, f.mantissa-exponent)))
	// steps counts the leading one as well, which a subnormal lacks; a carry
	// moves into the exponent by itself.
	code := (exponent+f.bias-1)<<f.mantissa + steps
	return sign | min(byte(code), f.largest)
}

// Step returns the relative distance of neighboring numbers of a float type;
// 0 for integers.
func (e Type) Step() float64 {
	if !e.Float {
		return 0
	}
	return math.Ldexp(1, 1-e.Digits)
}
