package cuda

import (
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/objective/cuda/driver"
)

// parameters are the arguments of one launch as the driver wants them: an array
// of pointers to values. All of it lies outside the Go heap, because the driver
// keeps the pointers while a graph is recorded.
type parameters struct {
	memory []byte
	n      int
}

// argumentSize is the room for an argument: a tensor map is the largest, and must
// be aligned to 64 bytes.
const argumentSize = driver.TensorMapSize

// mostPassed is how many arguments a launch may take.
const mostPassed = 1024

// newParameters returns room for n arguments.
func newParameters(n int) (*parameters, error) {
	memory, err := unix.Mmap(-1, 0, 8*mostPassed+argumentSize*n, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("memory for arguments: %w", err)
	}
	return &parameters{memory, n}, nil
}

// value is the place of an argument's bytes.
func (p *parameters) value(i int) []byte {
	start := 8*mostPassed + argumentSize*i
	return p.memory[start : start+argumentSize]
}

func (p *parameters) setAddress(i int, a driver.Address) {
	binary.LittleEndian.PutUint64(p.value(i), uint64(a))
}

func (p *parameters) setWord(i int, word uint64) { binary.LittleEndian.PutUint64(p.value(i), word) }

// pointer returns an array of pointers to some of the arguments, for a launch: the next
// call writes over it.
func (p *parameters) pointer(arguments []int) unsafe.Pointer {
	for place, i := range arguments[:min(len(arguments), mostPassed)] {
		*(*uintptr)(unsafe.Pointer(&p.memory[8*place])) = uintptr(unsafe.Pointer(&p.value(i)[0]))
	}
	return unsafe.Pointer(&p.memory[0])
}

func (p *parameters) free() {
	if p != nil {
		_ = unix.Munmap(p.memory)
	}
}
