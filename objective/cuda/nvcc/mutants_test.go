package nvcc

import (
	"flag"
	"maps"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/kernels/mutants"
	"pawl/space"
)

var mutantLimit = flag.Int("mutants", thorough.Count(1, 0),
	"how many wrong kernels of each kernel to compile; 0 means all")

// TestMutantsCompile compiles wrong kernels at their points: each is a program, and
// another one than the right kernel there. One that changes the manifest is the same
// program, and describes its tensors otherwise. NVRTC takes half of nvcc's time, and every
// embedded kernel must be one that it compiles.
func TestMutantsCompile(t *testing.T) {
	byKernel := map[string][]mutants.Mutant{}
	for _, m := range slices.Concat(mutants.Hidden(kernels.CUDA), mutants.All(kernels.CUDA)) {
		byKernel[m.Kernel] = append(byKernel[m.Kernel], m)
	}
	for _, name := range kernels.NamesFor(kernels.CUDA) {
		if len(byKernel[name]) < 15 {
			t.Errorf("%s has %d mutants", name, len(byKernel[name]))
		}
	}
	for _, name := range thorough.Some(slices.Sorted(maps.Keys(byKernel)), 3) {
		all := byKernel[name]
		t.Run(name, func(t *testing.T) {
			c, right := newCompiler(t, realNVRTC(t)), filepath.Join(t.TempDir(), name)
			if err := mutants.Right(name, right); err != nil {
				t.Fatal(err)
			}
			var lanes errgroup.Group
			lanes.SetLimit(runtime.NumCPU())
			for _, m := range spread(all, *mutantLimit) {
				lanes.Go(func() error {
					compileMutant(t, c, m, right)
					return nil
				})
			}
			_ = lanes.Wait() // the lanes report through t
		})
	}
}

func compileMutant(t *testing.T, c *Compiler, m mutants.Mutant, right string) {
	wrong := filepath.Join(t.TempDir(), m.Kernel)
	if err := m.Write(wrong); err != nil {
		t.Error(err)
		return
	}
	was, is := atPoint(t, right, m.Workload, m.At), atPoint(t, wrong, m.Workload, m.At)
	if was == nil || is == nil {
		return
	}
	if m.File == kernels.ManifestName {
		if reflect.DeepEqual(was.layouts, is.layouts) {
			t.Errorf("%s, %s: the same tensor maps as the right kernel: %+v", m.Kernel, m.Name, is.layouts)
		}
		return
	}
	one, err := c.Compile(t.Context(), was.unit)
	if err != nil {
		t.Errorf("%s at %q: %v", m.Kernel, m.At, err)
		return
	}
	other, err := c.Compile(t.Context(), is.unit)
	if err != nil {
		t.Errorf("%s, %s: %v", m.Kernel, m.Name, err)
		return
	}
	if one.Digest == other.Digest {
		t.Errorf("%s, %s: the same machine code as the right kernel", m.Kernel, m.Name)
	}
}

// pointed is a kernel at a point of the space of a workload.
type pointed struct {
	unit    Unit
	layouts []arguments.TensorLayout
}

// atPoint reports through t and returns nil where there is no such point.
func atPoint(t *testing.T, dir, workload, at string) *pointed {
	k, err := kernels.Load(dir, kernels.CUDA)
	if err != nil {
		t.Error(err)
		return nil
	}
	w, err := k.Workload(workload)
	if err == nil {
		k, err = k.For(w.Dims)
	}
	if err != nil {
		t.Error(err)
		return nil
	}
	s, err := k.Space(w)
	if err != nil {
		t.Error(err)
		return nil
	}
	partial, err := space.ParsePoint(at)
	if err != nil {
		t.Error(err)
		return nil
	}
	point, err := s.Complete(partial)
	if err != nil {
		t.Errorf("%s: %v", dir, err)
		return nil
	}
	env, err := s.Environment(point)
	if err != nil {
		t.Error(err)
		return nil
	}
	layouts, err := k.TensorLayouts(env)
	if err != nil {
		t.Errorf("%s at %s: %v", dir, point, err)
		return nil
	}
	constants, err := k.Constants(w.Dims)
	if err != nil {
		t.Error(err)
		return nil
	}
	unit := unitOf(k, dir)
	unit.Defines = definesOf(point, constants)
	return &pointed{unit, slices.Clone(layouts)}
}

// spread returns at most limit of a list at even distances, and all of it for 0.
func spread[T any](list []T, limit int) []T {
	if limit < 1 || len(list) <= limit {
		return list
	}
	chosen := make([]T, limit)
	for i := range chosen {
		chosen[i] = list[i*len(list)/limit]
	}
	return chosen
}
