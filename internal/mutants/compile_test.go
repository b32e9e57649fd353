package mutants

import (
	"errors"
	"os"
	"reflect"
	"runtime"
	"slices"
	"testing"

	"golang.org/x/sync/errgroup"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/kernels/arguments"
	"pawl/objective/devices"
)

// CUDA mutants are programs, and others than the right kernel at their points. One that changes the manifest is the
// same program, and describes its tensors otherwise. No GPU is needed.
func TestMutantsCompile(t *testing.T) {
	m := devices.Here(devices.Tools{
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
			var lanes errgroup.Group
			lanes.SetLimit(runtime.NumCPU())
			for _, chunk := range chunks(thorough.Some(mine, 1)) {
				lanes.Go(func() error {
					l.compile(t, dir, chunk)
					return nil
				})
			}
			_ = lanes.Wait() // they report through t
		})
	}
}

// compile compiles mutants together, and alone those that are not seen to differ from the right kernel that way.
func (l *lab) compile(t *testing.T, dir string, list []Mutant) {
	if len(list) > 1 {
		found, err := l.differing(t, dir, list)
		if err != nil {
			t.Logf("%d mutants together: %v", len(list), err)
		}
		list = slices.DeleteFunc(slices.Clone(list), func(m Mutant) bool { return slices.Contains(found, m) })
	}
	for _, m := range list {
		if err := l.compileAlone(t, dir, m); err != nil {
			t.Errorf("%s: %v", m.Name, err)
		}
	}
}

func (l *lab) compileAlone(t *testing.T, dir string, m Mutant) error {
	folder, err := m.write(t)
	if err != nil {
		return err
	}
	wrong, err := l.open(t, folder, m)
	if err != nil {
		return err
	}
	defer wrong.bench.Close()
	is, err := l.open(t, dir, m)
	if err != nil {
		return err
	}
	defer is.bench.Close()
	if m.File == kernels.ManifestName {
		if reflect.DeepEqual(is.layouts(t), wrong.layouts(t)) {
			return errors.New("the same tensor maps as the right kernel")
		}
	} else if is.prepared.Binary.Digest == wrong.prepared.Binary.Digest {
		return errors.New("the same machine code as the right kernel")
	}
	return nil
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
