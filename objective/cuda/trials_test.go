package cuda

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"pawl/kernels/arguments"
	"pawl/kernels/element"
	"pawl/kernels/inputs"
	"pawl/objective"
	"pawl/objective/check"
	"pawl/objective/worker"
)

func TestRightKernelIsTimed(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	outcome := r.passes("")
	// A launch takes 10 µs here, so a sample of 1 ms has 100.
	if outcome.Batch != 100 || len(outcome.Samples) != 5 || outcome.Stop != objective.Precise {
		t.Errorf("%+v", outcome)
	}
	for _, sample := range outcome.Samples {
		if math.Abs(sample-0.01) > 1e-6 {
			t.Errorf("%g ms, and the clock says 0.01", sample)
		}
	}
	if outcome.Binary == "" || outcome.Resources == nil || outcome.Resources.Registers != 24 {
		t.Errorf("%+v", outcome)
	}
	if failure, err := r.Verify(t.Context(), r.prepare("")); failure != nil || err != nil {
		t.Errorf("the full matrix: %v, %v", failure, err)
	}
}

func TestSlowKernelIsTimedOneByOne(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	outcome := r.passes("TIME=5000000")
	if outcome.Batch != 1 || math.Abs(outcome.Milliseconds()-5) > 1e-3 {
		t.Errorf("%+v", outcome)
	}
}

func TestWrongResultIsToldExactly(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	detail := r.fails("MODE=wrong", objective.Fuzz, objective.WrongResult)
	first := r.Tester.QuickCases(r.at("MODE=wrong"))[0]
	count := first.Dims["N"]
	text, found := strings.CutSuffix(detail, place(first))
	var got, want, worst float64
	format := fmt.Sprintf("c[%d] is %%g, the reference says %%g; 1 of %d elements wrong (%.1f %%%%), worst error %%g",
		count/2, count, 100/float64(count))
	if _, err := fmt.Sscanf(text, format, &got, &want, &worst); err != nil || !found {
		t.Fatalf("%v: %s", err, detail)
	}
	right := 0.0
	for _, name := range []string{"a", "b"} {
		input := arguments.Binding{Name: name, Type: "f32", Count: count,
			Values: arguments.Values{Fill: r.kernel.Arguments[0].Fill}}
		content := make([]byte, 4*count)
		if err := new(inputs.Source).Fill(content, input, first.Seed); err != nil {
			t.Fatal(err)
		}
		element, err := element.Named("f32")
		if err != nil {
			t.Fatal(err)
		}
		right += element.Load(content[4*(count/2):])
	}
	if math.Abs(want-right) > 1e-5 || math.Abs(got-right-1) > 1e-5 || math.Abs(worst-1) > 1e-3 {
		t.Errorf("the sum is %g: %s", right, detail)
	}
	r.passes("")
}

// A module that the driver refuses costs one trial, and the worker that met it.
func TestARefusedModuleFailsThePoint(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.fails("MODE=unresolved", objective.Fuzz, "cannot be loaded")
	r.passes("")
}

// Two runs that differ within the tolerance are no failure, and worth a note.
func TestRunsThatDifferAreNoted(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	for mode, noted := range map[string]bool{"MODE=wavers": true, "MODE=good": false} {
		p := r.prepare(mode)
		if found, err := r.Tester.TryQuick(t.Context(), p); err != nil || found.Failure != nil {
			t.Fatalf("%s: %+v, %v", mode, found, err)
		}
		if note := r.Tester.Note(p.Point); strings.Contains(note, "two runs on the same inputs differ") != noted {
			t.Errorf("%s: %q", mode, note)
		}
	}
}

// place is where a failure says that it was found.
func place(c check.Case) string {
	return fmt.Sprintf(" at %s, seed %d, family declared, guarded buffers", c.Dims, c.Seed)
}

func TestNotANumber(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	first := r.Tester.QuickCases(r.at("MODE=not_a_number"))[0]
	prefix := fmt.Sprintf("c[%d] is NaN, ", first.Dims["N"]/2)
	if detail := r.fails("MODE=not_a_number", objective.Fuzz,
		objective.WrongResult); !strings.HasPrefix(detail, prefix) ||
		!strings.HasSuffix(detail, "worst error +Inf, 1 NaN or infinite"+place(first)) {
		t.Error(detail)
	}
}

// Each is one of the ways to have the right result and be wrong.
func TestDamageIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	// Mistakes that show only when it is timed begin after that many launches.
	if launches := 2 * len(r.Tester.QuickCases(r.kernel.Default())); launches != 8 {
		t.Fatalf("a point is launched %d times before it is timed; testdata/add/add.cu counts 8", launches)
	}
	first := place(r.Tester.QuickCases(r.kernel.Default())[0])
	r.passes("")
	for _, test := range []struct {
		mode   string
		stage  objective.Stage
		reason worker.FaultKind
		detail string
	}{
		{"past_end", objective.Fuzz, worker.OutOfBounds, "4 bytes written past the end of c" + first},
		// 1.0 is 00 00 80 3f: four bytes that are not the pattern.
		{"before_start", objective.Fuzz, worker.OutOfBounds, "4 bytes written before the start of c" + first},
		{"tampers", objective.Fuzz, worker.InputModified, "a" + first},
		{"answer", objective.Fuzz, worker.OutOfBounds, "wrote over the reference's result for c" + first},
		{"idle_when_timed", objective.Bench, worker.WrongWhenTimed, "1000 of 1000 elements of c"},
		{"past_end,LATE=1", objective.Bench, worker.OutOfBounds, "4 bytes written past the end of c"},
		{"tampers,LATE=1", objective.Bench, worker.InputModified, "a"},
	} {
		sick, _ := r.worker()
		if detail := r.fails("MODE="+test.mode, test.stage, string(test.reason)); detail != test.detail {
			t.Errorf("%s: %q, want %q", test.mode, detail, test.detail)
		}
		gone(t, sick) // what it remembers may be damaged
		r.passes("")
	}
}

// A kernel that writes over what belongs to other cases is not found out by its own.
// The next one finds the damage, and is not blamed for it.
func TestDamageOfAnotherKernelIsNotBlamed(t *testing.T) {
	t.Parallel()
	for _, check := range []struct {
		name string
		at   func(r *rig, point string) *objective.Failure
	}{
		{"measured", func(r *rig, point string) *objective.Failure { return r.measure(point).Failure }},
		{"verified", func(r *rig, point string) *objective.Failure {
			failure, err := r.Verify(t.Context(), r.prepare(point))
			if err != nil {
				t.Fatal(err)
			}
			return failure
		}},
	} {
		r := newRig(t, settings{})
		if failure := check.at(r, ""); failure != nil { // the cases and their answers are there
			t.Fatal(failure)
		}
		r.passes("MODE=overwrites,LATE=1")
		sick, _ := r.worker()
		if failure := check.at(r, "NUMBER=1"); failure != nil {
			t.Errorf("%s: %v", check.name, failure)
		}
		gone(t, sick)
	}
}

// What is timed is what is right: a kernel that finds out, by whatever means, when
// it is not checked, finds no such moment.
func TestCheatsAreFound(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		mode   string
		stage  objective.Stage
		reason string
	}{
		{"counts", objective.Bench, string(worker.WrongWhenTimed)},
		{"by_pointer", objective.Bench, string(worker.WrongWhenTimed)},
		{"unchanged", objective.Bench, string(worker.WrongWhenTimed)},
		{"knows_poison", objective.Fuzz, objective.WrongResult},
	} {
		t.Run(test.mode, func(t *testing.T) {
			t.Parallel()
			r := newRig(t, settings{})
			if test.mode != "by_pointer" {
				r.fails("MODE="+test.mode+",TIME=5000000", test.stage, test.reason) // one launch in a sample
			}
			r.fails("MODE="+test.mode, test.stage, test.reason)
			for _, caches := range []worker.Caches{worker.Warm, worker.Flushed} {
				if test.mode != "by_pointer" { // a single output has one pointer
					newRig(t, settings{options: objective.Options{Caches: caches}}).fails("MODE="+test.mode, test.stage, test.reason)
				}
			}
			p := r.prepare("MODE=" + test.mode)
			for _, sample := range []func(context.Context, objective.Prepared, int) (objective.Outcome, error){r.Sample,
				r.SampleAlone} {
				if outcome, err := sample(t.Context(), p, 5); err != nil || outcome.Failure == nil || outcome.Samples != nil {
					t.Errorf("%+v, %v", outcome, err)
				}
			}
		})
	}
}

// Memory is of no use: each timed launch has inputs that the kernel has not seen, so that one that
// remembers answers takes as long as one that does not.
func TestNothingTimedWasSeenBefore(t *testing.T) {
	t.Parallel()
	for _, caches := range []worker.Caches{worker.Cold, worker.Warm, worker.Flushed} {
		for _, nanoseconds := range []int{10000, 5000000} {
			r := newRig(t, settings{options: objective.Options{Caches: caches}})
			for _, mode := range []string{"remembers", "partly"} {
				point := fmt.Sprintf("MODE=%s,TIME=%d", mode, nanoseconds)
				r.passes(point)
				for range 2 { // its module stays
					outcome, err := r.Sample(t.Context(), r.prepare(point), 7)
					for _, sample := range outcome.Samples {
						if math.Abs(sample*1e6-float64(nanoseconds)) > 1e-3*float64(nanoseconds) {
							t.Errorf("%s, %s: a sample of %g ms", caches, point, sample)
						}
					}
					if err != nil || len(outcome.Samples) != 7 {
						t.Errorf("%s, %s: %+v, %v", caches, point, outcome, err)
					}
				}
			}
		}
	}
}

func TestUnwrittenOutputIsFound(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	first := r.Tester.QuickCases(r.at("MODE=unwritten"))[0]
	prefix := fmt.Sprintf("c[%d] is ", first.Dims["N"]-1)
	if detail := r.fails("MODE=unwritten", objective.Fuzz, objective.WrongResult); !strings.HasPrefix(detail, prefix) ||
		!strings.HasSuffix(detail, place(first)) {
		t.Error(detail)
	}
}

func TestImpossibleSpeedIsNotBelieved(t *testing.T) {
	t.Parallel()
	// 480 KB at 4.917 TB/s take 0.0976 µs.
	r := newRig(t, settings{workload: "large"})
	r.passes("TIME=100")
	if detail := r.fails("TIME=50", objective.Bench,
		objective.TooFast); !strings.Contains(detail, "less than 9.763e-05 ms") {
		t.Error(detail)
	}
	r = newRig(t, settings{workload: "large", options: objective.Options{Caches: worker.Warm}})
	r.passes("TIME=50") // in the caches nothing is read from memory
}

// codes are what a launch can leave behind, and what each is called.
var codes = map[int]worker.FaultKind{
	700: worker.IllegalAddress, 701: worker.Refused, 702: worker.Hung, 710: worker.Asserted, 714: worker.Trapped,
	715: worker.Trapped, 716: worker.MisalignedAccess, 717: worker.Trapped, 718: worker.Trapped, 719: worker.LaunchFailed,
	999: worker.LaunchFailed,
}

func TestEachErrorOfTheDriverIsBlamedOnItsTrial(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("")
	for code, kind := range codes {
		sick, _ := r.worker()
		r.fails(fmt.Sprintf("CODE=%d", code), objective.Fuzz, string(kind))
		gone(t, sick) // its context is broken
		r.passes("")
	}
	for code, kind := range map[int]worker.FaultKind{700: worker.IllegalAddress, 719: worker.LaunchFailed} {
		outcome := r.measure(fmt.Sprintf("CODE=%d,LATE=1", code))
		if f := outcome.Failure; f == nil || f.Stage != objective.Bench || f.Reason != string(kind) ||
			outcome.Samples != nil {
			t.Errorf("%d when timed: %+v", code, outcome)
		}
	}
	first := r.Tester.QuickCases(r.at("CODE=716"))[0]
	if detail := r.fails("CODE=716", objective.Fuzz,
		string(worker.MisalignedAccess)); !strings.HasSuffix(detail,
		"CUDA_ERROR_MISALIGNED_ADDRESS (misaligned address)"+place(first)) {
		t.Errorf("the detail: %s", detail)
	}
}

// The evaluator that is short of time has a worker of its own: whatever this
// machine is busy with, the other one is in no hurry.
func TestHangCostsItsTime(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("")
	healthy, _ := r.worker()
	hasty := objective.NewEvaluator(r.kernel, r.workload, elsewhere{r}, objective.Options{RunTimeout: time.Second})
	defer hasty.Close()
	outcome, err := hasty.Measure(t.Context(), r.prepare("MODE=hangs"), 0)
	if f := outcome.Failure; err != nil || f == nil || f.Stage != objective.Fuzz || f.Reason != string(worker.Hung) {
		t.Fatalf("%v, %v", f, err)
	}
	if left, _ := r.worker(); left != healthy {
		t.Errorf("worker %d runs, and not %d", left, healthy)
	}
	r.passes("")
}

func TestRefusedLaunches(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{environment: map[string]string{"PAWL_FAKE_SHARED": "60000"}})
	// The attributes promise 232448 bytes, so that only the driver knows better.
	r.fails("SHARED=65536", objective.Fuzz, string(worker.Refused))
	// ptxas says 24 registers; the driver finds 255 for each of 512 threads.
	if detail := r.fails("MODE=greedy,THREADS=512", objective.Fuzz,
		string(worker.Refused)); !strings.Contains(detail, "LAUNCH_OUT_OF_RESOURCES") {
		t.Error(detail)
	}
	r.passes("")
}

func TestMoreSharedMemoryIsAskedFor(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	r.passes("SHARED=65536") // the driver refuses more than 48 KB unless it was asked
}

func TestOutOfMemory(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{workload: "large", environment: map[string]string{"PAWL_FAKE_MEMORY": "400000"}})
	if detail := r.fails("", objective.Fuzz,
		string(worker.NoMemory)); !strings.Contains(detail, "bytes for a buffer at N=40000") {
		t.Error(detail)
	}
}

func TestCodeThatDoesNotFit(t *testing.T) {
	t.Parallel()
	r := newRig(t,
		settings{
			environment: map[string]string{"PAWL_FAKE_MEMORY": "1000000"},
			options:     objective.Options{Caches: worker.Warm},
		})
	if detail := r.fails("MODE=fat", objective.Fuzz,
		string(worker.NoMemory)); !strings.Contains(detail,
		"loading the kernel: cuModuleLoadData: CUDA_ERROR_OUT_OF_MEMORY") {
		t.Error(detail)
	}
	r.passes("")
}

func TestPreflight(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	for _, test := range []struct{ point, detail string }{
		{"THREADS=2048", "2048 threads in a block; the GPU takes 1024"},
		{"SHARED=300000", "300000 bytes of shared memory; the GPU gives a block 232448"},
		// 130 registers are 136 in units of 8: 136 * 512 = 69632.
		{"REGISTERS=130,THREADS=512", "69632 registers for 512 threads; the GPU gives a block 65536"},
		{"STATIC_SHARED=40000,SHARED=200000",
			"240000 bytes of shared memory, 40000 of them declared in the source; the GPU gives a block 232448"},
	} {
		if detail := r.fails(test.point, objective.Preflight, objective.Infeasible); detail != test.detail {
			t.Errorf("%s: %s", test.point, detail)
		}
	}
	if workers := r.books(); len(workers) > 0 {
		t.Errorf("%d workers were started for points that cannot run", len(workers))
	}
	r.passes("REGISTERS=130")
}

func TestCompileError(t *testing.T) {
	t.Parallel()
	r := newRig(t, settings{})
	if detail := r.fails("MODE=nonsense", objective.Compile,
		objective.CompileError); !strings.Contains(detail, "nonsense") {
		t.Error(detail)
	}
}

// The device says how much of the tolerance a result has used.
func TestEvidenceOfADevice(t *testing.T) {
	t.Parallel()
	for mode, exact := range map[string]bool{"MODE=good": true, "MODE=wavers": false} {
		r := newRig(t, settings{})
		p := r.prepare(mode)
		if failure, err := r.Verify(t.Context(), p); failure != nil || err != nil {
			t.Fatal(failure, err)
		}
		outcome, err := r.Sample(t.Context(), p, 2)
		if err != nil || outcome.Evidence == nil || len(outcome.Evidence.Cases) != len(r.Tester.FullCases(p.Point)) {
			t.Fatalf("%s: %+v, %v", mode, outcome, err)
		}
		// One step of an f32 near 1 is 1.2e-7, the tolerance 1e-6 and more.
		if worst := outcome.Evidence.Worst; (worst == 0) != exact || worst > 0.5 {
			t.Errorf("%s: worst error %v of the tolerance", mode, worst)
		}
	}
}
