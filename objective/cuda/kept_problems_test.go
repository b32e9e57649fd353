package cuda

import (
	"errors"
	"strings"
	"testing"

	"pawl/kernels"
	"pawl/objective/worker"
)

func TestOutputsWithoutAReference(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	load := r.load(r.prepare(""), 3)
	client := r.client()
	for i := range load.Arguments {
		load.Arguments[i].Fill = "ones"
	}
	if err := client.Load(t.Context(), load); err != nil {
		t.Fatal(err)
	}
	result, err := client.Run(t.Context(), worker.Run{})
	const two = "\x00\x00\x00\x40" // 2.0 in f32
	if err != nil || result.Damage != nil || len(result.Outputs) != 1 ||
		string(result.Outputs[0]) != strings.Repeat(two, 3) {
		t.Errorf("%+v, %v", result, err)
	}
}

// What cannot be loaded is no crash. A module that the driver refuses is the
// kernel's fault and ends the worker; after anything else the worker goes on.
func TestFailedLoadLeavesNothingLoaded(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	good := r.load(r.prepare(""), 64)
	slot := r.slot()
	fresh := func() *worker.Client {
		client, err := worker.Start(slot.Worker)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(client.Close)
		return client
	}
	client := fresh()
	for name, test := range map[string]struct {
		change func(*worker.Load)
		says   string
		fault  bool
	}{
		"no such file": {func(l *worker.Load) { l.Module = "missing" }, "no such file", false},
		"no such kernel": {func(l *worker.Load) { l.Calls = []kernels.Call{{Entry: "other"}} },
			`kernel other is not in the module (extern "C" keeps its name)`, true},
		"no cubin": {func(l *worker.Load) { l.Module = "testdata/add/add.cu" }, "the compiler is newer than the driver",
			true},
		"no reference": {func(l *worker.Load) {
			l.Reference = &worker.Reference{Module: "missing", Call: l.Calls[0]}
		}, "the reference: ", false},
		"no kernel in the reference": {func(l *worker.Load) {
			l.Reference = &worker.Reference{Module: l.Module, Call: kernels.Call{Entry: "other"}}
		}, "the reference: ", false},
	} {
		if err := client.Load(t.Context(), good); err != nil {
			t.Fatal(err)
		}
		bad := good
		test.change(&bad)
		if err := client.Load(t.Context(), bad); err == nil || !strings.Contains(err.Error(), test.says) {
			t.Errorf("%s: %v", name, err)
		} else if fault := (*worker.Fault)(nil); errors.As(err, &fault) != test.fault {
			t.Errorf("%s: whose fault is %v", name, err)
		}
		if test.fault {
			client = fresh()
			continue
		}
		if _, err := client.Run(t.Context(), worker.Run{}); err == nil || !strings.Contains(err.Error(), "run before load") {
			t.Errorf("%s: running afterwards: %v", name, err)
		}
		if _, err := client.Time(t.Context(), worker.Time{Samples: 1}); err == nil ||
			!strings.Contains(err.Error(), "time before load") {
			t.Errorf("%s: timing afterwards: %v", name, err)
		}
	}
}

// judged adds the reference to a load.
func (r *rig) judged(load worker.Load) worker.Load {
	r.t.Helper()
	binary, err := r.backend.Reference(r.t.Context(), r.kernel.ReferencePoint(r.kernel.Default()))
	if err != nil {
		r.t.Fatal(err)
	}
	call, err := r.kernel.Launch.Reference.At(r.workload.Dims.Environment())
	if err != nil {
		r.t.Fatal(err)
	}
	load.Reference = &worker.Reference{Module: binary.Path, Call: call, Tolerance: r.kernel.Tolerance}
	return load
}

// A problem that was timed has answers and copies of its buffers: all of them go
// with it, and once.
func TestTimedProblemsGoWithAllTheyHave(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{environment: map[string]string{"PAWL_FAKE_MEMORY": "4000000"}})
	load := r.judged(r.load(r.prepare(""), 1000))
	client := r.client()
	timed := func(seed uint64) ledger {
		t.Helper()
		load.Seed = seed
		if err := client.Load(t.Context(), load); err != nil {
			t.Fatal(err)
		}
		if timing, err := client.Time(t.Context(), worker.Time{Samples: 1}); err != nil || timing.Damage != nil {
			t.Fatalf("%+v, %v", timing, err)
		}
		return r.books()[client.Pid()]
	}
	timed(0)
	two := timed(1)
	// Two of them are over a quarter of the memory, so there are never three.
	if two.Bytes < 1_000_000 {
		t.Fatalf("two problems take %d bytes only", two.Bytes)
	}
	for seed := range uint64(5) {
		if now := timed(2 + seed); now.Bytes != two.Bytes || now.Blocks != two.Blocks {
			t.Fatalf("%s; with two problems it was %s", now.alive(), two.alive())
		}
	}
}

// The poison under the outputs is another one in every second run: an element
// that was never written cannot pass for the right answer twice. One of the two
// is no number, the other a number like any other.
func TestPoisonAlternates(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	load := r.judged(r.load(r.prepare("MODE=unwritten"), 64))
	client := r.client()
	if err := client.Load(t.Context(), load); err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for run := range 4 {
		result, err := client.Run(t.Context(), worker.Run{})
		if err != nil || len(result.Comparisons) != 1 || result.Comparisons[0].Bad != 1 {
			t.Fatalf("%+v, %v", result, err)
		}
		got := result.Comparisons[0].Got
		if number := got != "NaN"; number != (run%2 == 0) || number && seen[got] {
			t.Errorf("run %d: the element that was not written is %v", run, got)
		}
		seen[got] = true
	}
}

// Only the modules that a load needs stay.
func TestModulesOfOtherPointsAreUnloaded(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	client := r.client()
	for _, point := range []string{"", "NUMBER=1", "", "NUMBER=1"} {
		if err := client.Load(t.Context(), r.load(r.prepare(point), 64)); err != nil {
			t.Fatal(err)
		}
		if book := r.books()[client.Pid()]; book.Modules != 2 {
			t.Errorf("%d modules: the kernel and the support are needed", book.Modules)
		}
	}
}
