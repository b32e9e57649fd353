package mutants

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/space"
)

// Every mutant still changes its kernel, and its point is one of the space.
func TestMutantsFitTheKernels(t *testing.T) {
	for backend, least := range map[string]int{kernels.Host: 40, kernels.CUDA: 200} {
		t.Run(backend, func(t *testing.T) { fit(t, backend, least) })
	}
}

// The pages say how many there are.
func TestThePagesCountThem(t *testing.T) {
	for page, want := range map[string]string{
		"README.md":           "%d wrong kernels, and %d for CUDA",
		"docs/correctness.md": "%d wrong kernels for the host and %d for\nCUDA",
	} {
		content, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf(want, len(All(kernels.Host)),
			len(All(kernels.CUDA))); !strings.Contains(string(content), text) {
			t.Errorf("%s does not say %q", page, text)
		}
	}
}

func fit(t *testing.T, backend string, least int) {
	all := slices.Concat(All(backend), Hidden(backend))
	if len(all) < least {
		t.Errorf("only %d mutants", len(all))
	}
	names, spaces := map[string]bool{}, map[[3]string]*space.Space{}
	for _, m := range thorough.Some(all, 30) {
		t.Run(m.Kernel+"/"+m.Name, func(t *testing.T) {
			if names[m.Kernel+m.Name] || m.What == "" || m.Old == m.New {
				t.Error("a name that was used before, no explanation, or no change")
			}
			names[m.Kernel+m.Name] = true
			dir := filepath.Join(t.TempDir(), "mutant")
			if err := m.Write(dir); err != nil {
				t.Fatal(err)
			}
			key := [3]string{m.Kernel, m.Workload, m.File}
			if m.File != "" || spaces[key] == nil { // another source leaves the space as it is
				spaces[key] = spaceOf(t, dir, m)
			}
			partial, err := space.ParsePoint(m.At)
			if err != nil {
				t.Fatal(err)
			}
			if _, err := spaces[key].Complete(partial); err != nil {
				t.Error(err)
			}
		})
	}
}

func spaceOf(t *testing.T, dir string, m Mutant) *space.Space {
	t.Helper()
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		t.Fatal(err)
	}
	w, err := k.Workload(m.Workload)
	if err != nil {
		t.Fatal(err)
	}
	s, err := k.Space(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMutantOfAnotherTextIsAnError(t *testing.T) {
	stale := Mutant{Kernel: "matmul", Backend: kernels.Host, Name: "stale", Old: "no such text", New: ""}
	dir := filepath.Join(t.TempDir(), "mutant")
	if err := stale.Write(dir); err == nil {
		t.Error("a mutant that changes nothing was written")
	}
}
