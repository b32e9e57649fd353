package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective/cuda/nvcc"
)

const signatureManifest = `name: mixed
entry: mixed
source: {cuda: mixed.cu}
reference: {cuda: mixed.cu}
params: {BLOCK: {values: [32], default: 32}}
workloads: {small: {N: 64}}
args:
  - {name: x, type: f32, shape: [N]}
  - {name: y, type: f64, shape: [N], out: true}
  - {name: n, type: i32, value: N}
  - {name: scale, type: f64, value: 2.0}
  - {name: where, type: step, fields: [{name: a, type: i32, value: 1}, {name: b, type: f64, value: 2.0}]}
  - {name: filter, type: f32, shape: [9], symbol: filter}
launch: {grid: [1], block: [BLOCK]}
`

const signatureSource = `struct step { int a; double b; };
__constant__ float filter[9];
__constant__ float unused[4];
LINKAGE __global__ void mixed(const float *x, double *y, int n, double scale, step where) {
	if (threadIdx.x < n) y[threadIdx.x] = x[threadIdx.x] * filter[n % 9] * scale + where.a + where.b;
}
`

// What the manifest says of a function is compared with what its compiler made of it. The types are known of functions
// of C++ alone: the symbol of another has none.
func TestManifestsAreComparedWithMachineCode(t *testing.T) {
	compiler := realCompiler(t)
	for _, linkage := range []string{"", `extern "C"`} {
		dir := t.TempDir()
		source := strings.Replace(signatureSource, "LINKAGE", linkage, 1)
		if err := os.WriteFile(filepath.Join(dir, "mixed.cu"), []byte(source), 0o644); err != nil {
			t.Fatal(err)
		}
		module, err := compiler.Compile(t.Context(), nvcc.Unit{Dir: dir, Source: "mixed.cu", Architecture: "sm_90"})
		if err != nil {
			t.Fatal(err)
		}
		symbol, err := module.Symbol("mixed")
		if err != nil {
			t.Fatal(err)
		}
		for _, test := range []struct {
			before, after, says string
			typed               bool // only the symbol of C++ says it
		}{
			{"", "", "", false},
			{"  - {name: scale, type: f64, value: 2.0}\n", "",
				"mixed takes 5 arguments, and the manifest has 4 for it (x, y, n, where)", false},
			{"{name: n, type: i32", "{name: n, type: i64",
				"argument n is a i64 of 8 bytes in the manifest, and parameter 3 of mixed has 4", false},
			{"{name: n, type: i32, value: N}", "{name: n, type: i32, shape: [N]}",
				"argument n is a pointer of 8 bytes in the manifest, and parameter 3 of mixed has 4", false},
			{"{name: x, type: f32", "{name: x, type: f64",
				"argument x is of type f64 in the manifest, and parameter 1 of mixed is float const*", true},
			{"{name: n, type: i32, value: N}", "{name: n, type: f32, value: 1.0}",
				"argument n is of type f32 in the manifest, and parameter 3 of mixed is int", true},
			{"{name: n, type: i32", "{name: n, type: u32", "", false},
			{"{name: b, type: f64, value: 2.0}", "{name: b, type: f64, value: 2.0}, {name: c, type: f64, value: 3.0}",
				"argument where is a structure of 24 bytes in the manifest, and parameter 5 of mixed has 16", false},
			{"symbol: filter", "symbol: filters", "the module has no variable filters for argument filter", false},
			{"symbol: filter", "symbol: unused", "the variable unused has 16 bytes, and argument filter 36", false},
		} {
			manifest := strings.Replace(signatureManifest, test.before, test.after, 1)
			if err := os.WriteFile(filepath.Join(dir, kernels.ManifestName), []byte(manifest), 0o644); err != nil {
				t.Fatal(err)
			}
			k, err := kernels.Load(dir, kernels.CUDA)
			if err != nil {
				t.Fatalf("%s: %v", test.after, err)
			}
			bindings, err := k.Bind(k.Workloads[0].Dims)
			if err != nil {
				t.Fatal(err)
			}
			got := compareSignature(k, k.Launch.Steps[0], module, symbol, bindings) + compareVariables(module, bindings)
			wanted := test.says
			if test.typed && linkage != "" {
				wanted = ""
			}
			if got != wanted && (wanted == "" || !strings.HasPrefix(got, wanted)) {
				t.Errorf("%s %s:\ngot  %s\nwant %s", linkage, test.after, got, wanted)
			}
		}
	}
}
