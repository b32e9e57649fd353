package kernels

import "math"

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
