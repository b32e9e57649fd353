package nvcc

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

var linked = map[string]string{
	"main.cu": "#include <shared.h>\n__device__ float helper(float);\n__constant__ float factor[4];\ntemplate <int " +
		"N> __global__ void scale(float *y) { y[threadIdx.x] = helper(N * y[threadIdx.x]) * factor[0] + OFFSET; }\n",
	"helper.cu": "__device__ __noinline__ float helper(float x) { float s[64]; for (int i = 0; i < 64; i++) s[(i * " +
		"SIZE) % 64] = x * i; return s[(int)x & 63]; }\n",
	"shared.h": "#define OFFSET 1.5f\n",
}

// Units are compiled on their own and linked; the key is of all of them, and the figures are
// the linker's.
func TestUnitsAreLinked(t *testing.T) {
	t.Parallel()
	c := newCompiler(t, realNVCC(t))
	dir := t.TempDir()
	for name, content := range linked {
		if name == "shared.h" {
			name = "include/shared.h"
		}
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	unit := Unit{
		Dir:          dir,
		Source:       "main.cu",
		Units:        []string{"helper.cu"},
		Architecture: "sm_90",
		Flags:        []string{"-Iinclude", "-maxrregcount=40"},
		Defines:      []Define{{"SIZE", "5"}},
		Instances:    []string{"scale<3>"},
	}
	module := compileUnit(t, c, unit)
	symbol, err := module.Symbol("scale<3>")
	// The helper keeps 64 floats on its stack, which only the linker adds to the kernel's.
	if figures := module.Kernels[symbol]; err != nil || figures.Registers == 0 || figures.Registers > 40 ||
		figures.Stack < 256 {
		t.Errorf("%s: %+v, %v", symbol, figures, err)
	}
	if err := os.WriteFile(filepath.Join(dir, "helper.cu"),
		[]byte(strings.ReplaceAll(linked["helper.cu"], "x * i", "x * i + 1")), 0o644); err != nil {
		t.Fatal(err)
	}
	if other := compileUnit(t, c, unit); other.Hit || other.Digest == module.Digest {
		t.Errorf("another helper: %+v", other)
	}
	unit.Units = nil
	if _, err := c.Compile(t.Context(), unit); err == nil || !strings.Contains(err.Error(), "helper") {
		t.Errorf("without the helper: %v", err)
	}
}

// The compiler's own switches take the values of parameters: what they change is in the figures
// and in the machine code, and a control that it does not have is its error.
func TestSwitchesWithValues(t *testing.T) {
	t.Parallel()
	c := newCompiler(t, realNVCC(t))
	dir := t.TempDir()
	wide := "extern \"C\" __global__ void wide(float *y) { float s[64]; for (int i = 0; i < 64; i++) s[i] = y[i * 64 + " +
		"threadIdx.x];\n" +
		"for (int i = 0; i < 64; i++) y[i * 64 + threadIdx.x] = sinf(s[i]) + s[63 - i]; }\n"
	if err := os.WriteFile(filepath.Join(dir, "wide.cu"), []byte(wide), 0o644); err != nil {
		t.Fatal(err)
	}
	unit := Unit{Dir: dir, Source: "wide.cu", Architecture: "sm_90"}
	compile := func(flags ...string) Module {
		unit.Flags = flags
		return compileUnit(t, c, unit)
	}
	plain, narrow := compile("-O3", "-maxrregcount=255"), compile("-O3", "-maxrregcount=24")
	if narrow.Kernels["wide"].Registers > 24 || plain.Kernels["wide"].Registers <= 24 || narrow.Digest == plain.Digest {
		t.Errorf("%+v, %+v", narrow.Kernels["wide"], plain.Kernels["wide"])
	}
	if fast := compile("-O3", "-maxrregcount=255", "--use_fast_math"); fast.Digest == plain.Digest {
		t.Error("fast sines are the same code")
	}
	if expensive := compile("-O3", "-Xptxas=--allow-expensive-optimizations=true"); len(expensive.Kernels) != 1 {
		t.Errorf("%+v", expensive)
	}
	unit.Flags = []string{"-Xptxas=--apply-controls=no/such/file"}
	if _, err := c.Compile(t.Context(), unit); err == nil {
		t.Error("a control file that is not there was taken")
	}
}
