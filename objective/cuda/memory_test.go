package cuda

import (
	"errors"
	"testing"

	"pawl/kernels"
	"pawl/objective"
	"pawl/objective/worker"
)

func TestNothingLeaks(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	points := []objective.Prepared{r.prepare(""), r.prepare("NUMBER=1")}
	var settled string
	var pid int
	for trial := range 100 {
		p := points[trial%2]
		outcome, err := r.Sample(t.Context(), p, 1)
		if err != nil || outcome.Failure != nil {
			t.Fatalf("trial %d: %+v, %v", trial, outcome, err)
		}
		if trial > 1 {
			continue
		}
		var book ledger
		pid, book = r.worker()
		settled = book.alive()
	}
	last, book := r.worker()
	if last != pid || book.alive() != settled {
		t.Errorf("worker %d has %s; after two trials worker %d had %s", last, book.alive(), pid, settled)
	}
	if book.Graphs != 0 || book.Executables != 1 || book.Events != 2 || book.Streams != 1 || book.Contexts != 1 {
		t.Error(book.alive())
	}
}

// Problems may fill a quarter of the memory. The least recently used go first,
// so what every trial needs stays.
func TestOldProblemsMakeRoom(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{environment: map[string]string{"PAWL_FAKE_MEMORY": "2000000"}})
	load := r.load(r.prepare(""), 1000)
	client := r.client()
	book := func(seed uint64) ledger {
		t.Helper()
		load.Seed = seed
		if err := client.Load(t.Context(), load); err != nil {
			t.Fatal(err)
		}
		return r.books()[client.Pid()]
	}
	const limit, favorite = 500_000, 1000
	before := book(favorite).Bytes
	each := book(0).Bytes - before
	own := before - each // of the worker, whatever it is loaded with
	room := uint64(limit / each)
	for seed := range 3 * room {
		if taken := book(seed).Bytes; taken > own+limit+each {
			t.Fatalf("%d bytes for problems of %d", taken, each)
		}
		book(favorite)
	}
	// Each has two inputs, and none was made twice.
	fills := book(favorite).Fills
	if fills != int64(2*(3*room+1)) {
		t.Errorf("%d fills for %d problems", fills, 3*room+1)
	}
	if again := book(3*room - 2).Fills; again != fills {
		t.Error("one of the youngest problems was not there")
	}
	if again := book(0).Fills; again != fills+2 {
		t.Error("the oldest problem was still there")
	}
}

// Old problems do not keep out a new one that has room without them; one that has
// no room at all is the point's misfortune.
func TestOldProblemsGoWhenMemoryIsShort(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{environment: map[string]string{"PAWL_FAKE_MEMORY": "2000000"}})
	p := r.prepare("")
	client := r.client()
	// Three buffers of 4 bytes an element, each with 8 KiB of guards: 481 KB, which
	// is less than a quarter of the memory, then 1.585 MB.
	for _, test := range []struct{ count, fills int64 }{{38000, 2}, {130000, 4}, {130000, 4}, {38000, 6}} {
		if err := client.Load(t.Context(), r.load(p, test.count)); err != nil {
			t.Fatalf("N=%d: %v", test.count, err)
		}
		if book := r.books()[client.Pid()]; book.Fills != test.fills {
			t.Errorf("N=%d: %d fills, want %d", test.count, book.Fills, test.fills)
		}
	}
	var fault *worker.Fault
	if err := client.Load(t.Context(), r.load(p, 170000)); !errors.As(err, &fault) || fault.Kind != worker.NoMemory {
		t.Errorf("2.065 MB: %v", err)
	}
}

// client is a worker without an evaluator.
func (r *rig) client() *worker.Client {
	r.t.Helper()
	client, err := worker.Start(r.slot().Worker)
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(client.Close)
	return client
}

// slot reserves a device for as long as the test runs.
func (r *rig) slot() worker.Slot {
	r.t.Helper()
	slot, err := elsewhere{r}.Reserve(r.t.Context(), r.kernel.Default())
	if err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(slot.Release)
	return slot
}

// load is what an evaluator would send for a shape, without a reference.
func (r *rig) load(p objective.Prepared, n int64) worker.Load {
	r.t.Helper()
	dims := kernels.Dims{"N": n}
	bindings, err := r.kernel.Bind(dims)
	if err != nil {
		r.t.Fatal(err)
	}
	env := dims.Environment()
	env.Set(p.Point)
	calls, err := r.kernel.Launch.Calls(env)
	if err != nil {
		r.t.Fatal(err)
	}
	return worker.Load{
		Module: p.Binary.Path, Support: p.Binary.Support, Calls: calls,
		Arguments: bindings, Layout: worker.Guarded,
	}
}
