package cuda

import (
	"context"
	"path"
	"slices"
	"strings"

	"pawl/internal/collect"
	"pawl/kernels"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/cuda/triton"
)

// compiler is a way from a kernel's source to machine code for the driver.
type compiler struct {
	// name is what --compiler calls it, title what pawl doctor does.
	name, title string
	// reads is how the names of its sources end.
	reads string
	find  func(ctx context.Context, getenv func(string) string) (nvcc.Tool, error)
}

// compilers are all of them, the default for each kind of source before the others.
var compilers = []compiler{
	{"nvcc", "nvcc", ".cu", func(ctx context.Context, getenv func(string) string) (nvcc.Tool, error) {
		return nvcc.Find(ctx, getenv)
	}},
	{"triton", "Triton", ".py", func(ctx context.Context, getenv func(string) string) (nvcc.Tool, error) {
		return triton.Find(ctx, getenv)
	}},
}

// compilerFor returns the compiler that was asked for, or the default, among those that read
// the kernel's source; where none says that it does, among all. The kernel may be nil.
func compilerFor(k *kernels.Kernel, asked string) compiler {
	reading := collect.Where(compilers, func(c compiler) bool {
		return k != nil && c.reads == strings.ToLower(path.Ext(k.Source))
	})
	if len(reading) == 0 {
		reading = compilers
	}
	return reading[max(0, slices.IndexFunc(reading, func(c compiler) bool { return c.name == asked }))]
}
