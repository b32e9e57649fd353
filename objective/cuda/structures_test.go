package cuda

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/check"
)

// Structures of different types are filled, passed by value and compared field by field.
func TestStructures(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{kernel: "structures"})
	r.passes("")
	r.passes("MODE=padding")
	if failure, err := r.Verify(t.Context(), r.prepare("")); failure != nil || err != nil {
		t.Errorf("the full matrix: %v, %v", failure, err)
	}
	if detail := r.fails("MODE=wrong", objective.Fuzz,
		string(check.WrongResult)); !strings.Contains(detail, "results.weight[5] is ") || !strings.Contains(detail, "1 of ") {
		t.Error(detail)
	}
	if detail := r.fails("MODE=unwritten", objective.Fuzz,
		string(check.WrongResult)); !strings.Contains(detail, "results.kind[17] is ") {
		t.Error(detail)
	}
}

// A structure that is not the manifest's does not compile.
func TestStructuresThatDoNotFit(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS("testdata/structures")); err != nil {
		t.Fatal(err)
	}
	manifest := filepath.Join(folder, kernels.ManifestName)
	text, err := os.ReadFile(manifest)
	if err == nil {
		changed := strings.Replace(string(text), "{name: kind, type: i32}", "{name: kind, type: i64}", 1)
		err = os.WriteFile(manifest, []byte(changed), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	failure := newRig(t, settings{folder: folder}).prepare("").Failure
	if failure == nil || !strings.Contains(failure.Detail, "field results.kind at byte 0, with 8 bytes") {
		t.Error(failure)
	}
}
