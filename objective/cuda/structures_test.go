package cuda

import (
	"strings"
	"testing"

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
