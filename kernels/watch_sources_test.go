package kernels_test

import (
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"pawl/kernels"
)

// A file that is edited or removed is named, wherever it is; one that is only touched or written again is not.
func TestWatchedSources(t *testing.T) {
	place := t.TempDir()
	dir := filepath.Join(place, "k")
	write := func(name, content string) {
		t.Helper()
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("kernel.yaml", `name: k
entry: k
source: {host: k.c}
reference: {host: reference.c}
params:
  B: {values: [1, 2], default: 1}
workloads:
  small: {N: 10}
args:
  - {name: y, type: f32, shape: [N], out: true}
  - {name: N, type: i32, value: N}
tolerance: {atol: 1e-6, rtol: 1e-6}
`)
	write("k.c", "#include \"near.h\"\n#include \"../far.h\"\n")
	write("near.h", "// near\n")
	write("../far.h", "// far\n")
	write("reference.c", "// reference\n")
	write("notes.txt", "nobody reads this\n")
	k, err := kernels.Load(dir, kernels.Host)
	if err != nil {
		t.Fatal(err)
	}
	watched, err := k.Watch()
	if err != nil {
		t.Fatal(err)
	}
	expect := func(want ...string) {
		t.Helper()
		if got := watched.Changed(); !slices.Equal(got, want) {
			t.Errorf("changed: %v, want %v", got, want)
		}
	}
	expect()
	write("notes.txt", "still nobody\n")
	write("k.c", "#include \"near.h\"\n#include \"../far.h\"\n")
	if err := os.Chtimes(filepath.Join(dir, "near.h"), time.Now(), time.Now().Add(time.Hour)); err != nil {
		t.Fatal(err)
	}
	expect()
	write("near.h", "// NEAR\n")
	expect("near.h")
	write("near.h", "// near\n")
	expect()
	write("reference.c", "// another\n")
	write("../far.h", "// farther\n")
	expect(filepath.Join(place, "far.h"), "reference.c")
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	if got := watched.Changed(); !slices.Contains(got, "kernel.yaml") || !slices.Contains(got, "k.c") {
		t.Errorf("a removed folder: %v", got)
	}
}
