package driver

import (
	"fmt"
	"unsafe"
)

// Tiled describes an array in the device's memory for the copy engine: how large
// it is, its last dimension contiguous, and in which tiles it is copied.
type Tiled struct {
	Type        string // f16, for example
	ElementSize int    // in bytes
	Data        Address
	Sizes, Box  []int64 // by dimension, the last one contiguous
	Swizzle     int     // of a tile in shared memory, in bytes; 0 is none
}

// tiledTypes is CUtensorMapDataType. The copy engine has no types of eight bits but
// bytes.
var tiledTypes = map[string]uintptr{
	"u8": 0, "e4m3": 0, "e5m2": 0, "i32": 3, "i64": 5, "f16": 6, "f32": 7, "f64": 8, "bf16": 9,
}

// tiledSwizzles is CUtensorMapSwizzle.
var tiledSwizzles = map[int]uintptr{0: 0, 32: 1, 64: 2, 128: 3}

// promotion is CU_TENSOR_MAP_L2_PROMOTION_L2_256B: what a tile misses comes into the
// last-level cache by as much at a time.
const promotion = 3

// EncodeTiled writes a tensor map, 128 bytes at a multiple of 64.
func (c *Context) EncodeTiled(to unsafe.Pointer, t Tiled) error {
	kind, known := tiledTypes[t.Type]
	swizzle, possible := tiledSwizzles[t.Swizzle]
	if !known || !possible || len(t.Sizes) != len(t.Box) || len(t.Box) == 0 {
		return fmt.Errorf("no tensor map of %s with sizes %v, box %v, swizzle %d", t.Type, t.Sizes, t.Box, t.Swizzle)
	}
	rank := len(t.Sizes)
	sizes, strides := make([]uint64, rank), make([]uint64, rank)
	box, steps := make([]uint32, rank), make([]uint32, rank)
	stride := uint64(t.ElementSize)
	for i := range rank { // the driver begins with the contiguous dimension
		sizes[i], box[i], steps[i] = uint64(t.Sizes[rank-1-i]), uint32(t.Box[rank-1-i]), 1
		stride *= sizes[i]
		strides[i] = stride // from one index of the next dimension to the following
	}
	return c.do("cuTensorMapEncodeTiled", c.cuTensorMapEncodeTiled, uintptr(to), kind, uintptr(rank), uintptr(t.Data),
		uintptr(unsafe.Pointer(&sizes[0])), uintptr(unsafe.Pointer(&strides[0])),
		uintptr(unsafe.Pointer(&box[0])), uintptr(unsafe.Pointer(&steps[0])), 0, swizzle, promotion, 0)
}
