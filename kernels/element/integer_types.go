package element

import (
	"encoding/binary"
	"fmt"
	"math"
	"strconv"

	"pawl/space"
)

// integerElement is an entry of the registry. Integers are read and written as 64 bits
// with all their digits; as floats they are only for reports.
func integerElement(name string, size int, c string, unsigned bool) Type {
	e := Type{Name: name, Size: size, C: c, Unsigned: unsigned}
	e.Load = func(b []byte) float64 {
		if n := e.Integer(b); n >= 0 || !unsigned {
			return float64(n)
		}
		return float64(uint64(e.Integer(b)))
	}
	e.Store = func(b []byte, x float64) {
		if unsigned && x >= math.MaxInt64 {
			e.PutInteger(b, int64(uint64(x)))
			return
		}
		e.PutInteger(b, int64(x))
	}
	return e
}

// Limits returns the smallest and the largest number of an integer type that a formula can
// give: formulas have 63 bits and a sign, so that half of u64 is beyond them.
func (e Type) Limits() (low, high int64) {
	switch {
	case e.Unsigned && e.Size == 8:
		return 0, math.MaxInt64
	case e.Unsigned:
		return 0, 1<<(8*e.Size) - 1
	}
	high = math.MaxInt64 >> (64 - 8*e.Size)
	return -high - 1, high
}

// Span returns the smallest number of an integer type, and how far the largest is from it.
func (e Type) Span() (low int64, span uint64) {
	low, _ = e.Limits()
	return low, math.MaxUint64 >> (64 - 8*e.Size)
}

// Integer returns the element of an integer type at the start of b; of a u64 beyond the
// range of the result it returns the bits.
func (e Type) Integer(b []byte) int64 {
	var bits uint64
	switch e.Size {
	case 8:
		bits = binary.NativeEndian.Uint64(b)
	case 4:
		bits = uint64(binary.NativeEndian.Uint32(b))
	case 2:
		bits = uint64(binary.NativeEndian.Uint16(b))
	default:
		bits = uint64(b[0])
	}
	if e.Unsigned {
		return int64(bits)
	}
	unused := 64 - 8*e.Size
	return int64(bits<<unused) >> unused
}

// PutInteger writes n, which the integer type can hold, to the start of b.
func (e Type) PutInteger(b []byte, n int64) {
	switch e.Size {
	case 8:
		binary.NativeEndian.PutUint64(b, uint64(n))
	case 4:
		binary.NativeEndian.PutUint32(b, uint32(n))
	case 2:
		binary.NativeEndian.PutUint16(b, uint16(n))
	default:
		b[0] = uint8(n)
	}
}

// Distance returns how far two elements of an integer type are apart. It is 0 for
// equal ones only: 64 bits are not subtracted as floats.
func (e Type) Distance(a, b []byte) float64 {
	x, y := e.Integer(a), e.Integer(b)
	// as unsigned numbers, those with the highest bit are the larger ones
	if less := x < y; less != (e.Unsigned && (x < 0) != (y < 0)) {
		x, y = y, x
	}
	return float64(uint64(x) - uint64(y))
}

// Text writes the element at the start of b for a person, integers with all digits.
func (e Type) Text(b []byte) string {
	switch {
	case e.Float:
		return strconv.FormatFloat(e.Load(b), 'g', -1, 64)
	case e.Unsigned:
		return strconv.FormatUint(uint64(e.Integer(b)), 10)
	}
	return strconv.FormatInt(e.Integer(b), 10)
}

// Fits says why an integer type cannot hold a number.
func (e Type) Fits(n int64) error {
	if low, high := e.Limits(); n < low || n > high {
		return fmt.Errorf("the value %d does not fit %s, which holds %d to %d", n, e.Name, low, high)
	}
	return nil
}

// Evaluate computes an element by a formula and writes it to the start of a buffer, unless
// that is nil. A number that the type cannot hold is an error.
func (e Type) Evaluate(f *space.Indexed, i int64, random float64, to []byte) error {
	if e.Float {
		x, err := f.Number(i, random)
		switch {
		case err != nil:
			return err
		case !e.Holds(x):
			return fmt.Errorf("the formula gives %g at element %d, which is too large for %s", x, i, e.Name)
		case to != nil:
			e.Store(to, x)
		}
		return nil
	}
	n, err := f.Integer(i, random)
	if err != nil {
		return err
	}
	if err := e.Fits(n); err != nil {
		return fmt.Errorf("the formula at element %d: %w", i, err)
	}
	if to != nil {
		e.PutInteger(to, n)
	}
	return nil
}
