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
	"pawl/kernels/scaffold"
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
			{"missing", three, right, "kernel.py has no function missing; there are described, even, scale", false},
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
			"syntax": {"import triton\ndef f(:\n", "kernel.py:2: error:", false},
			"missing": {"import triton\nfrom nothing.like import it\n@triton.jit\ndef f(x, n=it.size + nowhere):\n    pass\n",
				"kernel.py:4: error: NameError: name 'nowhere' is not defined", false},
			"exit": {"import sys\nimport triton\nSIZE = sys.exit(3)\n@triton.jit\ndef f(x, n=2):\n    x + SIZE\n",
				"kernel.py:3: error: SystemExit: 3", false},
			"none": {"import nothing_like_it\nnothing_like_it.begin()\n",
				"kernel.py has no function f; there are no @triton.jit functions", false},
			"death": {"import os\nimport triton\nSIZE = os._exit(3)\n@triton.jit\ndef f(x):\n    x + SIZE\n",
				"the compiler itself ended: Python ended without an answer (exit status 3)", true},
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

func write(t *testing.T, file, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o755), os.WriteFile(file, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// library is a package as people write them: its own decorators, annotations with PyTorch's types, devices that are
// asked for and kernels that are launched at import, and constants and helpers in other files of it.
var library = map[string]string{
	"ops/__init__.py": "raise SystemExit('a package is not imported')\n",
	"ops/rows/scale.py": `from __future__ import annotations
import functools
import torch
import nowhere_installed
import triton
import triton.language as tl
from einops import rearrange
from ..shared import FACTOR, helped, listed, tune, Guard
from ..shared.more import *
from ops.shared import bits as tle

SIZES: list[int] | None = torch.cuda.get_device_properties(0).sizes
print(torch.ones(3)[0] + 1)

def launch(x: torch.Tensor | None = None) -> torch.Tensor:
    return nowhere_installed.go(x)

if torch.cuda.get_device_capability()[0] >= 8:
    @Guard()
    @tune(configs=[triton.Config({"BLOCK": b, "DEEP": None}, num_warps=w) for b in listed() for w in (2, 4)], key=["n"],
          strategy=["log"])
    @triton.heuristics({"HAS_BIAS": lambda given: given["bias"] is not None, "EVEN": lambda given: given["n"] % 2 == 0})
    @triton.jit
    def scale(x: torch.Tensor, bias, y, n, eps, BLOCK: tl.constexpr, DEEP: tl.constexpr, HAS_BIAS: tl.constexpr,
              EVEN: tl.constexpr):
        at = tle.program_id(0) * BLOCK + tl.arange(0, BLOCK)
        value = helped(tl.load(x + at, mask=at < n), FACTOR) + eps
        if HAS_BIAS:
            value += tl.load(bias)
        tl.store(y + at, value * STARRED, mask=at < n)

@triton.autotune(configs=nowhere_installed.configs(), key=["n"], reset_to_zero=["y"],
                 prune_configs_by={"early_config_prune": launch})
@triton.jit
def added(x, y, n, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(y + tl.program_id(0), tl.sum(tl.load(x + at, mask=at < n)))

launch(scale[(1,)](None))
`,
	"ops/shared/__init__.py": `import torch
import triton
import triton.language as tl
from .bits import program_id

DEVICE = torch.device("cuda") if torch.cuda.is_available() else exit()
FACTOR = tl.constexpr(3)

def listed():
    return [64, 128] if program_id is not None else rearranged()

class Guard(torch.nothing): pass

def tune(**given):
    raise RuntimeError("this measures")

@triton.jit
def helped(x, by: tl.constexpr):
    return x * by
`,
	"ops/shared/bits.py": `import triton
import triton.language as tl

@triton.jit
def program_id(axis):
    return tl.program_id(axis)
`,
	"ops/shared/more.py": "import triton.language as tl\nSTARRED = tl.constexpr(2)\n",
}

// Of a package only what a kernel needs is run, and it is compiled from a copy of those files.
func TestReadsKernelsOutOfAPackage(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		dir := t.TempDir()
		for name, content := range library {
			write(t, filepath.Join(dir, name), content)
		}
		found, err := tool.Describe(t.Context(), filepath.Join(dir, "ops", "rows", "scale.py"), "scale")
		if err != nil {
			t.Fatal(err)
		}
		wanted := []string{
			"ops/__init__.py", "ops/rows/scale.py", "ops/shared/__init__.py", "ops/shared/bits.py", "ops/shared/more.py",
		}
		if !slices.Equal(found.Files, wanted) || found.Root != dir || found.Source != wanted[1] || len(found.Functions) != 1 {
			t.Fatalf("%+v", found)
		}
		scale := found.Functions[0]
		last := scale.Configs[len(scale.Configs)-1]
		if len(scale.Configs) != 4 || last["BLOCK"].Integer() != 128 || last["num_warps"].Integer() != 4 ||
			last["DEEP"].String() != "None" || !slices.Equal(scale.Heuristics, []string{"HAS_BIAS"}) {
			t.Errorf("%+v", scale)
		}
		made, err := scaffold.FromTiles("scale", "scale.py", found, "scale")
		if err != nil {
			t.Fatal(err)
		}
		manifest := string(made.Files[0].Content)
		for _, line := range []string{
			"source: {triton: ops/rows/scale.py}", "  BLOCK: {values: [64, 128], default: 64}",
			"  - {BLOCK: 128, DEEP: \"None\", num_warps: 4, num_stages: 3}", "bias: {values: [None], default: None}",
			"  - {name: x, type: f32, shape: [n]}", `grid: ["cdiv(n, BLOCK)"]`,
		} {
			if !strings.Contains(manifest, line) {
				t.Errorf("%q is missing in\n%s", line, manifest)
			}
		}
		copied := t.TempDir()
		for _, file := range made.Files {
			write(t, filepath.Join(copied, file.Name), string(file.Content))
		}
		asked := unit(copied, "scale", []nvcc.TileArgument{
			{Name: "x", Type: "*f32", Divisible: true}, {Name: "y", Type: "*f32", Divisible: true}, {Name: "n", Type: "i32"},
			{Name: "eps", Type: "f32"},
		}, map[string]any{"BLOCK": 128, "DEEP": "None", "bias": "None", "EVEN": false})
		asked.Source = "ops/rows/scale.py"
		output := filepath.Join(t.TempDir(), "cubin")
		if _, err := tool.Build(t.Context(), time.Minute, asked, t.TempDir(), output); err != nil {
			t.Error(err)
		}
		others, err := tool.Describe(t.Context(), filepath.Join(dir, "ops", "rows", "scale.py"), "added")
		if err != nil || len(others.Functions) != 1 {
			t.Fatal(err)
		}
		said := others.Functions[0].Said
		if !strings.Contains(said["configs"], "scale.py:32: the list of configurations is empty here") ||
			said["reset_to_zero"] != "['y']" || !strings.Contains(said["prune_configs_by"], "early_config_prune") {
			t.Errorf("%q", said)
		}
		if y := others.Functions[0].Parameters[1]; len(y.Shape) > 0 {
			t.Errorf("as many elements as programs: %v", y.Shape)
		}
	})
}

const rows = `import triton
import triton.language as tl

@triton.autotune(configs=[triton.Config({"BLOCK": b}, num_warps=w) for b in (64, 32) for w in (2, 8)], key=["n"])
@triton.jit
def product(x, y, z, bias, m, n, stride_m, total, eps, BLOCK: tl.constexpr, GROUP: tl.constexpr, D: tl.constexpr,
            KIND: tl.constexpr, RELU: tl.constexpr, TYPE: tl.constexpr):
    row, block = tl.program_id(0) // tl.cdiv(n, BLOCK), tl.program_id(0) % tl.cdiv(n, BLOCK)
    at = block * BLOCK + tl.arange(0, BLOCK)
    value = tl.load(x + row * stride_m + at, mask=at < n).to(tl.float32) * tl.load(y + row) + eps
    if bias is not None:
        value += tl.load(bias + at, mask=at < n)
    tl.store(z + row * n + at, value.to(TYPE), mask=at < n)

@triton.jit
def first(x):
    tl.store(x, 1)
`

const program = `import sys
import torch
import triton
import triton.language as tl
import rows

def run():
    x = torch.randn(96, 1024, device="cuda", dtype=torch.float16)
    y = torch.randint(0, 4, (96,), device="cuda", dtype=torch.int32)
    z = torch.empty_like(x, dtype=torch.float32)
    rows.first[(1,)](y)
    m, n = x.shape
    grid = lambda given: (m * triton.cdiv(n, given["BLOCK"]),)
    rows.product[grid](x, y, z, None, m, n, x.stride(0), x.numel(), 1e-5, GROUP=8, D=n, KIND="rms", RELU=True,
                       TYPE=tl.float32)
    raise SystemExit("nothing that follows is run")

if __name__ == "__main__":
    run() if len(sys.argv) == 1 else None
`

// What a program calls a kernel with becomes a manifest without anything to fill in, on a machine without a GPU too.
func TestDescribesACall(t *testing.T) {
	eachVersion(t, func(t *testing.T, tool *Tool) {
		dir := folder(t, map[string]string{
			"rows.py": rows, "program.py": program, "other.py": "import rows\nraise ValueError(3)\n",
		})
		file := filepath.Join(dir, "rows.py")
		found, err := tool.Describe(t.Context(), file, "product")
		if err != nil {
			t.Fatal(err)
		}
		found.Call, err = tool.Record(t.Context(), filepath.Join(dir, "program.py"), file, "product", dir)
		if err != nil {
			t.Fatal(err)
		}
		made, err := scaffold.FromTiles("product", file, found, "product")
		if err != nil {
			t.Fatal(err)
		}
		manifest := string(made.Files[0].Content)
		for _, line := range []string{
			"  BLOCK: {values: [32, 64], default: 64}", "  num_warps: {values: [2, 8], default: 2}",
			"  - {BLOCK: 32, num_warps: 8, num_stages: 3}", `  bias: {values: ["None"], default: "None"}`,
			"  GROUP: {values: [4, 8, 16], default: 8}", `  KIND: {values: ["rms"], default: "rms"}`,
			"  RELU: {values: [true], default: true}", `  TYPE: {values: ["tl.float32"], default: "tl.float32"}`,
			"  called: {m: 96, n: 1024}", "  - {name: x, type: f16, shape: [m, n]}", "  - {name: y, type: i32, shape: [m]",
			"  - {name: z, type: f32, shape: [m, n], out: true}", `  - {name: stride_m, type: i32, value: "n"}`,
			`  - {name: total, type: i32, value: "m * n"}`, "  - {name: eps, type: f32, value: 1e-05}",
			`  grid: ["cdiv(n, BLOCK) * m"]`,
		} {
			if !strings.Contains(manifest, line) {
				t.Errorf("%q is missing in\n%s", line, manifest)
			}
		}
		if strings.Contains(manifest, `"?"`) {
			t.Errorf("something is left to fill in:\n%s", manifest)
		}
		for program, says := range map[string]string{
			"other.py": "did not get to a call of product: ",
			"rows.py":  "rows.py ended without a call of product nor any other kernel",
		} {
			_, err := tool.Record(t.Context(), filepath.Join(dir, program), file, "product", dir)
			if err == nil || !strings.Contains(err.Error(), says) {
				t.Errorf("%s: %v", program, err)
			}
		}
	})
}
