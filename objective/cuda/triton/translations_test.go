package triton

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
)

const translatedSource = `import triton
import triton.language as tl
from triton.language.extra import cuda

@triton.jit
def total(x, y, n, BLOCK: tl.constexpr):
    value = tl.load(x + tl.arange(0, BLOCK), mask=tl.arange(0, BLOCK) < n, other=0.0)
    tl.store(y, tl.sum(value, 0))

@triton.jit
def asks(x, y, n, BLOCK: tl.constexpr):
    tl.store(y, x.dtype.element_ty.primitive_bitwidth * cuda.num_threads())
`

// Points that differ in options of the compiler share a function's translation, and get the same machine code as
// without. A function that asks for an option is translated for each point, and a changed one anew.
func TestPointsShareATranslation(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		dir := folder(t, map[string]string{"kernel.py": translatedSource})
		build := func(with *Tool, entry string, warps int) string {
			t.Helper()
			kept, err := cache.Open(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			compiler := &nvcc.Compiler{Tool: with, Cache: kept}
			constants := map[string]any{"BLOCK": 1024, "num_warps": warps}
			module, err := compiler.Compile(t.Context(), unit(dir, entry, three[:3], constants))
			if err != nil {
				t.Fatal(err)
			}
			return module.File
		}
		alone := func(entry string, warps int) string {
			return build(&Tool{server: tool.server, about: tool.about}, entry, warps)
		}
		for _, entry := range []string{"total", "asks"} {
			made := map[*translation]bool{}
			for _, warps := range []int{2, 8, 4} {
				if build(tool, entry, warps) != alone(entry, warps) {
					t.Errorf("%s in %d warps differs from what is compiled without another's translation", entry, warps)
				}
				for _, translated := range tool.translated.found {
					made[translated] = true
				}
			}
			if len(made) != 1 {
				t.Errorf("after %s there were %d translations, and total has one for all options", entry, len(made))
			}
			if alone(entry, 2) == alone(entry, 8) {
				t.Errorf("%s is the same in 2 and in 8 warps", entry)
			}
		}
		if n := len(tool.translated.found); n != 1 {
			t.Fatalf("%d functions have a translation, and one asks for no option", n)
		}
		before := build(tool, "total", 4)
		changed := strings.Replace(translatedSource, "other=0.0", "other=1.0", 1)
		if err := os.WriteFile(filepath.Join(dir, "kernel.py"), []byte(changed), 0o644); err != nil {
			t.Fatal(err)
		}
		if after := build(tool, "total", 4); after == before || after != alone("total", 4) {
			t.Error("a changed function was compiled from the translation of the old one")
		}
	})
}
