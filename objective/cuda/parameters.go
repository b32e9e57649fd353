package cuda

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/kernels"
	"pawl/objective/cuda/driver"
)

// parameters are the arguments of one launch as the driver wants them: an array
// of pointers to values. All of it lies outside the Go heap, because the driver
// keeps the pointers while a graph is recorded.
type parameters struct {
	memory []byte
	n      int
}

// newParameters returns room for n arguments of up to eight bytes, of which the
// last so many are tensor maps instead.
func newParameters(n, maps int) (*parameters, error) {
	const align = kernels.TensorMapSize / 2
	first := (16*n + align - 1) / align * align // the memory begins with a page
	memory, err := unix.Mmap(-1, 0, max(first+kernels.TensorMapSize*maps, 1), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("memory for arguments: %w", err)
	}
	p := &parameters{memory, n}
	for i := range n {
		at := 8 * (n + i)
		if m := i - (n - maps); m >= 0 {
			at = first + kernels.TensorMapSize*m
		}
		*(*uintptr)(unsafe.Pointer(&memory[8*i])) = uintptr(unsafe.Pointer(&memory[at]))
	}
	return p, nil
}

// tensorMap is the place of an argument that is one.
func (p *parameters) tensorMap(i int) unsafe.Pointer {
	return *(*unsafe.Pointer)(unsafe.Pointer(&p.memory[8*i]))
}

// value is the place of an argument's bytes.
func (p *parameters) value(i int) []byte { return p.memory[8*(p.n+i) : 8*(p.n+i)+8] }

func (p *parameters) setAddress(i int, a driver.Address) {
	binary.LittleEndian.PutUint64(p.value(i), uint64(a))
}

func (p *parameters) setWord(i int, word uint64) { binary.LittleEndian.PutUint64(p.value(i), word) }

func (p *parameters) pointer() unsafe.Pointer { return unsafe.Pointer(&p.memory[0]) }

func (p *parameters) free() { _ = unix.Munmap(p.memory) }
