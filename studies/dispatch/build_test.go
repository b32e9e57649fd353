package dispatch

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/cache"
	"pawl/objective/host"
)

// shipped is a kernel of some kind, with the two points of it that are shipped.
type shipped struct {
	files  map[string]string
	points [2]string
	// declare declares a variant, and call calls it through the name that the header has.
	declare, call string
	// functions are what the header has a name for, "function" where it is empty; program is the file that calls them,
	// main.c where it is empty.
	functions, program string
	// without must not be in the header.
	without string
}

const shippedManifest = `name: scale
entry: scale
source: {host: scale.c}
reference: {host: scale.c}
params: {FACTOR: {values: [2, 3], default: 2}, LEVEL: {values: ["-O1", "-O2"], default: "-O1"}}
workloads: {small: {N: 100}, large: {N: 1000}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
flags: ["{LEVEL}"]
`

const plainly = "extern scale_function function;"

// A variant multiplies by its FACTOR, so that a program sees which one it has called.
var shippedKinds = map[string]shipped{
	"a pragma unrolls by a parameter": {
		files: map[string]string{"kernel.yaml": shippedManifest, "scale.c": `#include <stdint.h>
void scale(const float *x, float *y, int32_t N) {
#pragma GCC unroll FACTOR
	for (int i = 0; i < N; i++) y[i] = FACTOR * x[i];
}
`},
		points: [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O2\""}, declare: plainly, call: "function",
		without: "LEVEL",
	},
	"a template": {
		files: map[string]string{"kernel.yaml": strings.NewReplacer(
			"entry: scale", "entry: \"tiled::scale<{FACTOR}, float>\"",
			"scale.c}\nreference", "scale.cpp}\nreference").Replace(shippedManifest),
			"scale.c": "", "scale.cpp": `#include <cstdint>
namespace tiled {
template <int Factor, typename T> void scale(const T *x, T *y, std::int32_t n) {
	for (int i = 0; i < n; i++) y[i] = Factor * x[i];
}
}
`},
		points:  [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""},
		declare: "extern scale_function *const function;", call: "(*function)", without: "{FACTOR}",
	},
	"a namespace": {
		files: map[string]string{"kernel.yaml": strings.NewReplacer("entry: scale", "entry: \"tiled::scale\"",
			"scale.c}\nreference", "scale.cpp}\nreference").Replace(shippedManifest),
			"scale.c": "", "scale.cpp": `#include <cstdint>
namespace tiled {
void scale(const float *x, float *y, std::int32_t n) {
	for (int i = 0; i < n; i++) y[i] = FACTOR * x[i];
}
}
`},
		points:  [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""},
		declare: "namespace tiled { extern scale_function function; }", call: "tiled::function", program: "main.cpp",
	},
	"several entries": {
		files: map[string]string{"kernel.yaml": shippedManifest + `launch:
  - {entry: twice, args: [x, y, N]}
  - {entry: half, args: [x, y, N]}
  - {entry: half, args: [x, y, N]}
`, "scale.c": `#include <stdint.h>
void twice(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] = 2 * FACTOR * x[i];
}
void half(const float *x, float *y, int32_t N) {
	for (int i = 0; i < N; i++) y[i] /= 2;
}
`},
		points:  [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""},
		declare: "extern scale_function first, second;", call: "first(x, y + number, 1); second", functions: "first, second",
	},
	"several instances of a template": {
		files: map[string]string{"kernel.yaml": strings.Replace(shippedManifest, "scale.c}\nreference",
			"scale.cpp}\nreference", 1) + `launch:
  - {entry: "times<{FACTOR}>", args: [x, y, N]}
  - {entry: "times<1>", args: [x, y, N]}
`, "scale.c": "", "scale.cpp": `#include <cstdint>
template <int Factor> void times(const float *x, float *y, std::int32_t n) {
	for (int i = 0; i < n; i++) y[i] = Factor * x[i];
}
`},
		points:  [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""},
		declare: "extern scale_function *const first, *const second;", functions: "first, second",
		call: "(*second)(x, y + number, 1); (*first)",
	},
	"OpenMP": {
		files: map[string]string{"kernel.yaml": strings.Replace(shippedManifest, `["{LEVEL}"]`, `["{LEVEL}", -fopenmp]`, 1),
			"scale.c": `#include <omp.h>
#include <stdint.h>
void scale(const float *x, float *y, int32_t N) {
#pragma omp parallel for
	for (int i = 0; i < N; i++) y[i] = FACTOR * x[i] + 0 * omp_get_thread_num();
}
`},
		points: [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""}, declare: plainly, call: "function",
	},
	"several files and a structure": {
		files: map[string]string{"kernel.yaml": strings.NewReplacer("{host: scale.c}\nreference",
			"{host: [scale.c, part/factor.c]}\nreference").Replace(shippedManifest),
			"factor.h": "struct factor { double by; };\nextern int calls;\nstruct factor factor(void);\n",
			"scale.c": `#include <stdint.h>
#include "factor.h"
void scale(const float *x, float *y, int32_t N) {
	calls++;
	for (int i = 0; i < N; i++) y[i] = (float)(factor().by * x[i]);
}
`, "part/factor.c": `#include "../factor.h"
int calls;
struct factor factor(void) { return (struct factor){FACTOR * (calls > 0)}; }
`},
		points: [2]string{"FACTOR=2,LEVEL=\"-O1\"", "FACTOR=3,LEVEL=\"-O1\""}, declare: plainly, call: "function",
	},
}

// ship writes the table of a kernel's two points into a folder with the kernel and a program that calls them.
func ship(t *testing.T, kind shipped) (string, *Table) {
	t.Helper()
	folder := t.TempDir()
	program := cmp.Or(kind.program, "main.c")
	files := map[string]string{program: strings.NewReplacer("DECLARATION", kind.declare,
		"FUNCTIONS", cmp.Or(kind.functions, "function"), "CALL", kind.call,
		"DEVICE", strconv.Quote(host.Processor())).Replace(
		`#include <stdint.h>
#include "scale_dispatch.h"
typedef void scale_function(const float *x, float *y, int32_t N);
#define DECLARE(number, FUNCTIONS) DECLARATION
SCALE_DISPATCH_EACH(DECLARE)
#define RUN(number, FUNCTIONS) CALL(x, y + number, 1);
int run(void);
int run(void) {
	float x[1] = {5}, y[2] = {0, 0};
	SCALE_DISPATCH_EACH(RUN)
	return y[0] == 10 && y[1] == 15 && scale_dispatch(DEVICE, 900) == 1 ? 0 : 1;
}
#ifndef LIBRARY
int main(void) { return run(); }
#endif
`), "CMakeLists.txt": strings.ReplaceAll(`cmake_minimum_required(VERSION 3.13)
project(ship C CXX)
include(scale_dispatch.cmake)
add_library(ship SHARED main.c)
target_compile_definitions(ship PRIVATE LIBRARY)
scale_dispatch_add(ship .)
add_executable(program main.c)
scale_dispatch_add(program .)
`, "main.c", program)}
	for name, content := range kind.files {
		files[name] = content
	}
	for name, content := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	made := &Table{Prefix: "scale_dispatch", Kernel: "scale", Source: "s", Sizes: []string{"N"}}
	k, err := kernels.Load(folder, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	made.Entry = strings.Join(k.Launch.Entries(), "; ")
	for i, text := range kind.points {
		made.Variants = append(made.Variants, Variant{
			Point: point(t, text), Recipe: hostBuild(t, k, k.Workloads[i]).At(point(t, text)),
		})
		made.Entries = append(made.Entries, Entry{
			Device: host.Processor(), Workload: k.Workloads[i].Name, Sizes: k.Workloads[i].Dims, Variant: i,
		})
	}
	if err := made.check(); err != nil {
		t.Fatal(err)
	}
	if _, err := made.Write(folder, false); err != nil {
		t.Fatal(err)
	}
	return folder, made
}

func hostBuild(t *testing.T, k *kernels.Kernel, w kernels.Workload) *objective.Build {
	t.Helper()
	forC, forCPlusPlus, err := host.FindToolchains(t.Context(), k, os.Getenv)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	compiled, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	b, err := host.New(t.Context(), k, s, host.Options{Cache: compiled, Toolchain: forC, CPlusPlus: forCPlusPlus})
	if err != nil {
		t.Fatal(err)
	}
	return b.Facts().Environment.Build
}

func runIn(t *testing.T, folder, command string) {
	t.Helper()
	run := exec.CommandContext(t.Context(), "sh", "-ec", command)
	run.Dir = folder
	if output, err := run.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, output)
	}
}

// Every kind of kernel compiles as the header says, position-independent, and all variants fit into a program
// and into a shared library.
func TestEveryKindOfKernelIsShipped(t *testing.T) {
	for _, name := range thorough.Some(slices.Sorted(maps.Keys(shippedKinds)), 4) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			kind := shippedKinds[name]
			folder, made := ship(t, kind)
			header, err := os.ReadFile(filepath.Join(folder, "scale_dispatch.h"))
			if err != nil || kind.without != "" && strings.Contains(string(header), "#define "+kind.without) ||
				strings.Contains(string(header), "decltype(&tiled::scale<{") {
				t.Errorf("%v\n%s", err, header)
			}
			for i := range made.Variants {
				runIn(t, folder, made.Command(i))
			}
			link := "scale_dispatch_0.o scale_dispatch_1.o " + strings.Join(made.Variants[0].Libraries, " ")
			program := cmp.Or(kind.program, "main.c")
			runIn(t, folder, fmt.Sprintf("cc -Wall -Werror %s -o main %s -lstdc++ && ./main", program, link))
			runIn(t, folder,
				fmt.Sprintf("cc -shared -fPIC -DLIBRARY -Wl,-z,defs %s -o libship.so %s -lstdc++", program, link))
		})
	}
}

// CMake builds the same, for two targets that use one table. A plain test has it build one of them.
func TestEveryKindOfKernelIsShippedByCMake(t *testing.T) {
	if _, err := exec.LookPath("cmake"); err != nil {
		t.Skip(err)
	}
	for _, name := range thorough.Some(slices.Sorted(maps.Keys(shippedKinds)), 1) {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder, _ := ship(t, shippedKinds[name])
			runIn(t, folder, "cmake -S . -B built && cmake --build built && built/program && test -f built/libship.so")
		})
	}
}

// example copies the library of docs/shipping to where a test may write, with a kernel and its table.
func example(t *testing.T) string {
	t.Helper()
	folder := t.TempDir()
	kind := shippedKinds["a pragma unrolls by a parameter"]
	kind.points[1] = kind.points[0] // the library's function doubles, whatever variant is called
	kernel, _ := ship(t, kind)
	for from, to := range map[string]string{"../../docs/shipping": folder, kernel: filepath.Join(folder, "kernel")} {
		if err := os.CopyFS(to, os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return folder
}

// The library of the manual is built, finds this processor in its table and calls a variant of it.
func TestTheExampleLibrary(t *testing.T) {
	folder := example(t)
	if _, err := exec.LookPath("cmake"); err == nil {
		runIn(t, folder, "cmake -S . -B built && cmake --build built && built/test_scale && test -f built/libscale.so")
		return
	}
	runIn(t, folder, `cd kernel && grep -o 'cc .*\.o$' scale_dispatch.h | sh -e && cd .. &&
cc -Ikernel test.c scale.c device.c kernel/scale_dispatch_*.o -lm -o test_scale && ./test_scale &&
cc -shared -fPIC -Ikernel scale.c device.c kernel/scale_dispatch_*.o -lm -o libscale.so`)
}

// The extension of the manual is built where there is PyTorch.
func TestTheExampleExtension(t *testing.T) {
	if err := exec.CommandContext(t.Context(), "python3", "-c", "import torch, setuptools").Run(); err != nil {
		t.Skip("no PyTorch, or no setuptools")
	}
	folder := filepath.Join(example(t), "torch")
	runIn(t, folder, `python3 setup.py build_ext --inplace &&
python3 -c 'import torch, scale; assert scale.scale(torch.ones(3)).tolist() == [2, 2, 2]'`)
}
