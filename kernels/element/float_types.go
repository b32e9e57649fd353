// Package element has the types of numbers that arguments consist of: how each is stored,
// rounded, compared and written for people.
package element

import (
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
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
	// Least is the exponent of a float's smallest normal number, Largest the largest finite one.
	Least   int
	Largest float64
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
	{"f64", 8, "double", true, 53, -1022, math.MaxFloat64, false,
		func(b []byte) float64 { return math.Float64frombits(binary.NativeEndian.Uint64(b)) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint64(b, math.Float64bits(x)) }},
	{"f32", 4, "float", true, 24, -126, math.MaxFloat32, false,
		func(b []byte) float64 { return float64(math.Float32frombits(binary.NativeEndian.Uint32(b))) },
		func(b []byte, x float64) { binary.NativeEndian.PutUint32(b, math.Float32bits(float32(x))) }},
	f16.element("f16"), bf16.element("bf16"), e4m3.element("e4m3"), e5m2.element("e5m2"),
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
			binary.NativeEndian.PutUint16(b[2*i:2*i+2], uint16(f16.encode(x)))
		}
		return
	}
	for i, x := range values {
		e.Store(b[i*e.Size:], x)
	}
}

// Holds reports whether a float type has a finite number next to x.
func (e Type) Holds(x float64) bool {
	halfStep := math.Ldexp(e.Step(), int(math.Logb(e.Largest))) / 2
	return math.Abs(x) < e.Largest+halfStep
}

// shortFloat describes a float of 8 or 16 bits: a sign, exponent bits, mantissa bits.
type shortFloat struct {
	mantissa int    // bits after the leading one
	bias     int    // of the exponent
	sign     uint64 // the code of -0
	largest  uint64 // that of the largest finite number
	nan      uint64
	infinite bool // the code after the largest is infinity; else there is none
	// saturates says that what is finite stays finite, as the hardware's conversions have it by default.
	saturates bool

	step                         float64 // between subnormal numbers
	normal, beyond, half, rebias uint64  // what encode adds and compares: see prepared
}

var (
	f16  = shortFloat{mantissa: 10, bias: 15, sign: 0x8000, largest: 0x7bff, nan: 0x7e00, infinite: true}.prepared()
	bf16 = shortFloat{mantissa: 7, bias: 127, sign: 0x8000, largest: 0x7f7f, nan: 0x7fc0, infinite: true}.prepared()
	// e4m3 gives up infinity, and all NaN but one per sign, for a larger range. See "FP8 formats for deep learning",
	// Micikevicius et al. 2022.
	e4m3 = shortFloat{mantissa: 3, bias: 7, sign: 0x80, largest: 0x7e, nan: 0x7f, saturates: true}.prepared()
	// e5m2 is a binary16 number without its last eight bits.
	e5m2 = shortFloat{
		mantissa: 2, bias: 15, sign: 0x80, largest: 0x7b, nan: 0x7f, infinite: true, saturates: true,
	}.prepared()
)

// prepared works out the bits of the smallest normal number and of the first number beyond the largest.
func (f shortFloat) prepared() shortFloat {
	f.step = math.Ldexp(1, 1-f.bias-f.mantissa)
	f.normal, f.half, f.rebias = uint64(1024-f.bias)<<52, 1<<(51-f.mantissa)-1, uint64(1023-f.bias)<<f.mantissa
	largest, before := f.decode(f.largest), f.decode(f.largest-1)
	f.beyond = math.Float64bits(largest + (largest-before)/2)
	return f
}

// element is the entry of the registry.
func (f shortFloat) element(name string) Type {
	e := Type{Name: name, Size: 1, C: "uint8_t", Float: true, Digits: f.mantissa + 1, Least: 1 - f.bias}
	e.Largest = f.decode(f.largest)
	e.Load = func(b []byte) float64 { return f.decode(uint64(b[0])) }
	e.Store = func(b []byte, x float64) { b[0] = byte(f.encode(x)) }
	if f.sign > 0xff {
		e.Size, e.C = 2, "uint16_t"
		e.Load = func(b []byte) float64 { return f.decode(uint64(binary.NativeEndian.Uint16(b))) }
		e.Store = func(b []byte, x float64) { binary.NativeEndian.PutUint16(b, uint16(f.encode(x))) }
	}
	return e
}

// decode works on the bits, as encode does: buffers of millions go through both.
func (f *shortFloat) decode(code uint64) float64 {
	magnitude := code &^ f.sign
	value := math.Float64frombits(magnitude<<(52-f.mantissa&63) + uint64(1023-f.bias)<<52)
	switch {
	case f.infinite && magnitude == f.largest+1:
		value = math.Inf(1)
	case magnitude > f.largest:
		value = math.NaN()
	case magnitude>>(f.mantissa&63) == 0:
		value = float64(magnitude) * f.step
	}
	sign := (code & f.sign) << bits.LeadingZeros64(f.sign) // no branch: half of all numbers are negative
	return math.Float64frombits(math.Float64bits(value) | sign)
}

// encode rounds to the nearest number, ties to even.
func (f *shortFloat) encode(x float64) uint64 {
	bits := math.Float64bits(x)
	sign, magnitude := f.sign&-(bits>>63), bits&^(1<<63)
	if dropped := (52 - f.mantissa) & 63; magnitude-f.normal < f.beyond-f.normal {
		rounded := (magnitude + f.half + magnitude>>dropped&1) >> dropped // a carry moves into the exponent by itself
		return sign | (rounded - f.rebias)
	}
	switch infinite := math.IsInf(x, 0); {
	case magnitude < f.normal:
		return sign | uint64(math.RoundToEven(math.Abs(x)/f.step))
	case math.IsNaN(x), infinite && !f.infinite:
		return sign | f.nan
	case f.saturates && !infinite:
		return sign | f.largest
	}
	return sign | (f.largest + 1)
}

// Step returns the relative distance of neighboring numbers of a float type;
// 0 for integers.
func (e Type) Step() float64 {
	if !e.Float {
		return 0
	}
	return math.Ldexp(1, 1-e.Digits)
}
