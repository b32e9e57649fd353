package cuda

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective/cache"
	"pawl/objective/cuda/nvcc"
)

// realCompiler is a real nvcc with an empty cache.
func realCompiler(t *testing.T) *nvcc.Compiler {
	t.Helper()
	tool, err := nvcc.Find(t.Context(), os.Getenv)
	if err != nil {
		if os.Getenv("PAWL_REQUIRE_NVCC") != "" {
			t.Fatal(err)
		}
		t.Skip(err)
	}
	kept, err := cache.Open(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &nvcc.Compiler{Tool: tool, Cache: kept}
}

// Every kernel of the gallery that has a form for CUDA compiles as a trial compiles it, all its
// launches are in the module, and so is its reference.
func TestGalleryCompilesForCUDA(t *testing.T) {
	if testing.Short() {
		t.Skip("each takes seconds, and runs through the same goroutines as others")
	}
	compiler := realCompiler(t)
	manifests, err := filepath.Glob("../../docs/gallery/*/" + kernels.ManifestName)
	if err != nil || len(manifests) == 0 {
		t.Fatalf("no gallery: %v", err)
	}
	for _, manifest := range thorough.Some(manifests, 2) {
		k, err := kernels.Load(filepath.Dir(manifest), kernels.CUDA)
		if none := (*kernels.NoSourceError)(nil); errors.As(err, &none) {
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		if k.Tiled() {
			continue // see package triton
		}
		t.Run(k.Name, func(t *testing.T) {
			t.Parallel()
			for source, steps := range map[string][]kernels.Step{k.Source: k.Launch.Steps, k.Reference: {k.Launch.Reference}} {
				point := k.Default()
				if source == k.Reference {
					point = k.ReferencePoint(point)
				}
				unit, err := newUnit(k, k.Workloads[0], func(bool) string { return "sm_90" }, source, point)
				if err != nil {
					t.Fatal(err)
				}
				if unit.Dir = k.Dir; source == k.Reference {
					unit.Flags, unit.Instances = k.IncludeFlags(), nil
				}
				module, err := compiler.Compile(t.Context(), unit)
				if err != nil {
					t.Fatal(err)
				}
				for _, step := range steps {
					symbol, err := module.Symbol(kernels.EntryAt(step.Entry, point))
					if _, there := module.Kernels[symbol]; err != nil || !there {
						t.Errorf("%s: %s is %q: %v", source, step.Entry, symbol, err)
					}
				}
			}
		})
	}
}
