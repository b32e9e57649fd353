package mutants

import (
	"os"
	"reflect"
	"slices"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/devices"
)

// CUDA mutants are programs, and others than the right kernel at their points. One that changes the manifest is the
// same program, and describes its tensors otherwise. No GPU is needed.
func TestMutantsCompile(t *testing.T) {
	m := devices.Here(devices.Options{
		Architecture: "sm_90a", Cache: t.TempDir(), Getenv: os.Getenv, Notice: func(string) {},
	})
	if err := m.Missing(t.Context(), kernels.CUDA); err != nil && os.Getenv("PAWL_REQUIRE_NVCC") != "" {
		t.Fatal("PAWL_REQUIRE_NVCC is set: ", err)
	} else if err != nil {
		t.Skip(err)
	}
	list := slices.Concat(hidden(kernels.CUDA), all(kernels.CUDA))
	l := &lab{machine: m}
	for _, name := range thorough.Some(names(list), 3) {
		mine := slices.DeleteFunc(slices.Clone(list), func(m Mutant) bool { return m.Kernel != name })
		if len(mine) < 15 && slices.Contains(kernels.Names(), name) {
			t.Errorf("%s has %d mutants", name, len(mine))
		}
		t.Run(name, func(t *testing.T) {
			dir, err := right(t, name)
			if err != nil {
				t.Fatal(err)
			}
			mine = thorough.Some(mine, 1)
			for i, wrong := range l.prepare(t, mine) {
				if wrong.bench == nil {
					continue // which was said
				}
				is, err := l.open(t, dir, mine[i])
				if err != nil {
					t.Fatal(err)
				}
				if mine[i].File == kernels.ManifestName {
					if reflect.DeepEqual(is.layouts(t), wrong.layouts(t)) {
						t.Errorf("%s: the same tensor maps as the right kernel", mine[i].Name)
					}
				} else if is.prepared.Binary.Digest == wrong.prepared.Binary.Digest {
					t.Errorf("%s: the same machine code as the right kernel", mine[i].Name)
				}
				is.bench.Close()
				wrong.bench.Close()
			}
		})
	}
}

// layouts are what the copy engine is told.
func (a attempt) layouts(t *testing.T) []arguments.TensorLayout {
	env, err := a.bench.Space.Environment(a.prepared.Point)
	if err != nil {
		t.Fatal(err)
	}
	layouts, err := a.bench.Kernel.Arguments.TensorLayouts(env)
	if err != nil {
		t.Fatal(err)
	}
	return slices.Clone(layouts)
}
