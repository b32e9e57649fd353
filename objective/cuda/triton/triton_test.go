package triton

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pawl/internal/python"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/worker"
)

// eachVersion runs a test with every Triton that PAWL_TEST_TRITON names by its Python, or with
// that of python3. A test that needs one fails under PAWL_REQUIRE_TRITON, and is skipped else.
func eachVersion(t *testing.T, test func(t *testing.T, tool *Tool)) {
	t.Helper()
	for _, path := range strings.Split(os.Getenv("PAWL_TEST_TRITON"), ":") {
		getenv := func(name string) string {
			if name == python.Variable && path != "" {
				return path
			}
			return os.Getenv(name)
		}
		tool, err := Find(t.Context(), getenv)
		if err != nil {
			if os.Getenv("PAWL_REQUIRE_TRITON") != "" {
				t.Fatal(err)
			}
			t.Skip(err)
		}
		t.Run(tool.Version(), func(t *testing.T) { test(t, tool) })
	}
}

// folder writes files to a new folder.
func folder(t *testing.T, files map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range files {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

const header = `import torch
import triton
import triton.language as tl
from helper import halved
print("nobody reads this")
DEVICE = triton.runtime.driver.active.get_active_torch_device()
`

const helper = `import triton
import triton.language as tl

@triton.jit
def halved(x, KIND: tl.constexpr):
    if KIND == "bad":
        return x.no_such_thing()
    return x * 0.5
`

const source = header + `
@triton.autotune(configs=[triton.Config({"BLOCK": 64})], key=["n"])
@triton.heuristics({"DOUBLE": lambda given: given["BLOCK"] * 2, "HAS_BIAS": lambda given: given["bias"] is not None})
@triton.jit
def scale(x, bias, y, n, stride, BLOCK: tl.constexpr, DOUBLE: tl.constexpr, HAS_BIAS: tl.constexpr,
          KIND: tl.constexpr = "good"):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    value = halved(tl.load(x + at * stride, mask=at < n), KIND)
    if HAS_BIAS:
        value += tl.load(bias + at, mask=at < n)
    tl.static_assert(DOUBLE == 2 * BLOCK)
    tl.store(y + at, value, mask=at < n)

@triton.heuristics({"EVEN": lambda given: given["n"] % 64 == 0})
@triton.jit
def even(x, n, EVEN: tl.constexpr):
    tl.store(x, n)

@triton.jit
def described(x, y, n, BLOCK: tl.constexpr):
    table = tl.make_tensor_descriptor(x, shape=[n, BLOCK], strides=[BLOCK, 1], block_shape=[16, BLOCK])
    tile = table.load([tl.program_id(0) * 16, 0])
    tl.store(y + tl.arange(0, 16)[:, None] * BLOCK + tl.arange(0, BLOCK)[None, :], tile)

def plain(x):
    return torch.empty_like(x)
`

var three = []nvcc.TileArgument{
	{Name: "x", Type: "*f16", Divisible: true}, {Name: "y", Type: "*f16", Divisible: true},
	{Name: "n", Type: "i32", Divisible: true}, {Name: "stride", Type: "i32", One: true},
}

func unit(dir, entry string, arguments []nvcc.TileArgument, constants map[string]any) nvcc.Unit {
	return nvcc.Unit{
		Dir: dir, Source: "kernel.py", Architecture: "sm_90",
		Tile: &nvcc.Tile{Entry: entry, Arguments: arguments, Constants: constants, Launch: []string{"GRID"}},
	}
}

// What is compiled in leaves the list of arguments, and the compiler says the rest of a launch.
func TestCompilesUnderDecorators(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		kept, err := cache.Open(t.TempDir())
		if err != nil {
			t.Fatal(err)
		}
		compiler := &nvcc.Compiler{Tool: tool, Cache: kept}
		dir := folder(t, map[string]string{"kernel.py": source, "helper.py": helper})
		constants := map[string]any{"BLOCK": 128, "NUM_WARPS": 2, "GRID": 7, "bias": "None"}
		module, err := compiler.Compile(t.Context(), unit(dir, "scale", three, constants))
		if err != nil {
			t.Fatal(err)
		}
		launch := module.Launch
		if symbol, err := module.Symbol("scale"); err != nil || module.Kernels[symbol].Registers == 0 {
			t.Errorf("%s %v %v", symbol, module.Kernels, err)
		}
		if launch.Threads != 64 || launch.Shared != 0 || !slices.Equal(launch.Arguments, []string{"x", "y", "n"}) {
			t.Errorf("%+v", launch)
		}
		if slices.ContainsFunc(launch.Scratch, func(size int64) bool { return size != 0 }) || len(launch.Scratch) == 0 {
			t.Errorf("scratch %v", launch.Scratch)
		}
		described, err := compiler.Compile(t.Context(), unit(dir, "described", three[:3], map[string]any{"BLOCK": 64}))
		if err != nil {
			t.Fatal(err)
		}
		if described.Launch.Scratch[0] < 128 {
			t.Errorf("a tensor map made on the device has %v bytes of scratch", described.Launch.Scratch)
		}
		// Another point of it needs more shared memory than this GPU is said to have.
		tight := unit(dir, "described", three[:3], map[string]any{"BLOCK": 128})
		tight.MostShared = 1024
		_, err = compiler.Compile(t.Context(), tight)
		failure, err := objective.CompileFailure(err, 0)
		if err != nil || failure == nil || failure.Reason != objective.Infeasible ||
			!strings.HasSuffix(failure.Detail, "bytes of shared memory; the GPU gives a block 1024") {
			t.Errorf("%v, %v", failure, err)
		}
		// Another helper is another key, and the process reads it again.
		if err := os.WriteFile(filepath.Join(dir, "helper.py"), []byte(strings.Replace(helper, "0.5", "3.0", 1)),
			0o644); err != nil {
			t.Fatal(err)
		}
		changed, err := compiler.Compile(t.Context(), unit(dir, "scale", three, constants))
		if err != nil || changed.Hit || changed.Digest == module.Digest {
			t.Errorf("%+v, %v", changed, err)
		}
	})
}

func TestSaysWhatIsWrong(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		dir := folder(t, map[string]string{"kernel.py": source, "helper.py": helper})
		right := map[string]any{"BLOCK": 128, "bias": "None"}
		with := func(name string, value any) map[string]any {
			return map[string]any{"BLOCK": 128, "bias": "None", name: value}
		}
		for _, test := range []struct {
			entry     string
			arguments []nvcc.TileArgument
			constants map[string]any
			says      string
			point     bool // it is wrong with this point, and not with all
		}{
			{"missing", three, right, "kernel.py has no function missing; there are described, even, halved, scale", false},
			{"plain", three, right, "kernel.py: plain is no @triton.jit function; there are", false},
			{"scale", append(slices.Clone(three), nvcc.TileArgument{Name: "z", Type: "i32"}), right,
				"scale has no argument z; it takes x, bias, y, n", false},
			{"scale", three, with("BLOKC", 3), "BLOKC is neither an argument of scale, nor one of num_warps", false},
			{"scale", three[:3], right, "argument stride of scale has no value", false},
			{"scale", append(slices.Clone(three), nvcc.TileArgument{Name: "KIND", Type: "i32"}), right,
				"argument KIND of scale is a tl.constexpr", false},
			{"even", []nvcc.TileArgument{three[0], three[2]}, map[string]any{},
				"the heuristic for EVEN of even depends on argument n, which is not known", false},
			{"scale", three, with("num_ctas", 2), "num_ctas is 2", true},
			{"scale", three, with("BLOCK", 100), "kernel.py:13:37: error: arange's range must be a power of 2", true},
			{"scale", three, with("KIND", "bad"), "helper.py:7:16: error: AttributeError", true},
		} {
			output := filepath.Join(t.TempDir(), "cubin")
			_, err := tool.Build(t.Context(), 20*time.Second, unit(dir, test.entry, test.arguments, test.constants), t.TempDir(),
				output)
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s %v: %v", test.entry, test.constants, err)
			}
			if refused := (*worker.Refusal)(nil); errors.As(err, &refused) != test.point {
				t.Errorf("%s %v: %T", test.entry, test.constants, err)
			}
		}
		if _, err := tool.Build(t.Context(), 20*time.Second, unit(dir, "scale", three, right), t.TempDir(),
			filepath.Join(t.TempDir(), "cubin")); err != nil {
			t.Errorf("after all that: %v", err)
		}
	})
}

// A file that is broken is so for every point; one that ends its process costs one compilation.
func TestBrokenFiles(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		for name, test := range map[string]struct {
			text, says string
			point      bool
		}{
			"syntax":  {"import triton\ndef f(:\n", "kernel.py:2: error:", false},
			"missing": {"import triton\nimport nothing_like_it\n", "kernel.py:2: error: ModuleNotFoundError", false},
			"exit":    {"import sys\nsys.exit(3)\n", "kernel.py:2: error: SystemExit: 3", false},
			"death": {"import os\nos._exit(3)\n", "the compiler itself ended: Python ended without an answer (exit status 3)",
				true},
		} {
			dir := folder(t, map[string]string{"kernel.py": test.text})
			_, err := tool.Build(t.Context(), 20*time.Second, unit(dir, "f", nil, nil), t.TempDir(),
				filepath.Join(t.TempDir(), "cubin"))
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("%s: %v", name, err)
			}
			if refused := (*worker.Refusal)(nil); errors.As(err, &refused) != test.point {
				t.Errorf("%s: %T", name, err)
			}
		}
	})
}

func TestWithoutTriton(t *testing.T) {
	path, err := python.Find(os.Getenv)
	if err != nil {
		t.Skip(err)
	}
	bare := filepath.Join(t.TempDir(), "python")
	if err := os.WriteFile(bare, []byte("#!/bin/sh\nexec "+path+" -I -S \"$@\"\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	_, err = Find(t.Context(), func(name string) string { return map[string]string{python.Variable: bare}[name] })
	if err == nil || !strings.Contains(err.Error(), "has no Triton") {
		t.Errorf("%v", err)
	}
}
