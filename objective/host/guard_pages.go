package host

import (
	"bytes"
	"fmt"
	"iter"
	"os"
	"slices"
	"unsafe"

	"golang.org/x/sys/unix"

	"pawl/objective/worker"
)

// buffer is memory for one argument between two pages that nobody may touch.
type buffer struct {
	name    string
	mapping []byte // guard page, body, guard page
	body    []byte // the pages between the guards
	data    []byte // the argument's bytes inside the body
}

// newBuffer maps memory for size bytes. A guarded buffer ends where the guard
// page begins, as nearly as its alignment allows; an aligned one starts where
// the first guard page ends; a misaligned one starts at an odd multiple of its
// alignment.
func newBuffer(name string, size, align int, layout worker.Layout) (*buffer, error) {
	page := os.Getpagesize()
	pages := (size + page - 1) / page * page
	if layout == worker.Misaligned {
		pages = (size + align + page - 1) / page * page
	}
	mapping, err := unix.Mmap(-1, 0, pages+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, fmt.Errorf("memory for %s: %w", name, err)
	}
	b := &buffer{name: name, mapping: mapping, body: mapping[page : page+pages]}
	for _, guard := range [][]byte{mapping[:page], mapping[page+pages:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			b.free()
			return nil, fmt.Errorf("guard page for %s: %w", name, err)
		}
	}
	start := 0
	switch layout {
	case worker.Guarded:
		start = (pages - size) / align * align
	case worker.Misaligned:
		last := (pages - size) / align
		start = (last - 1 + last%2) * align
	}
	b.data = b.body[start : start+size : start+size]
	for _, slack := range b.slack() {
		fillBytes(slack, worker.Canary)
		forbid(slack)
	}
	return b, nil
}

// present leaves out the arguments that have none here.
func present[T any](all []*T) iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i, b := range all {
			if b != nil && !yield(i, b) {
				return
			}
		}
	}
}

func (b *buffer) free() {
	permit(b.body)
	// The mapping is ours and whole: unmapping it cannot fail.
	_ = unix.Munmap(b.mapping)
}

// slack returns the bytes of the body before and behind the data.
func (b *buffer) slack() [2][]byte {
	start := int(b.address() - address(b.body))
	return [2][]byte{b.body[:start], b.body[start+len(b.data):]}
}

// damage says whether a byte beside the data was overwritten.
func (b *buffer) damage() *worker.Fault {
	slack := b.slack()
	if at := overwritten(slack[0]); at >= 0 {
		return &worker.Fault{
			Kind:   worker.OutOfBounds,
			Detail: fmt.Sprintf("wrote %d bytes before the start of %s", len(slack[0])-at, b.name),
		}
	}
	if at := overwritten(slack[1]); at >= 0 {
		return &worker.Fault{Kind: worker.OutOfBounds, Detail: fmt.Sprintf("wrote %d bytes past the end of %s", at, b.name)}
	}
	return nil
}

func (b *buffer) address() uintptr { return address(b.data) }

// region describes the buffer to the near end.
func (b *buffer) region() worker.Region {
	low, start := address(b.mapping), b.address()
	return worker.Region{
		Name: b.name, Low: uint64(low), Start: uint64(start),
		End: uint64(start) + uint64(len(b.data)), High: uint64(low) + uint64(len(b.mapping)),
	}
}

func address(b []byte) uintptr { return uintptr(unsafe.Pointer(unsafe.SliceData(b))) }

func fillBytes(b []byte, value byte) {
	for i := range b {
		b[i] = value
	}
}

// canaries are what bytes beside a buffer are compared with.
var canaries = bytes.Repeat([]byte{worker.Canary}, 4096)

// overwritten is the place of the first byte that is no canary, or -1.
func overwritten(b []byte) int {
	for at := 0; at < len(b); at += len(canaries) {
		if piece := b[at:min(at+len(canaries), len(b))]; !bytes.Equal(piece, canaries[:len(piece)]) {
			return at + slices.IndexFunc(piece, func(x byte) bool { return x != worker.Canary })
		}
	}
	return -1
}
