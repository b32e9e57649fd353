package cuda

import (
	"fmt"
	"reflect"
	"unsafe"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
)

// tile says which tiles the kernel under test has buffers copied in. They are part
// of its arguments, which are made anew when they change.
func (p *problem) tile(boxes [][]int64) {
	if reflect.DeepEqual(p.boxes, boxes) {
		return
	}
	for _, l := range p.launches {
		l.free()
	}
	p.launches, p.boxes = nil, boxes
}

// describe writes a tensor map of a buffer. There are no boxes while the reference
// is asked, which takes no maps.
func (p *problem) describe(to unsafe.Pointer, m *kernels.Map, buffers []*buffer, at int) error {
	if at >= len(p.boxes) {
		return nil
	}
	b := buffers[m.Of]
	err := p.device.context.EncodeTiled(to, driver.Tiled{
		Type: b.element.Name, ElementSize: b.element.Size, Data: b.data,
		Sizes: m.Sizes, Box: p.boxes[at], Swizzle: m.Swizzle,
	})
	if err != nil {
		return fmt.Errorf("the tensor map of %s: %w", b.Name, err)
	}
	return nil
}
