package cuda

import (
	"testing"

	"pawl/kernels/arguments"
	"pawl/objective/worker"
)

// Under a tool only those outputs start as poison that the copy engine writes.
func TestOutputsOfTheCopyEngineStartAsPoison(t *testing.T) {
	input, copied, stored := &buffer{}, &buffer{}, &buffer{}
	copied.Out, stored.Out = true, true
	d := &Device{}
	d.loaded = worker.Load{Maps: []arguments.TensorLayout{{Argument: 0}, {Argument: 2}}}
	var poisoned []int
	for i := range d.mapped(set{input, stored, copied, nil}).poisoned() {
		poisoned = append(poisoned, i)
	}
	if len(poisoned) != 1 || poisoned[0] != 2 {
		t.Errorf("poisoned: %v, want the argument 2", poisoned)
	}
}
