package cuda

import (
	"fmt"
	"strings"
	"syscall"
	"testing"
	"time"

	"pawl/objective"
	"pawl/objective/worker"
)

func TestWorkerStaysAndRemembers(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("")
	first, book := r.worker()
	one := r.inputs("") + r.poisoned("") + discerning
	if fills := book.forChecks(2); fills != one {
		t.Errorf("%d fills, want %d", fills, one)
	}
	// Nothing is made twice. A kernel that stays is shown two more contents with known answers.
	r.passes("")
	again, after := r.worker()
	if again != first || after.forChecks(4) != one+r.poisoned("") || after.Allocations != book.Allocations+2 {
		t.Errorf("the second trial of a point: worker %d after %d, %d fills, %d allocations after %d",
			again, first, after.forChecks(4), after.Allocations, book.Allocations)
	}
	// Another point has cases for its own tiles, and shares the others.
	two, alone := r.inputs("", "THREADS=512"), r.inputs("")
	r.passes("THREADS=512")
	_, last := r.worker()
	more := last.forChecks(4) - after.forChecks(4) - r.poisoned("THREADS=512")
	if more != two-alone || two <= alone || two >= 2*alone {
		t.Errorf("%d fills for a second point, want %d; one has %d", more, two-alone, alone)
	}
}

// forChecks is how many fills are not for timing, which fills the pools of two inputs before each
// sample, and for each known content that it makes.
func (l ledger) forChecks(known int64) int64 { return l.Fills - 2*l.GraphLaunches - 2*known }

// discerning is what the first trial fills to see that the check is not blind: two other inputs, and the outputs of
// two kernels for each of the two contents.
const discerning = 2 + 2*2

// poisoned is how many outputs a check fills with random numbers: one per case.
func (r *rig) poisoned(point string) int64 { return int64(len(r.Tester.QuickCases(r.at(point)))) }

// inputs is how many inputs the checks of points have, each counted once.
func (r *rig) inputs(points ...string) int64 {
	r.t.Helper()
	cases := map[string]bool{}
	for _, point := range points {
		for _, c := range r.Tester.QuickCases(r.at(point)) {
			cases[c.String()] = true
		}
	}
	return 2 * int64(len(cases))
}

// Rounds want fresh workers. Five are started at a time and get the workload
// ready; those that have had their round end when the next five are started.
func TestRefreshedWorkers(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	p := r.prepare("")
	r.passes("")
	first, _ := r.worker()
	earlier := map[int]bool{first: true}
	for range 2 {
		batch := map[int]bool{}
		for range 5 {
			before := r.books()
			r.Refresh()
			if outcome, err := r.Sample(t.Context(), p, 1); err != nil || outcome.Failure != nil {
				t.Fatalf("%+v, %v", outcome, err)
			}
			pid, book := r.busy(before)
			if earlier[pid] || batch[pid] {
				t.Errorf("worker %d was used before", pid)
			}
			if inputs := book.forChecks(1) - 1; inputs != 2 {
				t.Errorf("%d fills; the workload has two inputs", inputs)
			}
			batch[pid] = true
		}
		for pid := range earlier {
			if running(pid) {
				t.Errorf("worker %d has had its round, and others have been started since", pid)
			}
		}
		earlier = batch
	}
	if started := len(r.books()); started != 11 {
		t.Errorf("%d workers for eleven rounds", started)
	}
}

// A spare worker that has died is replaced, and not handed out.
func TestDeadSparesAreReplaced(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	p := r.prepare("")
	for round := range 6 {
		r.Refresh()
		if outcome, err := r.Sample(t.Context(), p, 1); err != nil || outcome.Failure != nil {
			t.Fatalf("round %d: %+v, %v", round, outcome, err)
		}
		for pid, book := range r.books() {
			if running(pid) && book.GraphLaunches == 0 {
				if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
				gone(t, pid)
			}
		}
	}
}

// busy returns the only worker that has launched a graph since, and its ledger.
func (r *rig) busy(before map[int]ledger) (pid int, book ledger) {
	r.t.Helper()
	var found []int
	for worker, now := range r.books() {
		if now.GraphLaunches > before[worker].GraphLaunches {
			found, pid, book = append(found, worker), worker, now
		}
	}
	if len(found) != 1 {
		r.t.Fatalf("workers %v have measured", found)
	}
	return pid, book
}

// A reference that breaks the context is nobody's point, and the worker with the
// broken context serves nobody else.
func TestBrokenReferenceEndsItsWorker(t *testing.T) {
	t.Parallel()
	residents := &worker.Residents{}
	r := newRig(t, settings{workload: "cursed", options: objective.Options{Residents: residents}})
	t.Cleanup(residents.End)
	outcome, err := r.Measure(t.Context(), r.prepare(""), 0)
	if err == nil || !strings.Contains(err.Error(), "the reference: ") ||
		!strings.Contains(err.Error(), "ILLEGAL_ADDRESS") {
		t.Fatalf("%+v, %v", outcome, err)
	}
	for pid := range r.books() {
		gone(t, pid)
	}
	small, err := r.kernel.Workload("small")
	if err != nil {
		t.Fatal(err)
	}
	other := objective.NewEvaluator(r.kernel, small, elsewhere{r},
		objective.Options{RunTimeout: time.Minute, Residents: residents})
	defer other.Close()
	if outcome, err := other.Measure(t.Context(), r.prepare(""), 0); err != nil || outcome.Failure != nil {
		t.Errorf("with the same workers: %+v, %v", outcome, err)
	}
}

// A reference that runs again would cost more than the trial.
func TestReferenceRunsOncePerProblem(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	p := r.prepare("")
	sample := func() ledger {
		t.Helper()
		if outcome, err := r.Sample(t.Context(), p, 1); err != nil || outcome.Failure != nil {
			t.Fatalf("%+v, %v", outcome, err)
		}
		_, book := r.worker()
		return book
	}
	first := sample()
	second := sample()
	// Two runs of the kernel, poison for one of them and a comparison after the
	// first; after the second the guards of the output, the sums of 2 inputs and of
	// the answer, and the comparison: 4 + 5. A kernel that stays is shown another content: two
	// pools are filled, and drawn from for all launches and for one, the reference runs, and its
	// answer is summed: 6 + 2. The sample draws it again, for one launch more than others: 2. The
	// inputs of three sets are summed, and after it once more with a guard: 6 + 9. The answer is
	// summed and compared, and so are 4 launches more: 2 + 8. All samples fill and draw twice and
	// are held back: 5; calibration takes 3, of one launch each.
	const checks, calibration = 4 + 5 + 6 + 2 + 2 + 6 + 9 + 2 + 8, 3
	samples := second.GraphLaunches - first.GraphLaunches - calibration
	rest := second.Launches - first.Launches - samples*(5+second.GraphNodes) - 6*calibration
	if samples < 2 || rest != checks {
		t.Errorf("%d launches beside those of %d samples, want %d", rest, samples, checks)
	}
	if first.Modules != 3 || second.Modules != 3 {
		t.Errorf("%d modules, then %d: the kernel, the reference and the support are needed", first.Modules, second.Modules)
	}
}

// alive are the counts of a ledger that must not grow.
func (l ledger) alive() string {
	return fmt.Sprintf("%d blocks of %d bytes, %d modules, %d streams, %d events, %d graphs, %d executables, %d contexts",
		l.Blocks, l.Bytes, l.Modules, l.Streams, l.Events, l.Graphs, l.Executables, l.Contexts)
}

func TestCachesAreColdWarmOrFlushed(t *testing.T) {
	t.Parallel()
	// Every launch has buffers of its own where a twentieth of the memory holds
	// them. A launch touches 12,000 bytes: 25 copies fit into a twentieth of 6 MB.
	// Two fit into half of the cache of 64 KiB, and not one of 480,000 bytes: then a sample has as many as if they were
	// cold. No cache that is cold tells what was touched last.
	for _, test := range []struct {
		caches   worker.Caches
		workload string
		point    string
		memory   string
		nodes    int64
		flushes  bool
	}{
		{worker.Cold, "", "", "", 100, true},
		{worker.Cold, "", "", "6000000", 25, true},
		{worker.Cold, "", "", "2400000", 10, true},
		{worker.Cold, "", "TIME=5000000", "", 1, true},
		{worker.Warm, "", "", "", 2, false},
		{worker.Warm, "large", "", "", 6, true}, // what is poisoned is larger than the cache, and looks like a flush
		{worker.Flushed, "", "", "", 1, true},
	} {
		t.Run(strings.TrimSpace(fmt.Sprint(test.caches, " ", test.workload, test.point, test.memory)), func(t *testing.T) {
			t.Parallel()
			r := newRig(t, settings{
				workload:    test.workload,
				options:     objective.Options{Caches: test.caches},
				environment: map[string]string{"PAWL_FAKE_MEMORY": test.memory},
			})
			outcome := r.passes(test.point)
			_, book := r.worker()
			if book.GraphNodes != test.nodes || book.GraphBufs != test.nodes || int64(outcome.Batch) != test.nodes {
				t.Errorf("%d launches on %d buffers, batches of %d", book.GraphNodes, book.GraphBufs, outcome.Batch)
			}
			// The buffers of three arguments are written with their guard zones, which may look like a flush.
			if flushed := book.Flushes > 3; flushed != test.flushes {
				t.Errorf("%d flushes", book.Flushes)
			}
		})
	}
}

// What a point will be checked against can be got ready while it is compiled.
func TestAnticipatedAnswersAreThere(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	p := r.prepare("")
	if err := r.Anticipate(t.Context(), p.Point); err != nil {
		t.Fatal(err)
	}
	_, before := r.worker()
	if before.Fills != r.inputs("") {
		t.Errorf("%d inputs were filled, of %d that the check needs", before.Fills, r.inputs(""))
	}
	if outcome, err := r.Measure(t.Context(), p, 0); err != nil || outcome.Failure != nil {
		t.Fatalf("%+v, %v", outcome, err)
	}
	_, after := r.worker()
	if more := after.forChecks(2) - before.Fills - r.poisoned("") - discerning; more != 0 {
		t.Errorf("%d more were filled for the check itself", more)
	}
}
