// Package mutants checks the checks, and has tests only, because wrong kernels serve nobody who tunes. Each mutant is
// an embedded kernel, or a small one of integers, with one mistake put in: a check that lets one pass would let
// the like of it win a search.
//
//  1. A mutant is a replacement in the text of a kernel's source, or of its manifest. So it keeps up with the kernel,
//
// and
//
//	   a replacement whose text has gone is an error.
//	2. Each goes through both tiers; one that cheats only while it is timed is timed. The full tier must catch all, the
//	   quick tier nine in ten, timing every cheat.
//	3. Mistakes that no result shows go under the sanitizer that must see them.
//	4. The kernels as they are must pass all of that: a false alarm is a defect too.
//
// A plain go test takes a sample, with PAWL_TEST_ALL=1 it takes all. The tests named GPU need a GPU and no Go: the
// binary that go test -c builds holds the kernels. They skip without a GPU, or fail where PAWL_REQUIRE_GPU is set.
package mutants

import (
	"cmp"
	"embed"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"pawl/internal/thorough"
	"pawl/kernels"
	"pawl/objective/devices"
)

// Mutant is an embedded kernel with one mistake.
type Mutant struct {
	// Kernel is the kernel's name and Backend whose source it changes.
	Kernel, Backend string
	// Name is short, What says what is wrong with it.
	Name, What string
	// Workload is the workload whose code it changes; empty means the first.
	Workload string
	// File is the file that it changes; empty means the kernel's source.
	File string
	// Old occurs once in the file, and becomes New; so does End, and becomes NewEnd,
	// where a mistake needs two places.
	Old, New    string
	End, NewEnd string
	// Timed says that the mistake shows when the kernel is timed, and perhaps not
	// before.
	Timed bool
	// Tool is the sanitizer that alone sees the mistake, as a part of its name; empty
	// for one that shows in results.
	Tool string
	// At is the point at which the mistake shows; what it leaves out has its
	// default.
	At string
}

// all returns every mutant for a backend that results or timing show, kernel by kernel.
func all(backend string) []Mutant {
	list := slices.Concat(attention, matmul, tally, cheats,
		attentionCUDA, attentionCUDACheats, attentionHopper, attentionHopperFP8, attentionDecode, gemm, gemmGrouped,
		gemmGroupedFP8, gemmMMA, rmsnorm, softmax, reduce, tallyCUDA)
	return slices.DeleteFunc(list, func(m Mutant) bool { return m.Backend != backend })
}

//go:embed testdata/tally
var own embed.FS

// right puts the kernel that mutants are made from into a folder of its name, and returns that.
func right(t testing.TB, kernel string) (string, error) {
	files := kernels.Files(kernel)
	if !slices.Contains(kernels.Names(), kernel) {
		var err error
		if files, err = fs.Sub(own, "testdata/"+kernel); strings.HasPrefix(kernel, "triton_") {
			files, err = gallery(kernel)
		}
		if err != nil {
			return "", err
		}
	}
	dir := filepath.Join(t.TempDir(), kernel)
	return dir, os.CopyFS(dir, files)
}

// write puts the mutant, manifest and all, into a folder of its kernel's name, and returns that.
func (m Mutant) write(t testing.TB) (string, error) {
	dir, err := right(t, m.Kernel)
	if err != nil {
		return "", err
	}
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return "", err
	}
	file := cmp.Or(m.File, k.Source)
	source, err := os.ReadFile(filepath.Join(dir, file))
	if err != nil {
		return "", err
	}
	text := string(source)
	for _, change := range [][2]string{{m.Old, m.New}, {m.End, m.NewEnd}} {
		if change[0] == "" && change[1] == "" {
			continue
		}
		if found := strings.Count(text, change[0]); found != 1 {
			return "", fmt.Errorf("%s holds %d times what the mutant replaces: bring it up to date with the kernel", file, found)
		}
		text = strings.Replace(text, change[0], change[1], 1)
	}
	return dir, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o644)
}

// of completes mutants of one kernel for the host.
func of(kernel string, list []Mutant) []Mutant { return on(kernels.Host, kernel, list) }

// on completes mutants of one kernel for a backend.
func on(backend, kernel string, list []Mutant) []Mutant {
	for i := range list {
		list[i].Kernel, list[i].Backend = kernel, backend
	}
	return list
}

// Every mutant still changes its kernel, and its point is one of the space.
func TestMutantsFitTheKernels(t *testing.T) {
	for backend, least := range map[string]int{kernels.Host: 40, kernels.CUDA: 200} {
		list := slices.Concat(all(backend), hidden(backend))
		if len(list) < least {
			t.Errorf("only %d mutants for %s", len(list), backend)
		}
		names := map[string]bool{}
		for _, m := range thorough.Some(list, 30) {
			t.Run(backend+"/"+m.Kernel+"/"+m.Name, func(t *testing.T) {
				if names[m.Kernel+m.Name] || m.What == "" || m.Old == m.New {
					t.Error("a name that was used before, no explanation, or no change")
				}
				names[m.Kernel+m.Name] = true
				if dir, err := m.write(t); err != nil {
					t.Error(err)
				} else if _, err := m.target(dir); err != nil {
					t.Error(err)
				}
			})
		}
	}
}

// target is a folder's kernel with the mutant's workload, which has the mutant's point.
func (m Mutant) target(dir string) (t devices.Target, err error) {
	k, err := kernels.Load(dir, m.Backend)
	if err != nil {
		return t, err
	}
	if t, err = devices.NewTarget(k, m.Workload); err == nil {
		_, err = t.Point(m.At)
	}
	return t, err
}

func TestMutantOfAnotherTextIsAnError(t *testing.T) {
	stale := Mutant{Kernel: "matmul", Backend: kernels.Host, Name: "stale", Old: "no such text", New: ""}
	if _, err := stale.write(t); err == nil {
		t.Error("a mutant that changes nothing was written")
	}
}

// The pages say how many there are.
func TestThePagesCountThem(t *testing.T) {
	for page, want := range map[string]string{
		"docs/notes/mutants.md": "%d wrong kernels for the host and %d for\nCUDA",
		"docs/correctness.md":   "%d wrong kernels for the host, %d for CUDA",
	} {
		content, err := os.ReadFile(filepath.Join("../..", page))
		if err != nil {
			t.Fatal(err)
		}
		if text := fmt.Sprintf(want, len(all(kernels.Host)),
			len(all(kernels.CUDA))); !strings.Contains(string(content), text) {
			t.Errorf("%s does not say %q", page, text)
		}
	}
	// Those for Triton have tests of their own (objective/cuda/triton), and one that escapes is in none.
	const triton, escaped = 32, 1
	readme, err := os.ReadFile("../../README.md")
	if err != nil {
		t.Fatal(err)
	}
	tried := len(all(kernels.Host)) + len(all(kernels.CUDA)) + triton + escaped
	if text := fmt.Sprintf("of %d, one is not caught", tried); !strings.Contains(string(readme), text) {
		t.Errorf("README.md does not say %q", text)
	}
}
