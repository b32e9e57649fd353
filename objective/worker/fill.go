package worker

import (
	"fmt"
	"hash/fnv"
	"math"
	"runtime"
	"sync"

	"pawl/kernels"
)

// Fill writes a buffer's content: the same for the same seed, argument and
// fill, whichever process asks and however many cores it has. An element
// depends on nothing but its index: the generator counts, it has no state.
func Fill(buffer []byte, argument kernels.Binding, seed uint64) error {
	element, err := kernels.ElementNamed(argument.Type)
	if err != nil {
		return err
	}
	f := &filler{element: element, row: uint64(max(argument.Row, 1)), large: argument.Large, stream: newStream(seed, argument.Name)}
	draw, err := f.drawer(argument.Fill)
	if err != nil {
		return fmt.Errorf("argument %s: %w", argument.Name, err)
	}
	f.fill(buffer, draw)
	return nil
}

// filler knows the content of one buffer.
type filler struct {
	element kernels.Element
	row     uint64 // elements of a row
	large   float64
	stream  stream
}

// block is the number of elements that are drawn before they are stored.
const block = 1 << 12

// fill shares the blocks of a buffer out between the cores.
func (f *filler) fill(buffer []byte, draw func(first uint64, values []float64)) {
	size := f.element.Size
	total := len(buffer) / size
	blocks := (total + block - 1) / block
	lanes := min(runtime.GOMAXPROCS(0), (blocks+3)/4) // a goroutine for a few blocks costs more than it saves
	var done sync.WaitGroup
	for lane := range lanes {
		done.Go(func() {
			values := make([]float64, block)
			for b := lane; b < blocks; b += lanes {
				first, last := b*block, min((b+1)*block, total)
				draw(uint64(first), values[:last-first])
				f.element.StoreAll(buffer[first*size:last*size], values[:last-first])
			}
		})
	}
	done.Wait()
}

// drawer returns the function that computes elements from the first on.
func (f *filler) drawer(fill string) (func(first uint64, values []float64), error) {
	if !f.element.Float && fill != "zeros" && fill != "ones" {
		return f.each(func(i uint64) float64 { return float64(f.stream.at(i) % 100) }), nil
	}
	one, tiny := math.Ldexp(1, 1-f.element.Digits), math.Ldexp(1, f.element.Least)
	switch fill {
	case "zeros":
		return f.each(func(uint64) float64 { return 0 }), nil
	case "ones":
		return f.each(func(uint64) float64 { return 1 }), nil
	case kernels.Normal:
		return f.normals(1), nil
	case kernels.Large:
		return f.normals(f.large), nil
	case kernels.Uniform:
		return f.each(func(i uint64) float64 { return 2*fraction(f.stream.at(i)) - 1 }), nil
	case kernels.Signs:
		return f.each(func(i uint64) float64 { return sign(f.stream.at(i)) }), nil
	case kernels.OneHot:
		return f.each(f.oneHot), nil
	case kernels.NearTies:
		return f.each(func(i uint64) float64 { return 1 + one*float64(f.stream.at(i)&3) }), nil
	case kernels.Denormals:
		return f.each(func(i uint64) float64 {
			drawn := f.stream.at(i)
			if drawn&1 == 0 {
				return sign(drawn>>1) * tiny * fraction(drawn)
			}
			return normal(drawn)
		}), nil
	case kernels.Overflow:
		return f.each(f.overflow), nil
	}
	return nil, fmt.Errorf("no fill %q", fill)
}

// overflowing is the magnitude of the fill of that name: two rows of it have a
// product of 64 per element, which no exponential survives for long, and which
// is exact in every type.
const overflowing = 8

// overflow gives all elements of a row one sign. Three rows of four are
// positive, so that sums over rows grow as well.
func (f *filler) overflow(i uint64) float64 {
	if f.stream.at(i/f.row)%4 == 0 {
		return -overflowing
	}
	return overflowing
}

// oneHot puts a 1 into each row, at a place of its own.
func (f *filler) oneHot(i uint64) float64 {
	if row := i / f.row; i%f.row == f.stream.at(row)%f.row {
		return 1
	}
	return 0
}

func (f *filler) each(value func(i uint64) float64) func(uint64, []float64) {
	return func(first uint64, values []float64) {
		for k := range values {
			values[k] = value(first + uint64(k))
		}
	}
}

func (f *filler) normals(factor float64) func(uint64, []float64) {
	table := quantiles()
	return func(first uint64, values []float64) {
		for k := range values {
			bits := f.stream.at(first + uint64(k))
			cell := bits >> 52 % cells
			low := table[cell]
			values[k] = factor * (low + unit(bits)*(table[cell+1]-low))
			if cell == 0 || cell == cells-1 {
				values[k] = factor * normal(bits)
			}
		}
	}
}

// stream is a counter-based generator: 64 random bits for every index. It
// mixes as SplitMix64 does (Steele, Lea and Flood 2014, "Fast splittable
// pseudorandom number generators").
type stream uint64

func newStream(seed uint64, name string) stream {
	hash := fnv.New64a()
	hash.Write([]byte(name))
	return stream(stream(seed).at(hash.Sum64()))
}

func (s stream) at(i uint64) uint64 {
	x := uint64(s) + (i+1)*0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// fraction returns a number in [0, 1) from the upper 52 bits.
func fraction(bits uint64) float64 { return unit(bits >> 12) }

func sign(bits uint64) float64 { return 1 - 2*float64(bits&1) }

// The quantiles of the normal distribution at steps of 1/cells. Between them
// the density is taken for flat; the two outermost cells are computed exactly.
const cells = 1 << 12

var quantiles = sync.OnceValue(func() *[cells + 1]float64 {
	var q [cells + 1]float64
	for i := 1; i < cells; i++ {
		q[i] = quantile(float64(i) / cells)
	}
	return &q
})

func quantile(p float64) float64 { return math.Sqrt2 * math.Erfinv(2*p-1) }

// normal turns random bits into a normal number.
func normal(bits uint64) float64 {
	cell, rest := bits>>52, unit(bits)
	if cell == 0 || cell == cells-1 {
		return quantile((float64(cell) + rest + 0x1p-53) / cells) // never 0 or 1, whose quantiles are infinite
	}
	q := quantiles()
	return q[cell] + rest*(q[cell+1]-q[cell])
}

// unit returns a number in [0, 1) from the lower 52 bits: they become the
// mantissa of a number in [1, 2).
func unit(bits uint64) float64 {
	return math.Float64frombits(bits&(1<<52-1)|1023<<52) - 1
}
