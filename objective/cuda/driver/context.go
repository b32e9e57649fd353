package driver

import "unsafe"

// Context is a device's primary context, current on this thread.
type Context struct{ *Library }

// Use retains the device's primary context and makes it current on this thread.
func (d Device) Use() (*Context, error) {
	l := d.library
	var handle uintptr
	if err := l.do("cuDevicePrimaryCtxRetain", uintptr(unsafe.Pointer(&handle)), uintptr(d.ordinal)); err != nil {
		return nil, err
	}
	if err := l.do("cuCtxSetCurrent", handle); err != nil {
		return nil, err
	}
	return &Context{l}, nil
}

// Synchronize waits for everything that was launched.
func (c *Context) Synchronize() error { return c.do("cuCtxSynchronize") }

// StartProfiler begins what a profiler that runs this process may see, if it was told to
// wait for that; without a profiler it does nothing.
func (c *Context) StartProfiler() error { return c.do("cuProfilerStart") }

// StopProfiler ends it.
func (c *Context) StopProfiler() error { return c.do("cuProfilerStop") }

// Address is a place in the device's memory.
type Address uint64

// Allocate returns memory, aligned to 256 bytes at least.
func (c *Context) Allocate(size int) (a Address, err error) {
	err = c.do("cuMemAlloc_v2", uintptr(unsafe.Pointer(&a)), uintptr(size))
	return a, err
}

// Free gives memory back.
func (c *Context) Free(a Address) error { return c.do("cuMemFree_v2", uintptr(a)) }

// ToDevice copies bytes to the device, and returns when they are there: the
// driver itself returns when they are on their way, and our streams do not wait
// for the default one.
func (c *Context) ToDevice(to Address, from []byte) error {
	if len(from) == 0 {
		return nil
	}
	if err := c.do("cuMemcpyHtoD_v2", uintptr(to), uintptr(unsafe.Pointer(&from[0])), uintptr(len(from))); err != nil {
		return err
	}
	return c.Synchronize()
}

// ToHost copies bytes from the device.
func (c *Context) ToHost(to []byte, from Address) error {
	if len(to) == 0 {
		return nil
	}
	return c.do("cuMemcpyDtoH_v2", uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)))
}

// HostMemory returns memory of the host that the device can write to by itself. It
// lasts as long as the context.
func (c *Context) HostMemory(size int) ([]byte, error) {
	var start unsafe.Pointer
	if err := c.do("cuMemHostAlloc", uintptr(unsafe.Pointer(&start)), uintptr(size), 0); err != nil {
		return nil, err
	}
	return unsafe.Slice((*byte)(start), size), nil
}

// ToHostLater copies bytes to memory of HostMemory, in order with the stream.
func (c *Context) ToHostLater(s Stream, to []byte, from Address) error {
	if len(to) == 0 {
		return nil
	}
	return c.do("cuMemcpyDtoHAsync_v2", uintptr(unsafe.Pointer(&to[0])), uintptr(from), uintptr(len(to)), uintptr(s))
}

// CopyLater copies bytes from one place on the device to another, in order with the stream.
func (c *Context) CopyLater(s Stream, to, from Address, size int) error {
	return c.do("cuMemcpyDtoDAsync_v2", uintptr(to), uintptr(from), uintptr(size), uintptr(s))
}

// Set fills memory with a byte, in order with the stream.
func (c *Context) Set(s Stream, at Address, value byte, size int) error {
	return c.do("cuMemsetD8Async", uintptr(at), uintptr(value), uintptr(size), uintptr(s))
}
