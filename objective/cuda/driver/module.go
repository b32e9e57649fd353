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
	err = c.do("cuModuleLoadData", c.cuModuleLoadData, uintptr(unsafe.Pointer(&m)), uintptr(unsafe.Pointer(&image[0])))
	return m, err
}

// UnloadModule frees a module.
func (c *Context) UnloadModule(m Module) error {
	return c.do("cuModuleUnload", c.cuModuleUnload, uintptr(m))
}

// Function finds a kernel by its name.
func (c *Context) Function(m Module, name string) (f Function, err error) {
	text := append([]byte(name), 0)
	err = c.do("cuModuleGetFunction", c.cuModuleGetFunction, uintptr(unsafe.Pointer(&f)), uintptr(m), uintptr(unsafe.Pointer(&text[0])))
	return f, err
}

// FunctionAttribute is CUfunction_attribute.
type FunctionAttribute int

// The attributes that this project reads and sets.
const (
	LocalBytes       FunctionAttribute = 3
	Registers        FunctionAttribute = 4
	MaxDynamicShared FunctionAttribute = 8
)

// Set changes an attribute of a kernel.
func (c *Context) SetFunction(f Function, a FunctionAttribute, value int) error {
	return c.do("cuFuncSetAttribute", c.cuFuncSetAttribute, uintptr(f), uintptr(a), uintptr(value))
}

// FunctionAttribute reads an attribute of a kernel.
func (c *Context) FunctionAttribute(f Function, a FunctionAttribute) (int, error) {
	var value int32
	err := c.do("cuFuncGetAttribute", c.cuFuncGetAttribute, uintptr(unsafe.Pointer(&value)), uintptr(a), uintptr(f))
	return int(value), err
}

// Occupancy returns how many blocks of a kernel fit on a multiprocessor.
func (c *Context) Occupancy(f Function, threads, shared int) (int, error) {
	var blocks int32
	err := c.do("cuOccupancyMaxActiveBlocksPerMultiprocessor", c.cuOccupancyBlocks, uintptr(unsafe.Pointer(&blocks)), uintptr(f), uintptr(threads), uintptr(shared))
	return int(blocks), err
}

// Launch starts a kernel. Parameters points to an array of pointers to the
// arguments; all of it lies outside the Go heap.
func (c *Context) Launch(f Function, grid, block [3]int64, shared int64, s Stream, parameters unsafe.Pointer) error {
	return c.do("cuLaunchKernel", c.cuLaunchKernel, uintptr(f),
		uintptr(grid[0]), uintptr(grid[1]), uintptr(grid[2]),
		uintptr(block[0]), uintptr(block[1]), uintptr(block[2]),
		uintptr(shared), uintptr(s), uintptr(parameters), 0)
}
