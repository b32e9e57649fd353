package inputs

import (
	"encoding/binary"
	"math"

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

// Pool says how content is drawn. The pool is an input like the argument but for its size, in units that are numbers,
// or structures of them. A content is a sequence of pieces, each the piece at its place of any unit: nothing larger
// than a number occurs twice, so that a kernel which remembers parts of its inputs meets none of them again. Of floats
// with many digits the last are drawn too, so that hardly a number does.
type Pool struct {
	// Binding is what the pool is filled as.
	arguments.Binding
	// Unit is the size of a unit in bytes, a multiple of Piece; Units is how many the pool has, a
	// power of two.
	Unit, Units int
	// Piece is the size of what is drawn at once: 4 bytes, or 8.
	Piece int
	// Flips is the number of low bits of each piece that are drawn: 16 of 4 bytes, 44 of 8. A number keeps seven or
	// eight bits behind its first, which is its size to half a percent.
	Flips int
}

const (
	// MostPool bounds a pool, in bytes: it fits into any device's caches and is quickly filled.
	MostPool = 256 << 10
	// word and pair are the sizes of pieces.
	word, pair = 4, 8
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
	p := Pool{Binding: b}
	p.Count, p.Row = int64(MostPool/e.Size), 1
	p.Piece, p.Flips = pieces(e)
	p.Unit, p.Units = p.Piece, MostPool/p.Piece
	return Drawn, p
}

// pieces are what numbers of a type are drawn in, and how many of their bits.
func pieces(e element.Type) (size, flips int) {
	switch {
	case e.Size == pair:
		return pair, 44
	case e.Size == word && e.Float:
		return word, 16
	}
	return word, 0
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
	p := Pool{Binding: b, Unit: b.Stride, Units: 1, Piece: word}
	for 2*p.Units*p.Unit <= MostPool {
		p.Units *= 2
	}
	p.Fields = nil
	for _, f := range b.Fields {
		e := f.Element()
		if recipe, err := NewRecipe(f.Binding, 0); err != nil || !e.Float || Computed(f.Binding) || !plain(recipe, e) {
			return Kept, Pool{}
		}
		if size, flips := pieces(e); len(p.Fields) == 0 || size > p.Piece {
			p.Piece, p.Flips = size, flips
		} else if flips != p.Flips {
			p.Flips = 0
		}
		f.Count, f.Row = int64(p.Units*f.Lanes), 1
		p.Fields = append(p.Fields, f)
	}
	p.Count = int64(p.Units * p.Unit)
	if p.Unit%p.Piece != 0 || p.Unit > MostPool || b.Count > mostDrawn {
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
	from, last, number, each := stream(state), uint64(p.Units-1), uint64(0), uint64(p.Unit/p.Piece)
	flips := uint64(1)<<p.Flips - 1
	switch {
	case p.Piece == pair:
		for ; len(to) >= pair; number++ {
			drawn := from.at(number)
			content := binary.LittleEndian.Uint64(pool[((drawn&last)*each+number%each)*pair:])
			binary.LittleEndian.PutUint64(to, content^drawn>>20&flips)
			to = to[pair:]
		}
	case each == 1 && len(pool) == MostPool: // most content, two numbers at a time
		all, both := (*[MostPool]byte)(pool), flips|flips<<32
		for i := range len(to) / (2 * word) {
			drawn := from.at(uint64(i))
			first, second := int(uint16(drawn))*word, int(uint16(drawn>>32))*word
			content := uint64(binary.LittleEndian.Uint32(all[first:first+word])) |
				uint64(binary.LittleEndian.Uint32(all[second:second+word]))<<32
			binary.LittleEndian.PutUint64(to[i*2*word:][:2*word], content^drawn>>16&both)
		}
		number = uint64(len(to) / (2 * word) * 2)
		to = to[number*word:]
	}
	for ; len(to) > 0; number++ {
		drawn := from.at(number/2) >> (32 * (number % 2)) & math.MaxUint32
		piece := binary.LittleEndian.AppendUint32(nil, binary.LittleEndian.Uint32(
			pool[((drawn&last)*each+number%each)*word:])^uint32(drawn>>16&flips))
		to = to[copy(to, piece):]
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
