package driver

import (
	"fmt"
	"unsafe"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
)

// TensorMapSize is the size of a CUtensorMap in bytes. Where it lies must be
// aligned to 64.
const TensorMapSize = 128

// tensorTypes are CUtensorMapDataType by the names of elements. The engine moves
// bytes: short floats that it has no name for are bytes to it.
var tensorTypes = map[string]uintptr{
	"u8": 0, "i8": 0, "u16": 1, "i16": 1, "u32": 2, "i32": 3, "u64": 4, "i64": 5, "f16": 6, "f32": 7, "f64": 8,
	"bf16": 9, "e4m3": 0, "e5m2": 0,
}

// tensorSwizzles are CUtensorMapSwizzle by their width in bytes.
var tensorSwizzles = map[int]uintptr{0: 0, 32: 1, 64: 2, 128: 3}

// promote128 fetches 128 bytes into the last-level cache where a box asks for
// less.
const promote128 = 2

// EncodeTensorMap writes the descriptor of a dense buffer for the tensor copy
// engine. Shape and box have the outermost dimension first, which the driver
// wants last. What lies outside of the shape is read as zero.
func (c *Context) EncodeTensorMap(to []byte, base Address, layout arguments.TensorLayout, element element.Type) error {
	kind, known := tensorTypes[element.Name]
	if !known {
		return fmt.Errorf("the tensor copy engine knows no elements of type %s", element.Name)
	}
	rank := len(layout.Shape)
	shape, strides := make([]uint64, rank), make([]uint64, rank)
	box, steps := make([]uint32, rank), make([]uint32, rank)
	stride := uint64(element.Size)
	for i := range rank {
		from := rank - 1 - i
		shape[i], box[i], steps[i] = uint64(layout.Shape[from]), uint32(layout.Box[from]), 1
		stride *= shape[i]
		strides[i] = stride // of the next dimension
	}
	return c.do("cuTensorMapEncodeTiled", uintptr(unsafe.Pointer(&to[0])), kind, uintptr(rank),
		uintptr(base)+uintptr(layout.Base),
		uintptr(unsafe.Pointer(&shape[0])), uintptr(unsafe.Pointer(&strides[0])), uintptr(unsafe.Pointer(&box[0])),
		uintptr(unsafe.Pointer(&steps[0])),
		0, tensorSwizzles[layout.Swizzle], promote128, 0)
}
