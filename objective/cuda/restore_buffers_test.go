package cuda

import (
	"math"
	"strings"
	"testing"

	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
)

// What a kernel changes is there afresh for every launch, checked or timed, and its two
// kernels are timed as one.
func TestKernelThatChangesItsArguments(t *testing.T) {
	t.Parallel()
	for _, caches := range []worker.Caches{worker.Cold, worker.Warm, worker.Flushed} {
		r := newRig(t, settings{kernel: "changes", options: objective.Options{Caches: caches}})
		outcome := r.passes("")
		// Two kernels of 5 µs; half of the cache of 64 KiB holds the buffers of two launches.
		want := map[worker.Caches]int{worker.Cold: 100, worker.Warm: 2, worker.Flushed: 1}
		if outcome.Batch != want[caches] || math.Abs(outcome.Milliseconds()-0.01) > 1e-6 {
			t.Errorf("%s: %d launches of %g ms", caches, outcome.Batch, outcome.Milliseconds())
		}
		if failure, err := r.Verify(t.Context(), r.prepare("")); failure != nil || err != nil {
			t.Errorf("the full matrix: %v, %v", failure, err)
		}
	}
}

// Where there is no memory for a set of buffers per launch, samples are shorter.
func TestFewerLaunchesWhereMemoryIsShort(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{kernel: "changes", workload: "large"})
	if outcome := r.passes(""); outcome.Batch != 1 {
		t.Errorf("%d launches", outcome.Batch)
	}
}

// A kernel that is right only where nobody looks, or only the first time, is found.
func TestKernelsThatChangeTheWrongThings(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{kernel: "changes"})
	if detail := r.fails("MODE=wrong", objective.Fuzz,
		string(check.WrongResult)); !strings.Contains(detail, "counts[3] is ") {
		t.Error(detail)
	}
	r.fails("MODE=once", objective.Fuzz, string(check.WrongResult))
	r.fails("MODE=no_scratch", objective.Fuzz, string(check.WrongResult))
	r.fails("MODE=past_scratch", objective.Fuzz, string(worker.OutOfBounds))
	r.fails("MODE=idle_when_timed", objective.Bench, string(worker.WrongWhenTimed))
	r.fails("MODE=keeps", objective.Bench, string(worker.WrongWhenTimed))
	if detail := r.fails("MODE=short_symbol", objective.Fuzz,
		string(worker.Unloadable)); !strings.Contains(detail, "the variable d_scale has 4 bytes, argument scale 8") {
		t.Error(detail)
	}
	if detail := r.fails("MODE=no_symbol", objective.Fuzz,
		string(worker.Unloadable)); !strings.Contains(detail, "no variable d_more for argument more") {
		t.Error(detail)
	}
}
