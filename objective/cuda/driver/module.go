package driver

import "unsafe"

// Module is machine code on the device; Function is a kernel in it.
type (
	Module   uintptr
	Function uintptr
)

// LoadModule loads a cubin or PTX.
func (c *Context) LoadModule(image []byte) (m Module, err error) {
	// PTX is text and must end in a zero; a cubin does not mind one.
	image = append(image[:len(image):len(image)], 0)
	err = c.do("cuModuleLoadData", uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&image[0])))
	return m, err
}

// UnloadModule frees a module.
func (c *Context) UnloadModule(m Module) error {
	return c.do("cuModuleUnload", uintptr(m))
}

// Function finds a kernel by its name.
func (c *Context) Function(m Module, name string) (f Function, err error) {
	text := append([]byte(name), 0)
	err = c.do("cuModuleGetFunction", uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// Global finds a variable by its name, and its size in bytes.
func (c *Context) Global(m Module, name string) (a Address, size int, err error) {
	text := append([]byte(name), 0)
	var bytes uintptr
	err = c.do("cuModuleGetGlobal_v2", uintptr(unsafe.Pointer(&a)), uintptr(unsafe.Pointer(&bytes)), uintptr(m),
		uintptr(unsafe.Pointer(&text[0])))
	return a, int(bytes), err
}

// maxDynamicShared is a CUfunction_attribute.
const maxDynamicShared = 8

// AllowShared lets a kernel be launched with that much shared memory, in bytes. More
// than 48 KB must be asked for.
func (c *Context) AllowShared(f Function, size int64) error {
	return c.do("cuFuncSetAttribute", uintptr(f), maxDynamicShared, uintptr(size))
}

// Launch starts a kernel. Parameters points to an array of pointers to the
// arguments; all of it lies outside the Go heap.
func (c *Context) Launch(f Function, grid, block [3]int64, shared int64, s Stream, parameters unsafe.Pointer) error {
	return c.do("cuLaunchKernel", uintptr(f),
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), uintptr(s), uintptr(parameters), 0)
}
