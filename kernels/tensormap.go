package kernels

import (
	"fmt"
	"slices"
	"strings"

	"pawl/space"
)

// tensorMapType is the type of an argument that describes a buffer to the copy
// engine of a GPU (CUtensorMap). The kernel gets it by value.
const tensorMapType = "tensormap"

// TensorMapSize is the size of such an argument in bytes; half of it is the
// alignment.
const TensorMapSize = 128

// swizzles are the patterns in which a copied tile may lie in shared memory, in
// bytes; 0 is row by row.
var swizzles = []string{"0", "32", "64", "128"}

// TensorMap describes a buffer whose tiles the copy engine moves.
type TensorMap struct {
	// Of is the place of the buffer among the arguments.
	Of int
	// Box is the size of a tile by dimension, the last one contiguous. It may have
	// fewer dimensions than the buffer: the first ones of the buffer count as one.
	Box []*space.Expression
	// Swizzle is the pattern in shared memory, in bytes.
	Swizzle int
}

// Map is a tensor map with the sizes of a problem put in. The sizes of its tiles
// depend on the point as well: see Boxes.
type Map struct {
	Of      int     `json:"of"`
	Sizes   []int64 `json:"sizes"`
	Swizzle int     `json:"swizzle,omitempty"`
}

// bind merges the first dimensions of the buffer.
func (m *TensorMap) bind(shape []int64) *Map {
	merged := len(shape) - len(m.Box)
	sizes := slices.Clone(shape[merged:])
	for _, n := range shape[:merged] {
		sizes[0] *= n
	}
	return &Map{Of: m.Of, Sizes: sizes, Swizzle: m.Swizzle}
}

// largestBox is what the copy engine moves at most, along each dimension.
const largestBox = 256

// Boxes returns the sizes of the tiles of each tensor map, in the order of the
// arguments, for the sizes of a problem and the values of a point. The error says
// what the copy engine cannot do.
func (k *Kernel) Boxes(env space.Environment) ([][]int64, error) {
	var boxes [][]int64
	for _, a := range k.Arguments {
		if a.Map == nil {
			continue
		}
		box := make([]int64, len(a.Map.Box))
		for i, size := range a.Map.Box {
			var err error
			if box[i], err = size.Integer(env); err != nil {
				return nil, fmt.Errorf("argument %s: %w", a.Name, err)
			}
			if box[i] < 1 || box[i] > largestBox {
				return nil, fmt.Errorf("argument %s: a tile of %d along dimension %d; the copy engine takes 1 to %d", a.Name, box[i], i, largestBox)
			}
		}
		row := box[len(box)-1] * int64(k.Arguments[a.Map.Of].Element.Size)
		if row%16 != 0 || (a.Map.Swizzle > 0 && row > int64(a.Map.Swizzle)) {
			return nil, fmt.Errorf("argument %s: rows of %d bytes in a tile; with swizzle %d the copy engine takes multiples of 16%s", a.Name, row, a.Map.Swizzle, upTo(a.Map.Swizzle))
		}
		boxes = append(boxes, box)
	}
	return boxes, nil
}

func upTo(swizzle int) string {
	if swizzle == 0 {
		return ""
	}
	return fmt.Sprintf(" up to %d", swizzle)
}

// mapArgument checks an argument of type tensormap.
func (b *builder) mapArgument(entry argEntry) (Argument, error) {
	a := Argument{Name: entry.Name.text, Element: Element{Name: tensorMapType, Size: TensorMapSize}, Align: TensorMapSize / 2}
	at := entry.Name.at
	switch {
	case b.backend != CUDA:
		return a, at.errorf("argument %s: tensor maps are for backend %s", a.Name, CUDA)
	case entry.Shape != nil || entry.Value.text != "" || entry.Out || entry.Fill.text != "" || entry.Align.text != "" || entry.Families != nil || entry.Large.text != "":
		return a, at.errorf("argument %s is a tensor map: it has of, box and swizzle, nothing else", a.Name)
	}
	of := slices.IndexFunc(b.kernel.Arguments, func(other Argument) bool { return other.Name == entry.Of.text && other.Shape != nil })
	if of < 0 {
		if entry.Of.text != "" {
			at = entry.Of.at
		}
		return a, at.errorf("argument %s: of is %q, and there is no such buffer before it", a.Name, entry.Of.text)
	}
	if dims := len(b.kernel.Arguments[of].Shape); len(entry.Box) < 2 || len(entry.Box) > min(dims, 5) {
		return a, at.errorf("argument %s: box has %d dimensions; %s has %d, and the copy engine takes 2 to 5", a.Name, len(entry.Box), entry.Of.text, dims)
	}
	a.Map = &TensorMap{Of: of}
	for _, size := range entry.Box {
		e, err := compile(b.all, size, space.WholeNumber)
		if err != nil {
			return a, err
		}
		a.Map.Box = append(a.Map.Box, e)
	}
	if entry.Swizzle.text != "" {
		if !slices.Contains(swizzles, entry.Swizzle.text) {
			return a, entry.Swizzle.at.errorf("argument %s: swizzle %s; there are %s", a.Name, entry.Swizzle.text, strings.Join(swizzles, ", "))
		}
		a.Map.Swizzle = int(entry.Swizzle.value.Integer())
	}
	return a, nil
}
