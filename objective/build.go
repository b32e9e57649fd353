package objective

import "pawl/kernels"

// Build is how a point becomes machine code, without its parameters: what it takes
// to compile elsewhere what was measured here.
type Build struct {
	// Source is the file that is compiled, in the kernel's folder.
	Source string `json:"source"`
	// Compiler is the program and any leading arguments, as the user named it.
	Compiler []string `json:"compiler"`
	// Flags are in order, those that choose the machine included.
	Flags []string `json:"flags"`
	// Libraries are the flags of what the kernel is linked with.
	Libraries []string `json:"libraries,omitempty"`
	// Constants are the macros that come from the sizes of the workload.
	Constants []kernels.Constant `json:"constants,omitempty"`
}
