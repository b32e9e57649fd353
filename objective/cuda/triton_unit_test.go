package cuda

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/python"
	"pawl/kernels"
	"pawl/kernels/scaffold"
	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
	"pawl/objective/cuda/triton"
)

// findTriton returns the Triton of the first Python that PAWL_TEST_TRITON names, or of python3.
func findTriton(t *testing.T) *triton.Tool {
	t.Helper()
	first, _, _ := strings.Cut(os.Getenv("PAWL_TEST_TRITON"), ":")
	tool, err := triton.Find(t.Context(), func(name string) string {
		if name == python.Variable && first != "" {
			return first
		}
		return os.Getenv(name)
	})
	if err != nil && os.Getenv("PAWL_REQUIRE_TRITON") != "" {
		t.Fatal(err)
	}
	if err != nil {
		t.Skip(err)
	}
	return tool
}

// compileDefault compiles the default point of a kernel as a trial does.
func compileDefault(t *testing.T, tool *triton.Tool, k *kernels.Kernel, kept *cache.Cache) nvcc.Module {
	t.Helper()
	unit, err := newUnit(k, k.Workloads[0], func(bool) string { return "sm_90" }, k.Source, k.Default())
	if err != nil {
		t.Fatal(err)
	}
	unit.Dir = k.Dir
	module, err := (&nvcc.Compiler{Tool: tool, Cache: kept}).Compile(t.Context(), unit)
	if err != nil {
		t.Fatal(err)
	}
	return module
}

func TestGalleryCompilesWithTriton(t *testing.T) {
	tool := findTriton(t)
	kept, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	manifests, err := filepath.Glob("../../docs/gallery/triton_*/" + kernels.ManifestName)
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no gallery: %v", err)
	}
	for _, manifest := range manifests {
		k, err := kernels.Load(filepath.Dir(manifest), kernels.CUDA)
		if err != nil {
			t.Fatal(err)
		}
		if module := compileDefault(t, tool, k, kept); module.Launch.Threads != 128 {
			t.Errorf("%s: %+v", k.Name, module.Launch)
		}
	}
}

// Kernels with the quirks of real ones are described so that their defaults compile.
func TestDescribedKernelsCompile(t *testing.T) {
	tool := findTriton(t)
	kept, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for file, test := range map[string]struct {
		outputs []string
		has     string
		shows   string // of shapes, strides and the grid
	}{
		"softmax": {[]string{"output_ptr"}, "num_stages: {values", "BLOCK_SIZE >= n_cols"},
		"matmul": {[]string{"c_ptr"}, "  - {BLOCK_M: 64, BLOCK_N: 256, BLOCK_K: 32, num_warps: 4, num_stages: 4}",
			`grid: ["cdiv(M, BLOCK_M) * cdiv(N, BLOCK_N)"]`},
		"layer_norm": {[]string{"Y", "Mean", "Rstd"}, "HAS_BIAS: {values: [false]",
			"{name: Mean, type: f32, shape: [ROWS], out: true}"},
		"flash_attention": {[]string{"Out"}, "  HEAD_DIM: HEAD_DIM",
			`grid: ["cdiv(N_CTX, BLOCK_M)", "Z"]`},
		"grouped": {[]string{"c_ptr"}, `  NUM_SM: "?" # look: the value of the constant NUM_SM`, "{name: bias_ptr, type: f16, shape: [N]}"},
		"dropout": {[]string{"output_ptr", "mask_ptr"}, "{name: seed, type: i32, value: 42}",
			"shape: [n_elements], out: true}"},
	} {
		folder := filepath.Join(t.TempDir(), file)
		made, err := scaffold.Write(folder, scaffold.Source{
			File:  filepath.Join("testdata", "triton", file+".py"),
			Tiles: func(path, entry string) (scaffold.TileSource, error) { return tool.Describe(t.Context(), path, entry) },
		})
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		manifest, err := os.ReadFile(filepath.Join(folder, kernels.ManifestName))
		if err != nil || !strings.Contains(string(manifest), test.has) || len(made.Open) == 0 ||
			!strings.Contains(string(manifest), test.shows) {
			t.Errorf("%s: %v\n%s", file, err, manifest)
		}
		if strings.Contains(string(manifest), "constraints:") != (file == "softmax") {
			t.Errorf("%s: %s", file, manifest)
		}
		// Nothing runs before the sizes are filled in that the source does not show.
		if _, err := kernels.Load(folder, kernels.CUDA); (err != nil) != (file == "grouped" || file == "flash_attention") {
			t.Errorf("%s: %v", file, err)
		}
		filled := strings.ReplaceAll(string(manifest), `"?"`, "64")
		if err := os.WriteFile(filepath.Join(folder, kernels.ManifestName), []byte(filled), 0o644); err != nil {
			t.Fatal(err)
		}
		k, err := kernels.Load(folder, kernels.CUDA)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		var outputs []string
		for _, a := range k.Arguments.Outputs() {
			outputs = append(outputs, a.Name)
		}
		if !slices.Equal(outputs, test.outputs) {
			t.Errorf("%s has the outputs %v", file, outputs)
		}
		compileDefault(t, tool, k, kept)
	}
}
