package nvcc

import (
	"os"
	"testing"

	"pawl/objective/cache"
)

// A warm compilation of a real cubin, key included.
func BenchmarkWarmCompile(b *testing.B) {
	tool, err := Find(b.Context(), os.Getenv)
	if err != nil {
		b.Skip("not run: ", err)
	}
	kept, err := cache.Open(b.TempDir())
	if err != nil {
		b.Fatal(err)
	}
	c := &Compiler{Tool: tool, Cache: kept}
	unit := Unit{Dir: "testdata/units", Source: "several.cu", Architecture: "sm_90"}
	if _, err := c.Compile(b.Context(), unit); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if module, err := c.Compile(b.Context(), unit); err != nil || !module.Hit {
			b.Fatal(module, err)
		}
	}
}
