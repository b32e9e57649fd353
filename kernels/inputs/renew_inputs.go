package inputs

import (
	"encoding/binary"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// Renewal is how an input gets content that no launch has seen: every launch that is timed
// has its own, so that a kernel gains nothing by what it remembers.
type Renewal int

const (
	// Kept inputs have one content for all launches of a measurement: constants, files,
	// variables, and what only the host can make, such as the indices of a sparse matrix.
	Kept Renewal = iota
	// Refilled inputs follow their recipe with another seed.
	Refilled
	// Drawn inputs are put together from a pool of random numbers, many times as quickly.
	Drawn
)

// Pool says how content is drawn. The pool is an input like the argument but for its size. A
// content is a sequence of units, each any of the pool. Of floats whose low bits nobody
// misses these are drawn too, so that a pool has many numbers.
type Pool struct {
	// Binding is what the pool is filled as.
	arguments.Binding
	// Unit is the size of a unit in bytes, a multiple of 4; Units is how many the pool has, a
	// power of two.
	Unit, Units int
	// Flips is the number of low bits of each element that are drawn: 8 of 4 bytes, 16 of 8.
	Flips int
}

const (
	// MostPool bounds a pool, in bytes: it fits into any device's caches and is quickly filled.
	MostPool = 256 << 10
	// plainUnit is the unit of numbers that do not belong together.
	plainUnit = 16
	// mostDrawn bounds the size of what is drawn, in bytes: units are counted in 32 bits.
	mostDrawn = 8 << 30
)

// RenewalOf returns how an input gets new content, and the pool of one that is drawn.
func RenewalOf(b arguments.Binding) (Renewal, Pool) {
	switch {
	case !b.IsBuffer() || b.Seed != nil || b.Symbol != "":
		return Kept, Pool{}
	case b.Fields != nil:
		return structurePool(b)
	case Computed(b):
		return Kept, Pool{}
	}
	e := b.Element()
	recipe, err := NewRecipe(b, 0)
	switch {
	case err != nil || recipe.Kind == Constant || recipe.Kind == Integers && recipe.Span == 0:
		return Kept, Pool{}
	case !plain(recipe, e) || b.Count*int64(e.Size) > mostDrawn:
		return Refilled, Pool{}
	}
	p := Pool{Binding: b, Unit: plainUnit, Units: MostPool / plainUnit}
	p.Count, p.Row = int64(MostPool/e.Size), 1
	if e.Float && e.Size >= 4 {
		p.Flips = 2 * e.Size
	}
	return Drawn, p
}

// plain says that elements do not depend on their place, and that the few numbers of a pool
// are as good as any. They are not where a kernel counts numbers or takes them for places:
// only integers that have few values are drawn.
func plain(r Recipe, e element.Type) bool {
	switch r.Kind {
	case NormalNumbers, UniformReals:
		return r.Pattern == NoPattern
	case Integers, BellIntegers:
		return e.Size == 1
	}
	return false
}

// structurePool is the pool of structures of plain floats.
func structurePool(b arguments.Binding) (Renewal, Pool) {
	p := Pool{Binding: b, Unit: b.Stride, Units: 1}
	for 2*p.Units*p.Unit <= MostPool {
		p.Units *= 2
	}
	p.Fields = nil
	for _, f := range b.Fields {
		e := f.Element()
		if recipe, err := NewRecipe(f.Binding, 0); err != nil || !e.Float || Computed(f.Binding) || !plain(recipe, e) {
			return Kept, Pool{}
		}
		f.Count, f.Row = int64(p.Units*f.Lanes), 1
		p.Fields = append(p.Fields, f)
	}
	p.Count = int64(p.Units * p.Unit)
	if p.Unit%4 != 0 || p.Unit > MostPool || b.Count > mostDrawn {
		return Kept, Pool{}
	}
	return Drawn, p
}

// Bytes is the size of the pool.
func (p Pool) Bytes() int { return p.Unit * p.Units }

// Stream is the state of the generator that draws the content of a seed.
func (p Pool) Stream(seed uint64) uint64 { return uint64(newStream(^seed, p.Name)) }

// Draw puts a content together from a filled pool. A device does the same: see support.cu.
func (p Pool) Draw(to, pool []byte, state uint64) {
	from, unit, last := stream(state), uint64(0), uint64(p.Units-1)
	for ; p.Unit == plainUnit && len(to) >= plainUnit; unit++ { // most content
		drawn := from.at(unit)
		piece := pool[(drawn&last)*plainUnit:][:plainUnit]
		low, high := binary.LittleEndian.Uint64(piece), binary.LittleEndian.Uint64(piece[8:])
		switch bits := drawn >> 32; p.Flips {
		case 8:
			low ^= bits&0xff | bits&0xff00<<24
			high ^= bits>>16&0xff | bits>>16&0xff00<<24
		case 16:
			low ^= bits & 0xffff
			high ^= bits >> 16 & 0xffff
		}
		binary.LittleEndian.PutUint64(to, low)
		binary.LittleEndian.PutUint64(to[8:], high)
		to = to[plainUnit:]
	}
	for ; len(to) > 0; unit++ {
		to = to[copy(to, pool[int(from.at(unit)&last)*p.Unit:][:p.Unit]):]
	}
}

// Content says what the inputs of a launch hold that has its own: by the seed of the pool, which all launches of a
// sample share, and by its own. The zero Content is that of the load.
type Content struct {
	Pool uint64 `json:"pool"`
	Seed uint64 `json:"seed"`
}

// FillDrawn writes a buffer's content.
func (s *Source) FillDrawn(buffer []byte, b arguments.Binding, load uint64, drawn Content) error {
	if renewal, _ := RenewalOf(b); drawn == (Content{}) || renewal == Kept {
		return s.Fill(buffer, b, load)
	}
	return s.FillLaunches(b, drawn.Pool, []uint64{drawn.Seed}, func(int) []byte { return buffer })
}

// Renewed says that an argument is an input that is new in every launch.
func Renewed(b arguments.Binding) bool {
	renewal, _ := RenewalOf(b)
	return renewal != Kept && (b.Restored || !b.Out && !b.Scratch)
}
